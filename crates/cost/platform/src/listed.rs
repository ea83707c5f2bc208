//! Platforms that name each host, link and route, as SimGrid's zones with full routing do.

use super::{Link, LinkId};
use rustc_hash::FxHashMap;

/// Links by cable, and the route of each pair of hosts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    hosts: usize,
    cables: Vec<(String, Link)>,
    routes: FxHashMap<(u32, u32), Vec<LinkId>>,
}

impl Listed {
    /// Two hosts that have no route, in case there are such.
    pub fn new(
        hosts: usize,
        cables: Vec<(String, Link)>,
        routes: FxHashMap<(u32, u32), Vec<LinkId>>,
    ) -> Result<Listed, (usize, usize)> {
        for from in 0..hosts {
            for to in (0..hosts).filter(|to| *to != from) {
                if !routes.contains_key(&(from as u32, to as u32)) {
                    return Err((from, to));
                }
            }
        }
        Ok(Listed { hosts, cables, routes })
    }

    pub fn hosts(&self) -> usize {
        self.hosts
    }

    pub fn cables(&self) -> usize {
        self.cables.len()
    }

    pub fn link(&self, id: LinkId) -> Link {
        self.cables[id.cable()].1
    }

    /// Names and links.
    pub fn named(&self) -> &[(String, Link)] {
        &self.cables
    }

    pub fn route(&self, from: usize, to: usize) -> &[LinkId] {
        &self.routes[&(from as u32, to as u32)]
    }
}

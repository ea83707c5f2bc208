//! Network platforms: hosts, the links between them, and the links a message takes.
//!
//! A [`Platform`] is read from a short form such as `fat-tree:64x16,2:1` (see [`GRAMMAR`]) or from a platform file of
//! SimGrid, and can be written as either. Routes of regular networks are worked out when they are asked for and are
//! those of SimGrid 3.32, so that both speak of the same machine: d-mod-k in fat-trees, one dimension after the other
//! in tori, the shortest way in dragonflies. [`shares`] computes the times of messages that start together.
//!
//! When it is wrong: routes never adapt to load; a message within a host uses no link and takes no time; switches have
//! no limit of their own; hosts have no speed. Files with more than one zone, backbones and limiters are refused.

mod bounds;
mod cluster_xml;
mod dragonfly;
mod error;
mod fat_tree;
mod listed;
mod listed_xml;
mod names;
pub mod shares;
mod short_form;
mod simgrid_file;
mod size_factors;
mod torus;
mod units;
mod xml;

pub use bounds::MOST_FILE_BYTES;
pub use error::PlatformError;
pub use short_form::GRAMMAR;
pub use simgrid_file::check_for_simgrid;
pub use size_factors::SizeFactors;

use dragonfly::Dragonfly;
use fat_tree::FatTree;
use listed::Listed;
use names::Names;
use torus::Torus;

/// More hosts than this are taken for a slip of the pen.
const MOST_HOSTS: usize = 1 << 22;

/// Levels of a tree or dimensions of a torus: those of one host cost time and are no network.
const MOST_LEVELS: usize = 32;

/// One direction of a cable. Both directions of a cable that is shared are the same link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub u32);

impl LinkId {
    /// Away from the host, or from the lower number to the higher.
    fn up(cable: usize) -> LinkId {
        LinkId(2 * cable as u32)
    }

    /// The other way.
    fn down(cable: usize) -> LinkId {
        LinkId(2 * cable as u32 + 1)
    }

    fn cable(self) -> usize {
        self.0 as usize / 2
    }
}

/// How messages share a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All messages share it, whatever their direction.
    Shared,
    /// Each direction is shared by its own messages; also called full duplex.
    SplitDuplex,
    /// Every message has the whole bandwidth; SimGrid calls it a fat pipe.
    FatPipe,
}

/// What a link can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Bytes a second.
    pub bandwidth_bytes_per_s: f64,
    /// Time on the way.
    pub latency_ns: f64,
    /// How messages share it.
    pub sharing: Sharing,
}

/// The link of a typical cluster with 10 Gbit/s; the same that the examples of SimGrid use.
const TYPICAL_LINK: Link =
    Link { bandwidth_bytes_per_s: 1.25e9, latency_ns: 1_000.0, sharing: Sharing::SplitDuplex };

/// How hosts are connected.
#[derive(Clone, Debug, PartialEq)]
enum Topology {
    /// All to one switch that is never in the way.
    Flat(usize),
    FatTree(FatTree),
    Torus(Torus),
    Dragonfly(Dragonfly),
    /// Each host, link and route by itself.
    Listed(Listed),
}

/// Hosts, links and routes.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    topology: Topology,
    names: Names,
    /// Every cable of a regular network; some have a multiple of its bandwidth.
    link: Link,
}

impl Platform {
    /// A regular network whose hosts have the default names.
    fn regular(topology: Topology, link: Link) -> Platform {
        let names = Names::default_for(topology.hosts());
        Platform { topology, names, link }
    }

    /// How many hosts there are; they are numbered from 0.
    pub fn hosts(&self) -> usize {
        self.topology.hosts()
    }

    /// The name of a host in SimGrid's file, as host files for `smpirun` need it.
    pub fn host_name(&self, host: usize) -> Option<String> {
        self.names.get(host)
    }

    /// All link ids are below this; not every id below it need be in use.
    pub fn links(&self) -> usize {
        2 * match &self.topology {
            Topology::Flat(hosts) => *hosts,
            Topology::FatTree(tree) => tree.cables(),
            Topology::Torus(torus) => torus.cables(),
            Topology::Dragonfly(dragonfly) => dragonfly.cables(),
            Topology::Listed(listed) => listed.cables(),
        }
    }

    /// What a link can do.
    pub fn link(&self, id: LinkId) -> Link {
        let times = match &self.topology {
            Topology::Listed(listed) => return listed.link(id),
            Topology::FatTree(_) | Topology::Torus(_) | Topology::Flat(_) => 1.0,
            Topology::Dragonfly(dragonfly) => dragonfly.width(id.cable()),
        };
        Link { bandwidth_bytes_per_s: self.link.bandwidth_bytes_per_s * times, ..self.link }
    }

    /// Puts the links from one host to another into `route`, in the order a message takes them; none within a host.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    pub fn route(&self, from: usize, to: usize, route: &mut Vec<LinkId>) {
        assert!(from < self.hosts() && to < self.hosts(), "no route from {from} to {to}: no such host");
        route.clear();
        if from == to {
            return;
        }
        match &self.topology {
            Topology::Flat(_) => route.extend([LinkId::up(from), LinkId::down(to)]),
            Topology::FatTree(tree) => tree.route(from, to, route),
            Topology::Torus(torus) => torus.route(from, to, route),
            Topology::Dragonfly(dragonfly) => dragonfly.route(from, to, route),
            Topology::Listed(listed) => route.extend_from_slice(listed.route(from, to)),
        }
        for id in route {
            if self.link(*id).sharing != Sharing::SplitDuplex {
                *id = LinkId::up(id.cable());
            }
        }
    }

    /// The latencies of all links from one host to another.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    pub fn latency_ns(&self, from: usize, to: usize) -> f64 {
        let mut route = Vec::new();
        self.route(from, to, &mut route);
        route.iter().map(|id| self.link(*id).latency_ns).sum()
    }

    /// What a message gets that has the network to itself: infinitely much within a host.
    ///
    /// # Panics
    ///
    /// If there is no such host.
    pub fn bottleneck_bytes_per_s(&self, from: usize, to: usize) -> f64 {
        let mut route = Vec::new();
        self.route(from, to, &mut route);
        route.iter().map(|id| self.link(*id).bandwidth_bytes_per_s).fold(f64::INFINITY, f64::min)
    }
}

impl Topology {
    fn hosts(&self) -> usize {
        match self {
            Topology::Flat(hosts) => *hosts,
            Topology::FatTree(tree) => tree.hosts(),
            Topology::Torus(torus) => torus.hosts(),
            Topology::Dragonfly(dragonfly) => dragonfly.hosts(),
            Topology::Listed(listed) => listed.hosts(),
        }
    }
}

/// The product, if it is a sensible number of hosts or cables.
fn product(factors: impl IntoIterator<Item = usize>) -> Option<usize> {
    let all = factors.into_iter().try_fold(1_usize, |all, factor| all.checked_mul(factor))?;
    (1..=MOST_HOSTS).contains(&all).then_some(all)
}

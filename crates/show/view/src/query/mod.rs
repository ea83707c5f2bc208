//! Questions about a run, one file each: from the index or the insight and a selection to plain results.
//!
//! Nothing here knows of HTTP, colours or pixels. Everything that is about a range of time takes calls that are under
//! way in it: those that begin before its end and end behind its begin.

pub mod calls;
pub mod collectives;
pub mod flow;
pub mod histogram;
pub mod links;
pub mod matrix;
pub mod messages;
pub mod order;
pub mod parallelism;
pub mod path;
pub mod phases;
pub mod stops;
pub mod threads;
pub mod timeline;
pub mod tree;
pub mod work;

use crate::index::{Index, Kind};
use kizami_model::{Length, Moment};
use kizami_trace::Definitions;
use rustc_hash::FxHashSet;

/// Part of a run: a range of time, ranks, and places in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// From.
    pub from: Moment,
    /// To.
    pub to: Moment,
    /// Which ranks, each once.
    pub ranks: Vec<u32>,
    /// Which places calls are made from; all if there are none.
    pub sites: FxHashSet<u32>,
}

impl Selection {
    /// Everything.
    pub fn all(index: &Index) -> Selection {
        Selection {
            from: Moment(index.begin_ns()),
            to: Moment(index.end_ns().saturating_add(1)),
            ranks: (0..index.ranks()).collect(),
            sites: FxHashSet::default(),
        }
    }

    /// All ranks while the program works; everything if MPI is neither started nor ended, or takes it all.
    pub fn at_work(index: &Index) -> Selection {
        let (all, work) = (Selection::all(index), work::work(index));
        let (from, to) = (work.from.unwrap_or(all.from), work.to.unwrap_or(all.to));
        if from < to { Selection { from, to, ..all } } else { all }
    }

    /// With the calls that a reader cannot tell from those selected: findings and the ideal layer know one of them only.
    pub fn with_alike_sites(mut self, definitions: &Definitions) -> Selection {
        let alike = definitions.alike_sites();
        let first = |site: &u32| alike.get(*site as usize).copied();
        let selected: FxHashSet<u32> = self.sites.iter().filter_map(first).collect();
        self.sites
            .extend((0..).zip(alike).filter(|(_, first)| selected.contains(first)).map(|(site, _)| site));
        self
    }

    /// How long it is.
    pub fn length(&self) -> Length {
        self.to.saturating_since(self.from).at_least_zero()
    }

    /// Whether calls of this kind are in it.
    pub fn has(&self, kind: &Kind) -> bool {
        self.sites.is_empty() || kind.site().is_some_and(|site| self.sites.contains(&site))
    }

    /// What kinds of rows are calls in it, by number.
    fn kinds(&self, index: &Index) -> Vec<bool> {
        index.kinds().iter().map(|kind| self.has(kind) && !kind.is_part()).collect()
    }
}

/// More than can be told at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// How many there are.
    pub count: u64,
}

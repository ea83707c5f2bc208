//! What every search for a culprit needs: the waits of a run, and which of them are for the same.
//!
//! Waits for the same step are a *group*. It is named by the index of its first wait.

use crate::arrivals::{Arrival, Arrivals};
use crate::loads::Places;
use crate::marks::ByStep;
use crate::waits::LongWait;
use kizami_graph::Graph;
use kizami_replay::Shares;
use std::sync::atomic::{AtomicU32, Ordering};

/// The waits of a run and the state of the search.
pub(crate) struct Case<'a> {
    pub graph: &'a Graph,
    /// The last to end first, and those for the same step together.
    pub waits: &'a [LongWait],
    pub by_step: &'a ByStep,
    pub arrivals: Arrivals,
    pub shares: Shares,
    pub places: Places,
    /// By wait: the group it belongs to.
    groups: Vec<u32>,
    /// By group: its waits whose load is not complete. Only the partition that owns the group counts.
    incomplete: Vec<AtomicU32>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        waits: &'a [LongWait],
        by_step: &'a ByStep,
        threads: usize,
    ) -> Case<'a> {
        let (mut groups, mut incomplete) = (Vec::with_capacity(waits.len()), Vec::with_capacity(waits.len()));
        for group in waits.chunk_by(|a, b| (a.until, a.of) == (b.until, b.of)) {
            let (first, size) = (groups.len() as u32, group.len() as u32);
            groups.extend(group.iter().map(|_| first));
            incomplete.extend((0..size).map(|place| AtomicU32::new(if place == 0 { size } else { 0 })));
        }
        // Where strands have their steps in common, a step says nothing about whose it is; and where ranks are in no order,
        // which no recording has, shares are none.
        let has_shares = graph.unfolding.is_none() && graph.strands.is_sorted_by_key(|strand| strand.rank);
        let shares = Shares::of(graph, if has_shares { threads } else { 1 });
        Case {
            graph,
            waits,
            by_step,
            arrivals: Arrivals::new(graph, waits, &shares),
            shares,
            places: Places::new(waits.len()),
            groups,
            incomplete,
        }
    }

    /// The group of a wait.
    pub(crate) fn group_of(&self, wait: u32) -> u32 {
        self.groups[wait as usize]
    }

    /// The waits of a group; none behind the last one.
    pub(crate) fn group(&self, group: u32) -> Option<&'a [LongWait]> {
        let first = group as usize;
        let last = self.groups.get(first..)?.iter().position(|other| *other != group);
        let waits = &self.waits[first..last.map_or(self.waits.len(), |last| first + last)];
        (!waits.is_empty()).then_some(waits)
    }

    /// One wait of a group has its load complete. Says whether that was the last one.
    pub(crate) fn completes(&self, group: u32) -> bool {
        let left = &self.incomplete[group as usize];
        let before = left.load(Ordering::Relaxed);
        left.store(before - 1, Ordering::Relaxed);
        before == 1
    }

    /// Whether all waits of a group have their loads complete.
    pub(crate) fn is_complete(&self, group: u32) -> bool {
        self.incomplete[group as usize].load(Ordering::Relaxed) == 0
    }

    /// Who was late for a group, in order, if its waits were for all of several; none if they were for one step.
    pub(crate) fn late_together(&self, group: u32) -> Option<&[Arrival]> {
        let waits = self.group(group)?;
        let from = waits.iter().map(|wait| wait.from).min()?;
        self.arrivals.after(self.graph, &waits[0], from)
    }

    /// The share of a strand.
    pub(crate) fn share_of(&self, strand: u32) -> usize {
        self.shares.of_rank(self.graph.strands[strand as usize].rank)
    }
}

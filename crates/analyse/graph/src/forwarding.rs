//! Broadcasts and reductions that pass through ranks: who waited for one on the way.
//!
//! MPI libraries broadcast along trees. A rank inside a tree passes data on when it calls the function, so the ranks
//! behind it wait for it although it is not the root; in a reduction, it waits for those behind it. The trace does not say how the
//! tree looked. But a rank that returns right after another one has come, having waited much longer than such a call
//! takes, waited for that one. How long it takes is learned from the last to come, who waits for no other.
//!
//! Only waits that did happen are tied, in blocking collectives of three or more ranks. Memory: one entry for each rank's part in
//! such a collective. Not looked at in runs stored by rank class, where ranks of a class come at the same time.

use crate::channels::{Channel, ChannelIndex, Channels, Side};
use crate::collectives::Members;
use crate::shares::Share;
use crate::step::{Step, Tie, TieKind};
use kizami_model::kind::{Flow, Form, Kind};
use kizami_model::{Length, Moment, Op, Rank};
use kizami_stats::upper_median;
use rustc_hash::FxHashMap;

/// Tags below zero are no program's. Collectives that are messages have the lowest one, windows those that follow.
const TAG: i32 = -1;
/// In fewer ranks nobody is on the way.
const FEWEST_RANKS: u32 = 3;
/// A rank that returns within so many times what the last to come takes after another came, returned for that reason: data
/// passes through a few ranks more.
const SOON: i64 = 4;
/// And the wait is at least so many times as long as the rest.
const MOSTLY: i64 = 4;
/// A collective takes no less: its length would be that of the clock's steps.
const LEAST: Length = Length(1_000);

/// A rank's part in a collective.
#[derive(Clone, Copy)]
struct Part {
    /// Which collective.
    key: u64,
    rank: Rank,
    step: u64,
    start: Moment,
    end: Moment,
    op: Op,
    is_root: bool,
    /// Data comes from the root.
    from_root: bool,
}

/// All parts of a run.
#[derive(Default)]
pub(crate) struct Forwarding {
    parts: Vec<Part>,
}

impl Forwarding {
    /// The parts of one rank, whose steps begin with number `first`.
    pub(crate) fn add(&mut self, rank: Rank, first: u64, steps: &[Step], share: &Share, members: &Members) {
        for (step, at) in (first..).zip(steps) {
            let Some(flow) = rooted(at.op()) else { continue };
            let announces = share.ties_of(at).iter().find(|tie| tie.kind().is_collective());
            let Some(tie) = announces.filter(|tie| members.coming(tie.place()) >= FEWEST_RANKS) else {
                continue;
            };
            self.parts.push(Part {
                key: tie.key,
                rank,
                step,
                start: at.start,
                end: at.end,
                op: at.op(),
                is_root: matches!(tie.kind(), TieKind::EntersAsRoot | TieKind::PassesAsRoot),
                from_root: flow == Flow::FromRoot,
            });
        }
    }

    /// The ties between those on the way and those who waited for them, by step.
    pub(crate) fn ties(mut self, members: &Members, channels: &mut Channels) -> Vec<(u64, Tie)> {
        self.parts.sort_unstable_by_key(|part| (part.key, part.start, part.rank));
        let collectives = || self.parts.chunk_by(|one, other| one.key == other.key);
        let comm_of = |part: &Part| members.comm((part.key >> 32) as u32);
        let mut samples: FxHashMap<(u32, Op), Vec<Length>> = FxHashMap::default();
        for last in collectives().filter_map(|parts| parts.last()).filter(|last| !last.is_root) {
            samples.entry((comm_of(last), last.op)).or_default().push(last.end - last.start);
        }
        let usual: FxHashMap<(u32, Op), Length> = samples
            .into_iter()
            .filter_map(|(at, mut lengths)| {
                lengths.sort_unstable();
                Some((at, upper_median(&lengths)?.max(LEAST)))
            })
            .collect();
        let mut ties = Vec::new();
        for parts in collectives() {
            let comm = comm_of(&parts[0]);
            let Some(usual) = usual.get(&(comm, parts[0].op)) else { continue };
            let Some(root) = parts.iter().find(|part| part.is_root) else { continue };
            let soon = *usual * SOON;
            for part in parts.iter().filter(|part| !part.is_root) {
                if let Some(other) = waited_for(parts, root, part, soon) {
                    let (way, number) = next(channels, comm, part.rank, other.rank);
                    ties.push((other.step, Tie::new(TieKind::Posts, way, number, 0)));
                    ties.push((part.step, Tie::new(TieKind::AwaitsReady, way, number, 0)));
                }
            }
        }
        ties
    }
}

/// Where data goes in a blocking collective that has a root.
fn rooted(op: Op) -> Option<Flow> {
    match op.kind() {
        Kind::Collective(collective, Form::Blocking) => {
            Some(collective.flow()).filter(|flow| matches!(flow, Flow::FromRoot | Flow::ToRoot))
        }
        _ => None,
    }
}

/// The last to come before a rank returned, if that is what it waited for. `parts` are those of one collective, by their start.
fn waited_for<'a>(parts: &'a [Part], root: &Part, part: &Part, soon: Length) -> Option<&'a Part> {
    let ready = if part.from_root { part.start.max(root.start) } else { part.start };
    let came = parts.partition_point(|other| other.start < part.end);
    let last = parts[..came].iter().rev().find(|other| other.rank != part.rank && !other.is_root)?;
    let (waited, rest) = (last.start.saturating_since(ready), part.end.saturating_since(last.start));
    (rest <= soon && waited >= rest * MOSTLY && waited > LEAST).then_some(last)
}

/// The next wait of a rank for another.
fn next(channels: &mut Channels, comm: u32, waits: Rank, comes: Rank) -> (ChannelIndex, u32) {
    let way = Channel { comm, from: waits, to: comes, tag: TAG };
    channels.count(way, Side::Receiver);
    channels.count(way, Side::Sender)
}

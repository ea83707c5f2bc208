//! Who waited for whom, and which messages were under way: what a walk over the run's graph tells.
//!
//! Takes as long as `kizami report`, so it is made in the background when somebody first asks. Messages and waits lie
//! in memory up to a limit and in a file without a name beyond it. Of a run told by kinds of rank they are those of one rank
//! of each kind; `alike` says what they mean for others.

mod alike;
mod watch;

use bytemuck::{Pod, Zeroable};
use kizami_graph::{Graph, GraphError, StepKind, build};
use kizami_model::{Length, Moment};
use kizami_network::Fit;
use kizami_replay::{WaitKind, learn};
use kizami_trace::Trace;
use watch::Watch;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MessageRow {
    sent_ns: i64,
    received_ns: i64,
    /// Its size.
    pub bytes: u64,
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
}

impl MessageRow {
    /// The same between two other ranks.
    pub fn between(self, from: u32, to: u32) -> MessageRow {
        MessageRow { from, to, ..self }
    }

    /// When its send began.
    pub fn sent(&self) -> Moment {
        Moment(self.sent_ns)
    }

    /// When the call that took it ended.
    pub fn received(&self) -> Moment {
        Moment(self.received_ns)
    }

    /// How long it was under way.
    pub fn under_way(&self) -> Length {
        self.received() - self.sent()
    }
}

/// One wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct WaitRow {
    /// The step that waited.
    pub step: u64,
    /// The step that was waited for.
    pub of: u64,
    from_ns: i64,
    until_ns: i64,
    /// The strand that waited.
    pub strand: u32,
    /// The strand that was waited for.
    pub of_strand: u32,
    /// The rank that was waited for, which may only be of the kind of that strand's.
    of_rank: u32,
    kind: u32,
}

impl WaitRow {
    /// How long it was.
    pub fn length(&self) -> Length {
        self.until() - self.from()
    }

    /// From when.
    pub fn from(&self) -> Moment {
        Moment(self.from_ns)
    }

    /// Until when.
    pub fn until(&self) -> Moment {
        Moment(self.until_ns)
    }

    /// Whether a message was waited for.
    pub fn is_for_message(&self) -> bool {
        self.kind == WaitKind::Sender as u32
    }

    /// What was waited for, in a word.
    pub fn kind(&self) -> &'static str {
        WaitKind::ALL.get(self.kind as usize).map_or("others", |kind| kind.name())
    }
}

/// What a walk told.
pub struct Insight {
    /// The run's steps.
    pub graph: Graph,
    /// What messages cost.
    pub fit: Fit,
    /// Each list by the moment of arrival.
    pub messages: Vec<Vec<MessageRow>>,
    /// Each list by step; steps of the lists rise.
    pub waits: Vec<Vec<WaitRow>>,
    /// No message was longer under way.
    pub longest: Length,
    /// The ranks of each kind, in a run told by kinds of rank; empty in others.
    ranks_of_classes: Vec<Vec<u32>>,
}

impl std::fmt::Debug for Insight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Insight").field("steps", &self.graph.steps.len()).finish_non_exhaustive()
    }
}

impl Insight {
    /// Walks over the graph of a trace.
    pub fn of(trace: &Trace, threads: usize, progress: &(dyn Fn(f64) + Sync)) -> Result<Insight, GraphError> {
        let events = trace.run().totals.events.max(1) as f64;
        let graph = build(trace, threads, &|rows| progress(rows as f64 / events / 2.0))?;
        let watch = || Watch::new(&graph);
        let walked = learn(&graph, threads, watch, &|steps| progress(0.5 + steps as f64 / events / 2.0));
        let fit = walked.learned;
        let (mut messages, mut waits, mut longest) = (Vec::new(), Vec::new(), Length::ZERO);
        for mut watch in walked.observers {
            watch.messages.sort_unstable_by_key(|message| message.received_ns);
            watch.waits.sort_unstable_by_key(|wait| wait.step);
            let under_way = watch.messages.iter().map(MessageRow::under_way);
            longest = longest.max(under_way.max().unwrap_or_default());
            messages.push(watch.messages);
            waits.push(watch.waits);
        }
        let ranks_of_classes =
            graph.folding.as_ref().map_or(Vec::new(), |folding| folding.rank_classes.ranks_of_each());
        Ok(Insight { graph, fit, messages, waits, longest, ranks_of_classes })
    }

    /// Messages that are under way between two moments.
    pub fn messages_within(&self, from: Moment, to: Moment) -> impl Iterator<Item = &MessageRow> {
        let last = to.saturating_add(self.longest);
        self.messages.iter().flat_map(move |list| {
            let first = list.partition_point(|message| message.received() < from);
            let end = list.partition_point(|message| message.received() <= last);
            list[first..end.max(first)].iter().filter(move |message| message.sent() < to)
        })
    }

    /// What a step waited for.
    pub fn wait_of(&self, step: u64) -> Option<&WaitRow> {
        let list = self.waits.iter().find(|list| list.last().is_some_and(|last| last.step >= step))?;
        let place = list.partition_point(|wait| wait.step < step);
        list.get(place).filter(|wait| wait.step == step)
    }

    /// Rank of a strand: the one with rows, in a run told by kinds of rank.
    pub fn rank_of(&self, strand: u32) -> u32 {
        self.graph.strands.get(strand as usize).map_or(0, |strand| strand.rank.0)
    }

    /// The steps of a rank.
    pub fn steps_of(&self, rank: u32) -> std::ops::Range<u64> {
        let (strands, rank) = (&self.graph.strands, self.like(rank));
        let first_step = |place: usize| strands[place..].iter().map(|strand| strand.first_step).next();
        let begin = strands.partition_point(|strand| strand.rank.0 < rank);
        let end = strands.partition_point(|strand| strand.rank.0 <= rank);
        let of_rank = strands[begin..end].iter().map(|strand| strand.first_step).min();
        let all = self.graph.steps.len() as u64;
        of_rank.map_or(0..0, |first| first..first_step(end).unwrap_or(all))
    }

    /// The call before a step of the same strand.
    pub fn before(&self, strand: u32, mut step: u64) -> Option<u64> {
        let first = self.graph.strands.get(strand as usize)?.first_step;
        loop {
            // Steps of one rank lie together; those of its other threads are between.
            step = (first..step).rev().find(|before| {
                let next = self.graph.steps[*before as usize].next;
                next > 0 && before + u64::from(next) == step
            })?;
            if self.graph.steps[step as usize].kind() != StepKind::Part {
                return Some(step);
            }
        }
    }
}

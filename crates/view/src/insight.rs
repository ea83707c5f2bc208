//! Who waited for whom, and which messages were under way: what a walk over the run's graph tells.
//!
//! Takes as long as `kizami report`, so it is made in the background when somebody first asks. Messages and waits lie
//! in memory up to a limit and in a file without a name beyond it.

use bytemuck::{Pod, Zeroable};
use kizami_graph::{Graph, List, StepKind, build, scratch_folder};
use kizami_replay::{Fit, Message, Observer, Seen, WaitKind, learn};
use kizami_store::{StoreError, Trace};

/// Bytes of messages, and of waits, each thread of the walk keeps in memory.
const MEMORY_LIMIT: usize = 256 << 20;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MessageRow {
    /// When its send began.
    pub sent_ns: i64,
    /// When the call that took it ended.
    pub received_ns: i64,
    /// Its size.
    pub bytes: u64,
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
}

/// One wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct WaitRow {
    /// The step that waited.
    pub step: u64,
    /// The step that was waited for.
    pub of: u64,
    /// From when.
    pub from_ns: i64,
    /// Until when.
    pub until_ns: i64,
    /// The strand that waited.
    pub strand: u32,
    /// The strand that was waited for.
    pub of_strand: u32,
    kind: u64,
}

impl WaitRow {
    /// How long it was.
    pub fn length_ns(&self) -> i64 {
        self.until_ns - self.from_ns
    }

    /// Whether a message was waited for.
    pub fn is_for_message(&self) -> bool {
        self.kind == WaitKind::Sender as u64
    }

    /// What was waited for, in a word.
    pub fn kind(&self) -> &'static str {
        const NAMES: [&str; 6] = ["sender", "receiver", "window", "all", "root", "lower ranks"];
        NAMES.get(self.kind as usize).copied().unwrap_or("others")
    }
}

/// What a walk told.
pub struct Insight {
    /// The run's steps.
    pub graph: Graph,
    /// What messages cost.
    pub fit: Fit,
    /// Each list by the moment of arrival.
    pub messages: Vec<List<MessageRow>>,
    /// Each list by step; steps of the lists rise.
    pub waits: Vec<List<WaitRow>>,
    /// No message was longer under way.
    pub longest_ns: i64,
}

impl std::fmt::Debug for Insight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Insight").field("steps", &self.graph.steps.len()).finish_non_exhaustive()
    }
}

impl Insight {
    /// Walks over the graph of a trace.
    pub fn of(trace: &Trace, threads: usize, progress: &(dyn Fn(f64) + Sync)) -> Result<Insight, StoreError> {
        let folder = scratch_folder(trace);
        let events = trace.run().totals.events.max(1) as f64;
        let graph = build(trace, &folder, threads, &|rows| progress(rows as f64 / events / 2.0))?;
        let watch = || Watch {
            graph: &graph,
            taken: Vec::new(),
            messages: List::new(&folder, MEMORY_LIMIT),
            waits: List::new(&folder, MEMORY_LIMIT),
            failed: None,
        };
        let walked = learn(&graph, threads, watch, &|steps| progress(0.5 + steps as f64 / events / 2.0));
        let fit = walked.learned;
        let (mut messages, mut waits, mut longest_ns) = (Vec::new(), Vec::new(), 0);
        for mut watch in walked.observers {
            if let Some(error) = watch.failed {
                return Err(error);
            }
            watch.messages.as_mut_slice().sort_unstable_by_key(|message| message.received_ns);
            watch.waits.as_mut_slice().sort_unstable_by_key(|wait| wait.step);
            let under_way = watch.messages.iter().map(|message| message.received_ns - message.sent_ns);
            longest_ns = longest_ns.max(under_way.max().unwrap_or(0));
            messages.push(watch.messages);
            waits.push(watch.waits);
        }
        Ok(Insight { graph, fit, messages, waits, longest_ns })
    }

    /// Messages that are under way between two moments.
    pub fn messages_within(&self, from_ns: i64, to_ns: i64) -> impl Iterator<Item = &MessageRow> {
        let last_ns = to_ns.saturating_add(self.longest_ns);
        self.messages.iter().flat_map(move |list| {
            let first = list.partition_point(|message| message.received_ns < from_ns);
            let end = list.partition_point(|message| message.received_ns <= last_ns);
            list[first..end.max(first)].iter().filter(move |message| message.sent_ns < to_ns)
        })
    }

    /// What a step waited for.
    pub fn wait_of(&self, step: u64) -> Option<&WaitRow> {
        let list = self.waits.iter().find(|list| list.last().is_some_and(|last| last.step >= step))?;
        let place = list.partition_point(|wait| wait.step < step);
        list.get(place).filter(|wait| wait.step == step)
    }

    /// Rank of a strand.
    pub fn rank_of(&self, strand: u32) -> u32 {
        self.graph.strands.get(strand as usize).map_or(0, |strand| strand.rank.0)
    }

    /// The steps of a rank.
    pub fn steps_of(&self, rank: u32) -> std::ops::Range<u64> {
        let strands = &self.graph.strands;
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

/// Writes down what it sees.
struct Watch<'a> {
    graph: &'a Graph,
    /// By the step that is about to end.
    taken: Vec<Message>,
    messages: List<MessageRow>,
    waits: List<WaitRow>,
    failed: Option<StoreError>,
}

impl Watch<'_> {
    fn keep(&mut self, seen: &Seen<'_, 0>) -> Result<(), StoreError> {
        for message in self.taken.drain(..) {
            let from = self.graph.strands.get(message.from as usize).map_or(0, |strand| strand.rank.0);
            let to = self.graph.strands.get(message.strand as usize).map_or(0, |strand| strand.rank.0);
            let (sent_ns, received_ns) = (message.sent_ns, seen.step.end_ns);
            self.messages.push(MessageRow { sent_ns, received_ns, bytes: message.bytes, from, to })?;
        }
        let Some(wait) = seen.wait else { return Ok(()) };
        // Clocks of different hosts may say that somebody came after its partners had left.
        let (from_ns, until_ns) = (seen.step.start_ns, wait.until_ns.min(seen.step.end_ns));
        if until_ns > from_ns {
            let (step, of, strand, of_strand) = (seen.index, wait.step, seen.strand, wait.strand);
            let kind = wait.kind as u64;
            self.waits.push(WaitRow { step, of, from_ns, until_ns, strand, of_strand, kind })?;
        }
        Ok(())
    }
}

impl Observer<0> for Watch<'_> {
    fn step(&mut self, seen: &Seen<'_, 0>) {
        if let Err(error) = self.keep(seen) {
            self.failed = Some(error);
        }
    }

    fn message(&mut self, message: &Message) {
        self.taken.push(*message);
    }
}

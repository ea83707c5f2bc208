//! Writing down what a walk tells: messages as they are taken, and who waited for whom.

use super::{MessageRow, WaitRow};
use kizami_graph::{Channel, Graph};
use kizami_model::Rank;
use kizami_replay::{EndedStep, Message, Observer, Wait, WaitKind};
use rustc_hash::FxHashMap;

/// Writes down what it sees.
pub(super) struct Watch<'a> {
    graph: &'a Graph,
    /// By the step that is about to end, and the rank that sent each.
    taken: Vec<(Message, Rank)>,
    pub messages: Vec<MessageRow>,
    pub waits: Vec<WaitRow>,
    senders: SendersToFirst,
}

impl<'a> Watch<'a> {
    pub(super) fn new(graph: &'a Graph) -> Watch<'a> {
        Watch {
            graph,
            taken: Vec::new(),
            messages: Vec::new(),
            waits: Vec::new(),
            senders: SendersToFirst::of(graph),
        }
    }

    fn rank_of(&self, strand: u32) -> Rank {
        self.graph.strands.get(strand as usize).map_or(Rank(0), |strand| strand.rank)
    }

    /// Who sent a message. Where kinds of rank are walked, its channel goes from the sender's kind as far as the message goes.
    fn sender(&mut self, message: &Message) -> Rank {
        let (from, to) = (self.rank_of(message.from), self.rank_of(message.strand));
        match (&self.graph.folding, to) {
            (None, _) => from,
            (Some(_), Rank(0)) => {
                self.senders.next(self.graph.channels[message.channel as usize]).unwrap_or(from)
            }
            (Some(folding), _) => {
                let way = self.graph.channels[message.channel as usize];
                folding.rank_classes.moved(way.from, way.to, to)
            }
        }
    }

    /// Whom a step waited for.
    fn waited_for(&self, seen: &EndedStep<'_, 0>, wait: &Wait) -> Rank {
        let of = self.rank_of(wait.strand);
        let Some(folding) = &self.graph.folding else { return of };
        match wait.kind {
            WaitKind::Sender => {
                let is_it = |(message, _): &&(Message, Rank)| {
                    message.from == wait.strand && message.sent == wait.until
                };
                self.taken.iter().find(is_it).map_or(of, |(_, from)| *from)
            }
            // Channels on which receivers tell that they are ready go from as far as the message comes to the receiver's kind.
            WaitKind::Receiver | WaitKind::Window => {
                let ways = self.graph.ties_of(seen.step).iter().filter(|tie| tie.kind().awaits_readiness());
                let mut ways = ways.filter_map(|tie| self.graph.channels.get(tie.place() as usize));
                let way = ways.find(|way| way.to == of);
                way.map_or(of, |way| folding.rank_classes.moved(of, way.from, self.rank_of(seen.strand)))
            }
            WaitKind::All | WaitKind::Root | WaitKind::Lower => of,
        }
    }

    fn keep(&mut self, seen: &EndedStep<'_, 0>) {
        let of = seen.wait.as_ref().map(|wait| self.waited_for(seen, wait));
        for (message, from) in std::mem::take(&mut self.taken) {
            let (sent_ns, received_ns) = (message.sent.0, seen.step.end.0);
            let to = self.rank_of(message.strand).0;
            self.messages.push(MessageRow { sent_ns, received_ns, bytes: message.bytes, from: from.0, to });
        }
        let (Some(wait), Some(of_rank)) = (seen.wait, of) else { return };
        // Clocks of different hosts may say that somebody came after its partners had left.
        let (from_ns, until_ns) = (seen.step.start.0, wait.until.min(seen.step.end).0);
        if until_ns > from_ns {
            let (step, of, strand, of_strand) = (seen.index, wait.step, seen.strand, wait.strand);
            let (of_rank, kind) = (of_rank.0, wait.kind as u32);
            self.waits.push(WaitRow { step, of, from_ns, until_ns, strand, of_strand, of_rank, kind });
        }
    }
}

impl Observer<0> for Watch<'_> {
    fn step(&mut self, seen: &EndedStep<'_, 0>) {
        self.keep(seen);
    }

    fn message(&mut self, message: &Message) {
        let from = self.sender(message);
        self.taken.push((*message, from));
    }
}

/// Who sends to rank 0, in a run told by kinds of rank. It is rank 0 for everybody, so that how far a message goes there
/// does not tell who of a kind sent it: its senders are taken in turn, in the order in which the rank first takes from them.
#[derive(Default)]
struct SendersToFirst(FxHashMap<Channel, (Vec<Rank>, usize)>);

impl SendersToFirst {
    fn of(graph: &Graph) -> SendersToFirst {
        let mut senders: FxHashMap<Channel, (Vec<Rank>, usize)> = FxHashMap::default();
        if let Some(folding) = &graph.folding {
            for ask in graph.asks.iter().filter(|ask| ask.rank == Rank(0) && !ask.of_receiver) {
                senders.entry(folding.by_sender(ask.way)).or_default().0.push(ask.way.from);
            }
        }
        SendersToFirst(senders)
    }

    fn next(&mut self, channel: Channel) -> Option<Rank> {
        let (senders, next) = self.0.get_mut(&channel)?;
        *next += 1;
        senders.get((*next - 1) % senders.len()).copied()
    }
}

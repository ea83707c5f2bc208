//! From the rows of a trace to scripts.
//!
//! One rank after the other. What cannot be played keeps its length and is counted by function; what cannot be played
//! without being wrong for others (several threads of a rank that call MPI, communicators between groups) is refused.

mod windows;

use crate::script::{Action, Amounts, Collective, Message, Script, Step};
use anyhow::{Result, bail};
use kizami_model::kind::{CollectiveKind, CommunicatorCall, Form, Kind, SendMode};
use kizami_model::{Call, Op, Peer, Rank};
use kizami_rank_classes::ExpandedCalls;
use kizami_trace::definitions::{Communicator, Definitions};
use kizami_trace::{RankSelection, Trace};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use windows::Windows;

/// All scripts, and what they share.
#[derive(Debug, Default)]
pub struct Play {
    /// By rank.
    pub scripts: Vec<Script>,
    /// The communicators of the trace.
    pub communicators: Vec<Communicator>,
    /// What members give and get, where they may differ.
    pub amounts: Vec<Amounts>,
    /// Calls that keep their length though others may depend on them, by function.
    pub kept: BTreeMap<&'static str, u64>,
    /// Functions and the places they are called from.
    pub calls: Vec<CallFrom>,
    /// The most bytes that one call moves.
    pub most_bytes: usize,
}

/// A function, and the index of the place it is called from.
pub type CallFrom = (Op, Option<u32>);

/// Reads a trace.
pub fn translate(trace: &Trace, definitions: &Definitions) -> Result<Play> {
    let communicators = definitions.communicators.clone();
    let ranks = trace.run().ranks as usize;
    let mut translator = Translator {
        places: communicators.iter().map(places).collect(),
        play: Play { scripts: vec![Script::default(); ranks], communicators, ..Play::default() },
        shared: FxHashMap::default(),
        calls: FxHashMap::default(),
        rank: RankState::default(),
    };
    for call in ExpandedCalls::of(trace, RankSelection::All)? {
        translator.row(&call?)?;
    }
    if translator.play.scripts.iter().all(|script| script.steps.is_empty()) {
        bail!("{} has no MPI calls to simulate", trace.path().display());
    }
    let mut first_row = 0;
    for script in &mut translator.play.scripts {
        script.first_row = first_row;
        first_row += script.steps.len() as u64;
    }
    Ok(translator.play)
}

/// World ranks of a communicator's members, by which their place is found.
fn places(communicator: &Communicator) -> FxHashMap<Rank, i32> {
    (0..).zip(&communicator.members).filter_map(|(place, member)| Some(((*member)?, place))).collect()
}

struct Translator {
    play: Play,
    places: Vec<FxHashMap<Rank, i32>>,
    /// By communicator and which of its collectives with differing amounts it is: its index among them.
    shared: FxHashMap<(u32, u64), u32>,
    /// Places in the list of calls.
    calls: FxHashMap<CallFrom, u32>,
    rank: RankState,
}

/// What is known of the rank whose rows are read.
#[derive(Default)]
struct RankState {
    rank: u32,
    /// When its last call, and what the tracer did behind it, ended.
    end_ns: i64,
    /// Requests that are open, by their number.
    open: FxHashMap<u64, u32>,
    /// Places that are free; the lowest is taken first, so that rounds of a loop take the same ones.
    free: BinaryHeap<Reverse<u32>>,
    /// By communicator: collectives with differing amounts, and communicators made.
    counted: FxHashMap<u32, u64>,
    made: FxHashMap<u32, usize>,
    /// How messages of prepared requests are sent, by communicator, receiver and tag.
    prepared: FxHashMap<(u32, i32, i32), SendMode>,
    windows: Windows,
}

impl RankState {
    fn place_for(&mut self, request: u64, script: &mut Script) -> u32 {
        let free = self.free.pop().map(|Reverse(place)| place);
        let place = free.unwrap_or_else(|| {
            script.requests += 1;
            script.requests - 1
        });
        self.open.insert(request, place);
        place
    }
}

impl Translator {
    fn row(&mut self, call: &Call) -> Result<()> {
        let rank = call.rank.0;
        if let Some(comm) = call.comm.filter(|comm| *comm as usize >= self.places.len()) {
            bail!(
                "rank {rank}: {} names communicator {comm}, which the trace does not define",
                call.op.name()
            );
        }
        let is_first = self.play.scripts[rank as usize].steps.is_empty();
        if is_first {
            self.rank = RankState { rank, ..RankState::default() };
            self.play.scripts[rank as usize].thread = call.thread.0;
        }
        if self.play.scripts[rank as usize].thread != call.thread.0 {
            bail!(
                "rank {rank} calls MPI from several threads, which SimGrid's MPI does not support; record a run in which \
                 one thread per rank calls MPI"
            );
        }
        let action = self.action(call)?;
        // Half of what the tracer takes lies before a call, half behind it.
        let tracer_ns = call.overhead.0 / i64::from(call.calls.max(1));
        let before_ns = call.start.0.saturating_sub(self.rank.end_ns).saturating_sub(tracer_ns / 2).max(0);
        self.rank.end_ns = call.end.0.saturating_add(tracer_ns - tracer_ns / 2).max(self.rank.end_ns);
        let recorded_ns = call.end.saturating_since(call.start).0.max(0);
        let call = self.call_from((call.op, call.callsite));
        self.play.scripts[rank as usize].steps.push(Step { before_ns, recorded_ns, action, call });
        Ok(())
    }

    fn call_from(&mut self, call: CallFrom) -> u32 {
        let known = &mut self.play.calls;
        *self.calls.entry(call).or_insert_with(|| {
            known.push(call);
            known.len() as u32 - 1
        })
    }

    fn action(&mut self, call: &Call) -> Result<Action> {
        if call.failed {
            return Ok(Action::Keep);
        }
        Ok(match call.op.kind() {
            Kind::Send(mode, Form::Blocking) => {
                self.sent(call)?.map_or(Action::Keep, |m| Action::Send(mode, m))
            }
            Kind::Send(mode, Form::NonBlocking) => {
                let message = self.sent(call)?;
                self.later(call, message, |message, place| Action::SendLater(mode, message, place))
            }
            Kind::Receive(Form::Blocking) => {
                self.received(call, false)?.map_or(Action::Keep, Action::Receive)
            }
            Kind::Receive(Form::NonBlocking) => {
                let message = self.received(call, false)?;
                self.later(call, message, Action::ReceiveLater)
            }
            Kind::SendReceive(Form::Blocking) => match (self.sent(call)?, self.received(call, true)?) {
                (Some(out), Some(back)) => Action::SendReceive(out, back),
                (Some(out), None) => Action::Send(SendMode::Standard, out),
                (None, Some(back)) => Action::Receive(back),
                (None, None) => Action::Keep,
            },
            Kind::Send(mode, Form::Persistent) => {
                if let Some(message) = self.sent(call)? {
                    self.rank.prepared.insert((message.comm, message.peer, message.tag), mode);
                }
                Action::Keep
            }
            Kind::Receive(Form::Persistent) => Action::Keep,
            // A request that was made before moves something.
            Kind::Start if call.tag.is_some() && call.bytes_out.is_some() => {
                let message = self.sent(call)?;
                let key = message.map(|message| (message.comm, message.peer, message.tag));
                let mode = key.and_then(|key| self.rank.prepared.get(&key).copied());
                let mode = mode.unwrap_or(SendMode::Standard);
                self.later(call, message, |message, place| Action::SendLater(mode, message, place))
            }
            Kind::Start if call.tag.is_some() => {
                let message = self.received(call, false)?;
                self.later(call, message, Action::ReceiveLater)
            }
            Kind::Complete => self.completion(call),
            Kind::Probe => match self.received(call, false)? {
                Some(message) => Action::Probe(message),
                None => looked(call),
            },
            Kind::Collective(kind, form) => self.collective(call, kind, form)?,
            Kind::Communicator(CommunicatorCall::New) => self.new_communicator(call),
            Kind::Window(what) => self.window_call(call, what)?,
            Kind::Init | Kind::Finalize | Kind::Start | Kind::FreeRequest | Kind::Other => Action::Keep,
            Kind::Communicator(CommunicatorCall::Free | CommunicatorCall::Name | CommunicatorCall::Ask) => {
                Action::Keep
            }
            _ => self.keep(call),
        })
    }

    /// It cannot be played, though others may depend on it.
    fn keep(&mut self, call: &Call) -> Action {
        *self.play.kept.entry(call.op.name()).or_default() += 1;
        Action::Keep
    }

    fn later(
        &mut self,
        call: &Call,
        message: Option<Message>,
        action: impl Fn(Message, u32) -> Action,
    ) -> Action {
        match (message, call.request) {
            (Some(message), Some(request)) => {
                let script = &mut self.play.scripts[self.rank.rank as usize];
                action(message, self.rank.place_for(request, script))
            }
            _ => Action::Keep,
        }
    }

    fn sent(&mut self, call: &Call) -> Result<Option<Message>> {
        self.message(call, call.peer, call.tag, call.bytes_out)
    }

    fn received(&mut self, call: &Call, second_half: bool) -> Result<Option<Message>> {
        let (peer, tag) = if second_half { (call.recv_peer, call.recv_tag) } else { (call.peer, call.tag) };
        self.message(call, peer, tag, call.bytes_in)
    }

    fn message(
        &mut self,
        call: &Call,
        peer: Peer,
        tag: Option<i32>,
        bytes: Option<u64>,
    ) -> Result<Option<Message>> {
        let (Peer::Rank(peer), Some(tag), Some(comm)) = (peer, tag, call.comm) else { return Ok(None) };
        let peer = self.place(comm, peer, call)?;
        let bytes = self.bytes(bytes.unwrap_or(0))?;
        Ok(Some(Message { comm, peer, tag, bytes }))
    }

    fn place(&self, comm: u32, member: Rank, call: &Call) -> Result<i32> {
        match self.places.get(comm as usize).and_then(|places| places.get(&member)) {
            Some(place) => Ok(*place),
            None => bail!(
                "rank {}: {} reaches rank {member} over an inter-communicator, which SimGrid's MPI does not support",
                call.rank,
                call.op.name()
            ),
        }
    }

    fn bytes(&mut self, bytes: u64) -> Result<i32> {
        let Ok(counted) = i32::try_from(bytes) else {
            bail!("a message of {bytes} bytes exceeds the 2 GiB limit of SimGrid's MPI");
        };
        self.play.most_bytes = self.play.most_bytes.max(counted as usize);
        Ok(counted)
    }

    fn completion(&mut self, call: &Call) -> Action {
        let script = &mut self.play.scripts[self.rank.rank as usize];
        let begin = script.waits_for.len() as u32;
        for request in &call.completes {
            if let Some(place) = self.rank.open.remove(request) {
                script.waits_for.push(place);
                self.rank.free.push(Reverse(place));
            }
        }
        let end = script.waits_for.len() as u32;
        if begin == end { looked(call) } else { Action::Complete(begin..end) }
    }

    fn collective(&mut self, call: &Call, kind: CollectiveKind, form: Form) -> Result<Action> {
        use CollectiveKind::*;
        let Some(comm) = call.comm else { return Ok(Action::Keep) };
        let neighbours =
            [NeighborAllgather, NeighborAllgatherv, NeighborAlltoall, NeighborAlltoallv, NeighborAlltoallw];
        if neighbours.contains(&kind) || form == Form::Persistent {
            return Ok(self.keep(call));
        }
        let root = match call.root {
            Peer::Rank(root) => self.place(comm, root, call)?,
            _ => 0,
        };
        let bytes = [self.bytes(call.bytes_out.unwrap_or(0))?, self.bytes(call.bytes_in.unwrap_or(0))?];
        let differ = matches!(kind, Gatherv | Scatterv | Allgatherv | Alltoallv | Alltoallw | ReduceScatter);
        let amounts = if differ { Some(self.amounts(comm, bytes, call)?) } else { None };
        let collective = Collective { kind, comm, root, bytes, amounts };
        Ok(match (form, call.request) {
            (Form::NonBlocking, Some(request)) => {
                let script = &mut self.play.scripts[self.rank.rank as usize];
                Action::CollectiveLater(collective, self.rank.place_for(request, script))
            }
            (Form::NonBlocking, None) => Action::Keep,
            _ => Action::Collective(collective),
        })
    }

    /// Notes what this rank gives and gets; gives where all members note theirs.
    fn amounts(&mut self, comm: u32, [given, got]: [i32; 2], call: &Call) -> Result<u32> {
        let place = self.place(comm, call.rank, call)? as usize;
        let count = self.rank.counted.entry(comm).or_default();
        *count += 1;
        let members = self.play.communicators[comm as usize].members.len();
        let all = &mut self.play.amounts;
        let index = *self.shared.entry((comm, *count)).or_insert_with(|| {
            all.push(Amounts { given: vec![0; members], got: vec![0; members] });
            all.len() as u32 - 1
        });
        (all[index as usize].given[place], all[index as usize].got[place]) = (given, got);
        Ok(index)
    }

    /// The how-manieth of its parent it is says which one came of it.
    fn new_communicator(&mut self, call: &Call) -> Action {
        let Some(parent) = call.comm else { return self.keep(call) };
        let count = self.rank.made.entry(parent).or_default();
        let mut made = (0..).zip(&self.play.communicators).filter(|(index, other)| {
            other.parent == Some(parent) && self.places[*index as usize].contains_key(&call.rank)
        });
        let made = made.nth(*count).map(|(index, _)| index);
        *count += 1;
        Action::NewCommunicator { parent, made }
    }
}

/// Looks in vain: what lies between them is computation.
fn looked(call: &Call) -> Action {
    match call.inside {
        Some(inside) => {
            Action::Look { between_ns: call.end.saturating_since(call.start).saturating_sub(inside).0.max(0) }
        }
        None => Action::Keep,
    }
}

//! The calls of a run as tokens: what is called and where, without what depends on rank and size.
//!
//! Calls that only ask MPI something take no part in communication; their time counts as computation. Failed polls are
//! waiting by another name and are passed over. What a call completes is identified by which of the rank's open requests it is,
//! in the order in which they were begun.

use crate::PredictError;
use kizami_model::kind::{CommunicatorCall, Form};
use kizami_model::{Call, CommKind, Kind, Op, Peer, Rank};
use kizami_trace::{Communicator, Definitions, RankSelection, SourceLine, Trace};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is called: the same for all ranks that do the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The function.
    pub op: Op,
    /// From where.
    pub place: Arc<SourceLine>,
    /// On which communicator, by its number.
    pub comm: Option<u32>,
    /// Tag of what is sent or received.
    pub tag: Option<i32>,
    /// Tag of the receiving half of a send-receive.
    pub recv_tag: Option<i32>,
    /// It begins a request.
    pub begins: bool,
    /// Which of the open requests it completes.
    pub completes: Vec<u32>,
}

/// One call with what is its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Which token.
    pub token: u32,
    /// Computation before it.
    pub gap_ns: i64,
    /// To whom, or from whom.
    pub peer: Peer,
    /// From whom, in a send-receive.
    pub recv_peer: Peer,
    /// Root of a collective.
    pub root: Peer,
    /// Bytes given.
    pub bytes_out: Option<u64>,
    /// Bytes obtained.
    pub bytes_in: Option<u64>,
}

/// The calls of one rank, in order.
pub type RankCalls = Vec<Item>;

/// A run as tokens.
#[derive(Clone, Debug)]
pub struct RunCalls {
    /// How many ranks.
    pub ranks: u32,
    /// Of each rank.
    pub calls: Vec<RankCalls>,
    /// What numbers and places stand for.
    pub definitions: Definitions,
    /// By number of the token, the index of its place in the definitions.
    pub sites: FxHashMap<u32, Option<u32>>,
}

/// All tokens of some runs, each once.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    known: FxHashMap<Token, u32>,
    /// By number.
    pub list: Vec<Token>,
}

impl Tokens {
    fn number(&mut self, token: Token) -> u32 {
        let next = self.list.len() as u32;
        let list = &mut self.list;
        *self.known.entry(token).or_insert_with_key(|token| {
            list.push(token.clone());
            next
        })
    }
}

impl RunCalls {
    /// Reads a trace.
    pub fn read(trace: &Trace, tokens: &mut Tokens) -> Result<RunCalls, PredictError> {
        let definitions = trace.definitions()?;
        let ranks = trace.run().ranks;
        let mut reading = Reading {
            places: definitions
                .callsites
                .iter()
                .map(|site| Arc::new(SourceLine::of(&definitions, Some(site.index)).of_any_caller()))
                .collect(),
            nowhere: Arc::new(SourceLine::of(&definitions, None)),
            comms: comm_numbers(&definitions, ranks),
            tokens,
            sites: FxHashMap::default(),
            open: Vec::new(),
        };
        let mut calls: Vec<RankCalls> = vec![Vec::new(); ranks as usize];
        let mut last: Option<(Rank, i64)> = None;
        for call in trace.calls(RankSelection::All)? {
            let call = call?;
            if call.thread.0 > 0 {
                return Err(PredictError::Threads { trace: trace.path().to_path_buf(), rank: call.rank });
            }
            if last.is_none_or(|(rank, _)| rank != call.rank) {
                reading.open.clear();
                last = None;
            }
            let before = last.map_or(call.start.0, |(_, end)| end);
            if !takes_part(&call) {
                // Its own time becomes part of the computation around it.
                last = last.or(Some((call.rank, call.start.0)));
                continue;
            }
            last = Some((call.rank, call.end.0));
            let item = reading.item(&call, (call.start.0 - before).max(0))?;
            calls[call.rank.0 as usize].push(item);
        }
        let sites = reading.sites;
        Ok(RunCalls { ranks, calls, definitions, sites })
    }
}

/// What is needed while a trace is read.
struct Reading<'a> {
    places: Vec<Arc<SourceLine>>,
    nowhere: Arc<SourceLine>,
    comms: Vec<Option<u32>>,
    tokens: &'a mut Tokens,
    sites: FxHashMap<u32, Option<u32>>,
    /// Requests of the rank that are not completed, in the order in which they were begun.
    open: Vec<u64>,
}

impl Reading<'_> {
    fn item(&mut self, call: &Call, gap_ns: i64) -> Result<Item, PredictError> {
        let place =
            call.callsite.and_then(|site| self.places.get(site as usize)).unwrap_or(&self.nowhere).clone();
        let comm = match call.comm {
            None => None,
            Some(comm) => match self.comms.get(comm as usize).copied().flatten() {
                Some(number) => Some(number),
                None => return Err(PredictError::SomeRanks { op: call.op.name(), place: place.to_string() }),
            },
        };
        if !generalises(call.op.kind()) {
            return Err(PredictError::NotGeneralised { op: call.op.name(), place: place.to_string() });
        }
        let completes = self.completed(call);
        let begins = call.request.is_some();
        self.open.extend(call.request);
        let (tag, recv_tag) = (call.tag, call.recv_tag);
        let number = self.tokens.number(Token { op: call.op, place, comm, tag, recv_tag, begins, completes });
        self.sites.entry(number).or_insert(call.callsite);
        Ok(Item {
            token: number,
            gap_ns,
            peer: call.peer,
            recv_peer: call.recv_peer,
            root: call.root,
            bytes_out: call.bytes_out,
            bytes_in: call.bytes_in,
        })
    }

    /// Which of the open requests a call completes; they are open no more.
    fn completed(&mut self, call: &Call) -> Vec<u32> {
        let place =
            |request: &u64| self.open.iter().position(|open| open == request).map(|index| index as u32);
        let mut completes: Vec<u32> = call.completes.iter().filter_map(place).collect();
        completes.sort_unstable();
        self.open.retain(|open| !call.completes.contains(open));
        completes
    }
}

/// Whether a call is kept: it moves something, waits for a rank, or makes something together with others.
pub(crate) fn takes_part(call: &Call) -> bool {
    match call.op.kind() {
        Kind::Init
        | Kind::Finalize
        | Kind::Collective(..)
        | Kind::Send(..)
        | Kind::Receive(_)
        | Kind::SendReceive(_) => call.calls > 0,
        Kind::Complete => !call.completes.is_empty(),
        Kind::Communicator(what) => what == CommunicatorCall::New,
        Kind::Start | Kind::FreeRequest | Kind::Window(_) => true,
        Kind::Probe | Kind::File(_) | Kind::Other => false,
    }
}

/// Whether calls like this can be made for other numbers of ranks.
fn generalises(kind: Kind) -> bool {
    let persistent = matches!(
        kind,
        Kind::Send(_, Form::Persistent)
            | Kind::Receive(Form::Persistent)
            | Kind::SendReceive(Form::Persistent)
            | Kind::Collective(_, Form::Persistent)
    );
    !persistent && !matches!(kind, Kind::Start | Kind::FreeRequest | Kind::Window(_))
}

/// Whether a communicator of a run with so many ranks means the same in runs of any size: it is that of all ranks in their
/// order, or of each rank alone.
pub fn means_the_same(comm: &Communicator, ranks: u32) -> bool {
    let in_order = comm.members.iter().zip(0..).all(|(member, rank)| *member == Some(Rank(rank)));
    comm.kind == CommKind::SelfOnly || comm.kind != CommKind::Inter && comm.size == ranks && in_order
}

/// Numbers of communicators that mean the same in runs of any size: those of all ranks in the order in which they were made,
/// and that of each rank alone. None for communicators of some ranks.
fn comm_numbers(definitions: &Definitions, ranks: u32) -> Vec<Option<u32>> {
    let mut next = 0;
    definitions
        .communicators
        .iter()
        .map(|comm| {
            means_the_same(comm, ranks).then(|| {
                next += 1;
                next - 1
            })
        })
        .collect()
}

//! Why a run hangs: which rank waits for which, where in the source, since when, and what is the cause.
//!
//! A run that hangs, was interrupted, or is looked at while it runs has calls that never returned (`defs/under_way`). From
//! all rows follows what was sent, posted and entered before (`ledger`), so what each of these calls waits for can be
//! derived (`needs`), and from that which ranks can never go on (`graph`): ranks that wait for each other in a cycle, or for
//! one that is gone. Where no rank is blocked for ever, all others wait for a rank that is outside MPI. What ranks did that does not
//! fit together is probably why (`mistakes`).
//!
//! It promises never to call something a deadlock that could still go on, as far as rows show: messages that are on their
//! way, posted receives and wildcards that a rank may still match are taken into account. It does not look into
//! files, and of windows only at fences and locks. Whether a rank computed, crashed, left by `_exit` or was killed
//! outside MPI it cannot tell. It gives data (`hang`), no sentences.

mod graph;
mod hang;
mod ledger;
mod mistakes;
mod needs;

use graph::{Doing, Graph};
pub use hang::{
    Awaited, BlockedCall, Called, CauseState, Death, EarlyEnd, EndedEarly, Event, Hang, HangCause, HangKind,
    LastSeen, Mistake, Outside, RanksInCall, WaitsFor,
};
use kizami_model::{Call, Ending, Length, Moment, Op, Rank, ThreadIndex};
use kizami_trace::run::Watched;
use kizami_trace::{Definitions, RankInfo, RankSelection, SourceLine, Trace, TraceError, UnderWay};
use ledger::{Last, Ledger};
use needs::{Inside, Needs, waits_for_others};
use std::collections::BTreeSet;

/// In a run that goes on, waits below this are normal.
const LONG_NS: i64 = 1_000_000_000;
/// Who ended at most this long before an interruption was noticed was ended by it: signals reach many at once.
const AT_ONCE: Length = Length(200_000_000);
/// Ends so close to each other may be seen in any order: a launcher learns of a death before the kernel is done with it.
const TOGETHER: Length = Length(20_000_000);
/// Who has been waiting inside MPI for so long does not crash there by itself: it was ended.
const WAITED: Length = Length(10_000_000);
/// Polls that ended at most this long before the end, or this part of their time, still went on.
const POLLING_NS: i64 = 100_000_000;

impl Hang {
    /// Of a run with these rows; `recorded` is the trace they were made from, or the same. None if the run ended well, or
    /// goes on as it should.
    pub fn of(rows: &Trace, recorded: &Trace) -> Result<Option<Hang>, TraceError> {
        let definitions = recorded.definitions()?;
        if !ended_badly(&definitions) {
            return Ok(None);
        }
        let mut ledger = Ledger::new(&definitions, definitions.ranks.len());
        let mut calls = rows.calls(RankSelection::All)?;
        loop {
            let batch = calls.next_batch()?;
            if batch.is_empty() {
                break;
            }
            batch.iter().for_each(|call| ledger.add(call));
        }
        Ok(find(&definitions, recorded.run().watched, &ledger))
    }

    /// The same for rows that are in no trace.
    pub fn of_rows(definitions: &Definitions, watched: Option<Watched>, rows: &[Call]) -> Option<Hang> {
        let mut ledger = Ledger::new(definitions, definitions.ranks.len());
        rows.iter().for_each(|call| ledger.add(call));
        find(definitions, watched, &ledger)
    }
}

fn ended_badly(definitions: &Definitions) -> bool {
    definitions.ranks.iter().any(|rank| rank.ending != Ending::Finalized)
}

/// One wait: a call that did not return, or polls that find nothing, with what they need.
struct Wait {
    call: UnderWay,
    polls: bool,
    needs: Needs,
}

/// Everything that is known.
struct RunState<'a> {
    definitions: &'a Definitions,
    watched: Option<Watched>,
    ledger: &'a Ledger,
    /// By rank.
    waits: Vec<Wait>,
    doing: Vec<Doing>,
    died_first: Option<u32>,
}

fn find(definitions: &Definitions, watched: Option<Watched>, ledger: &Ledger) -> Option<Hang> {
    if !ended_badly(definitions) {
        return None;
    }
    let calls = calls_under_way(definitions);
    let inside = Inside::new(&calls, definitions, ledger);
    let mut waits: Vec<Wait> = Vec::new();
    for call in &calls {
        if waits_for_others(call.op) {
            waits.push(Wait { call: *call, polls: false, needs: inside.needs(call) });
        }
    }
    let until = watched.map(|watched| Moment(watched.until_ns));
    for rank in &definitions.ranks {
        let waits_already = waits.iter().any(|wait| wait.call.rank == rank.rank);
        if let Some(last) = polling(ledger, rank.rank, rank.ending, until).filter(|_| !waits_already) {
            let mut call = UnderWay::new(rank.rank, ThreadIndex(0), last.op, last.start);
            call.callsite = last.callsite;
            waits.push(Wait { call, polls: true, needs: inside.polled(rank.rank, &last) });
        }
    }
    waits.sort_by_key(|wait| (wait.call.rank, wait.call.thread));
    let doing = doing(definitions, &waits);
    let died_first = died_first(definitions, watched, &waits);
    let state = RunState { definitions, watched, ledger, waits, doing, died_first };
    state.hang(&calls)
}

/// The calls that did not return. Traces of older versions have but the name of the function.
fn calls_under_way(definitions: &Definitions) -> Vec<UnderWay> {
    let mut calls = definitions.under_way.clone();
    for rank in &definitions.ranks {
        let known = calls.iter().any(|call| call.rank == rank.rank);
        if let Some(op) = rank.last_call.as_deref().and_then(Op::by_name).filter(|_| !known) {
            let start = rank.last.unwrap_or(Moment::START);
            calls.push(UnderWay::new(rank.rank, ThreadIndex(0), op, start));
        }
    }
    calls.sort_by_key(|call| (call.rank, call.thread));
    calls
}

/// The polls a rank was at to the end, if it was.
fn polling(ledger: &Ledger, rank: Rank, ending: Ending, until: Option<Moment>) -> Option<Last> {
    let last = ledger.ranks.get(rank.0 as usize)?.last.filter(|last| last.polls.is_some())?;
    let to_the_end = until.is_none_or(|until| {
        let since_ns = (until - last.end).0;
        since_ns <= POLLING_NS.max((until - last.start).0 / 10)
    });
    (to_the_end && matches!(ending, Ending::Vanished | Ending::Running)).then_some(last)
}

fn doing(definitions: &Definitions, waits: &[Wait]) -> Vec<Doing> {
    let of_rank = |(rank, info): (u32, &RankInfo)| {
        let threads: Vec<Needs> =
            waits.iter().filter(|wait| wait.call.rank.0 == rank).map(|wait| wait.needs.clone()).collect();
        match info.ending {
            _ if !threads.is_empty() => Doing::Waits(threads),
            Ending::Vanished | Ending::Running => Doing::Free,
            Ending::Finalized | Ending::Exited | Ending::Aborted => Doing::Gone,
        }
    };
    (0..).zip(&definitions.ranks).map(of_rank).collect()
}

/// From when on ranks may have been ended by an interruption, if there was one.
fn interrupted(watched: Watched) -> Option<Moment> {
    watched.interrupted_ns.map(|ns| Moment(ns) - AT_ONCE)
}

/// The one that died first. Launchers end all ranks when one dies, and when they are interrupted; so the first counts
/// only if the run was not interrupted before, and if it was seen to be alone among those that did not just wait.
fn died_first(definitions: &Definitions, watched: Option<Watched>, waits: &[Wait]) -> Option<u32> {
    let interrupted = watched.and_then(interrupted);
    let ends =
        |rank: &RankInfo| Some((rank.ended?, rank.rank.0)).filter(|_| rank.ending != Ending::Finalized);
    let mut dead: Vec<(Moment, u32)> = definitions.ranks.iter().filter_map(ends).collect();
    dead.sort_unstable();
    let first_end = dead.first()?.0;
    dead.retain(|(end, _)| *end - first_end <= TOGETHER);
    let had_waited = |&(end, rank): &(Moment, u32)| {
        waits.iter().any(|wait| wait.call.rank.0 == rank && end - wait.call.start >= WAITED)
    };
    if !dead.iter().all(had_waited) {
        dead.retain(|death| !had_waited(death));
    }
    let (end, rank) = dead[0];
    let alone = dead.get(1).is_none_or(|second| second.0 > end);
    let vanished = definitions.ranks[rank as usize].ending == Ending::Vanished;
    (alone && vanished && interrupted.is_none_or(|at| end < at)).then_some(rank)
}

impl RunState<'_> {
    /// The diagnosis; none for a run that goes on as it should.
    fn hang(self, calls: &[UnderWay]) -> Option<Hang> {
        let graph = Graph(&self.doing);
        let doomed = graph.doomed();
        let cycle = graph.cycle(&doomed);
        let ends = graph.ends();
        let gone: BTreeSet<u32> =
            ends.iter().copied().filter(|rank| self.doing[*rank as usize] == Doing::Gone).collect();
        let (kind, causes) = match (doomed.is_empty(), cycle.is_empty(), ends.is_empty()) {
            (false, false, _) => (HangKind::Deadlock, BTreeSet::new()),
            (false, true, _) => (HangKind::WaitsForEnded, gone),
            (true, _, false) => (HangKind::WaitsForBusy, ends),
            (true, _, true) if self.waits.is_empty() && calls.is_empty() => {
                (HangKind::Ended, BTreeSet::new())
            }
            (true, _, true) => (HangKind::Inside, BTreeSet::new()),
        };
        let running = self.watched.is_some_and(|watched| watched.running);
        if running && doomed.is_empty() && !self.waits.iter().any(|wait| self.is_long(wait)) {
            return None;
        }
        let mut causes: Vec<HangCause> = causes.iter().map(|rank| self.cause(*rank, &graph, calls)).collect();
        causes.sort_by_key(|cause| (std::cmp::Reverse(cause.waiting_ranks), cause.rank));
        let blocked_call = |call: &UnderWay| {
            let wait = self.waits.iter().find(|wait| wait.call == *call && !wait.polls);
            self.call(call, wait)
        };
        let polls = self.waits.iter().filter(|wait| wait.polls).map(|wait| self.call(&wait.call, Some(wait)));
        let mut listed: Vec<BlockedCall> = calls.iter().map(blocked_call).chain(polls).collect();
        listed.sort_by_key(|call| (call.rank, call.thread, call.since_ns));
        let until_ns = self.watched.map(|watched| watched.until_ns);
        let ended_early = match kind {
            HangKind::Inside | HangKind::Ended => self.ended_early(calls),
            HangKind::Deadlock | HangKind::WaitsForEnded | HangKind::WaitsForBusy => Vec::new(),
        };
        Some(Hang {
            kind,
            ranks: self.definitions.ranks.len(),
            cycle,
            causes,
            died_first: self.died_first.map(|rank| self.death(rank, calls)),
            mistakes: mistakes::mistakes(calls, self.definitions, self.ledger, &doomed),
            ended_early,
            calls: listed,
            running,
            until_ns,
        })
    }

    fn called(&self, op: Op, site: Option<u32>) -> Called {
        Called { function: op.name().to_owned(), place: SourceLine::of(self.definitions, site) }
    }

    /// The last call that a rank made.
    fn last_call(&self, rank: u32) -> Option<Called> {
        self.ledger.ranks[rank as usize].last.map(|last| self.called(last.op, last.callsite))
    }

    fn death(&self, rank: u32, calls: &[UnderWay]) -> Death {
        let inside = calls.iter().find(|call| call.rank.0 == rank);
        let last_seen = match (inside, self.last_call(rank)) {
            (Some(call), _) => LastSeen::Inside(self.called(call.op, call.callsite)),
            (None, Some(last)) => LastSeen::After(last),
            (None, None) => LastSeen::BeforeFirstCall,
        };
        let ended = self.definitions.ranks[rank as usize].ended;
        Death { rank, ended_ns: ended.map_or(0, |ended| ended.0), last_seen }
    }

    /// Ranks that ended before their time, outside of calls.
    fn ended_early(&self, calls: &[UnderWay]) -> Vec<EndedEarly> {
        let outside = |rank: &&RankInfo| !calls.iter().any(|call| call.rank == rank.rank);
        let early = |info: &RankInfo| {
            let rank = info.rank.0;
            let how = match info.ending {
                Ending::Finalized | Ending::Running => return None,
                Ending::Vanished if info.pid.is_none() => EarlyEnd::NothingLeft,
                Ending::Vanished => EarlyEnd::Vanished(self.last_call(rank)),
                Ending::Exited => EarlyEnd::Exited(self.last_call(rank)),
                Ending::Aborted => EarlyEnd::Aborted { code: info.abort_code.unwrap_or_default() },
            };
            Some(EndedEarly { rank, how })
        };
        self.definitions.ranks.iter().filter(outside).filter_map(early).collect()
    }

    fn is_long(&self, wait: &Wait) -> bool {
        self.watched.is_none_or(|watched| watched.until_ns - wait.call.start.0 >= LONG_NS)
    }

    fn call(&self, call: &UnderWay, wait: Option<&Wait>) -> BlockedCall {
        BlockedCall {
            rank: call.rank.0,
            thread: call.thread.0,
            function: call.op.name().to_owned(),
            place: SourceLine::of(self.definitions, call.callsite),
            callsite: call.callsite,
            since_ns: call.start.0,
            polls: wait.is_some_and(|wait| wait.polls),
            waits_for: wait.map(|wait| WaitsFor::from(&wait.needs)),
        }
    }

    fn cause(&self, rank: u32, graph: &Graph<'_>, calls: &[UnderWay]) -> HangCause {
        let info = &self.definitions.ranks[rank as usize];
        let last = self.ledger.ranks[rank as usize].last;
        let inside = calls.iter().find(|call| call.rank.0 == rank);
        let state = match (info.ending, inside) {
            (_, Some(_)) => CauseState::Inside,
            (Ending::Finalized, _) => CauseState::Finalized,
            (Ending::Exited, _) => CauseState::Exited,
            (Ending::Aborted, _) => CauseState::Aborted { code: info.abort_code.unwrap_or(0) },
            (Ending::Vanished | Ending::Running, _) if info.pid.is_none() => CauseState::Absent,
            (Ending::Vanished | Ending::Running, _) => CauseState::Outside(self.outside(info)),
        };
        let called = inside.map(|call| (call.op, call.callsite, call.start));
        let called = called.or(last.map(|last| (last.op, last.callsite, last.end)));
        HangCause {
            rank,
            state,
            function: called.map(|(op, ..)| op.name().to_owned()),
            place: called.map(|(_, site, _)| SourceLine::of(self.definitions, site)),
            since_ns: called.map(|(.., since)| since.0),
            waiting_ranks: graph.waiting_for(&BTreeSet::from([rank])).len(),
        }
    }

    fn outside(&self, info: &RankInfo) -> Outside {
        let interrupted = self.watched.and_then(interrupted);
        let ended = info.ended.filter(|ended| interrupted.is_some_and(|at| *ended >= at));
        match (ended, info.ending) {
            _ if self.died_first == Some(info.rank.0) => Outside::Died,
            // It was seen to live until then.
            (Some(ended), _) => Outside::Interrupted { ended_ns: ended.0 },
            (None, Ending::Running) => Outside::Running,
            (None, _) => Outside::Unknown,
        }
    }
}

//! The calls of a sequence as rows have them: requests by number, receives with what they obtained.
//!
//! A recorded sequence has the outcome of a receive where it was completed, and what a start moves where its persistent
//! request was made. Here both are put together as sealing does it, so that what comes out are the rows of a full trace
//! without their times. A sequence made from rows has them so already.
//!
//! What comes of a receive is looked up ahead, by a second walk that goes through the sequence once in all. It goes
//! [`AHEAD_MOST`] calls ahead at most and holds up to [`HELD_MOST`] receives; one that stays open for longer, or that another
//! thread completes, is as if it never had been completed. A persistent request that another thread made is not known.
//! Reading takes any sequence: a call costs bounded time and memory.

use super::recorded::{self, described};
use super::sequences::Sequence;
use super::signature::{self, FROM_ROW, SequenceCall};
use kizami_model::meaning::{Meaning, Role, meaning, start_op};
use kizami_model::{Op, Peer, Shape};
use kizami_records::PEER_NULL;
use kizami_records::sequence_codec::{Begun, Completed, Ended, GOES_ON, REQUEST, SKIPS};
use kizami_sequence::{Call, Calls, Damage};
use kizami_trace::TraceError;
use rustc_hash::{FxHashMap, FxHashSet};

/// Calls that are looked ahead.
const AHEAD_MOST: u64 = 1 << 24;
/// Receives that are held: open ones, and outcomes of those that were looked past. Also persistent requests.
const HELD_MOST: usize = 1 << 20;
/// Items and values of one list, at most.
const LIST_MOST: usize = 1 << 22;
/// Requests that one call completes, at most.
const COMPLETES_MOST: usize = 1 << 24;

/// The calls of a sequence; see [`Sequence::calls`].
pub struct SequenceCalls<'a> {
    sequence: &'a Sequence,
    walk: Walk<'a>,
    /// Made when it is first needed.
    ahead: Option<Box<Ahead<'a>>>,
    /// What persistent requests stand for, by the lower half of their number.
    persistent: FxHashMap<u32, SequenceCall>,
    /// Parts of the call before that are still to come, and what they have in common.
    parts: Option<(Starts, SequenceCall)>,
    failed: bool,
}

impl<'a> SequenceCalls<'a> {
    pub(super) fn of(sequence: &'a Sequence) -> SequenceCalls<'a> {
        SequenceCalls {
            sequence,
            walk: Walk::new(sequence),
            ahead: None,
            persistent: FxHashMap::default(),
            parts: None,
            failed: false,
        }
    }

    /// The next call, and the bytes with which sums and sketches have it: of a receive that does not wait and
    /// was recorded, those it was posted for.
    pub fn next_counted(&mut self) -> Option<Result<(SequenceCall, u64), TraceError>> {
        if let Some((starts, common)) = &mut self.parts {
            if let Some(started) = starts.next() {
                let part = common.clone();
                return Some(Ok((self.started(part, started), 0)));
            }
            self.parts = None;
        }
        if self.failed {
            return None;
        }
        let item = self.walk.advance()?;
        let call = item.and_then(|item| self.call(&item));
        self.failed = call.is_err();
        Some(call.map_err(|damage| TraceError::damaged(&self.sequence.path, damage.to_string())))
    }

    fn call(&mut self, item: &Item) -> Result<(SequenceCall, u64), Damage> {
        let Sequence { rank, near, .. } = self.sequence;
        let (signature, values) = (&item.call.signature, item.values());
        if signature.flags & FROM_ROW != 0 {
            let mut call = near.call(*rank, signature, values);
            call.request = item.request;
            call.completes = self.walk.completed()?;
            let counted = call.bytes_out.unwrap_or(0) | call.bytes_in.unwrap_or(0);
            return Ok((call, counted));
        }
        let (mut call, counted) = described(near, *rank, signature, values);
        call.request = item.request;
        match meaning(call.op) {
            Meaning { shape: Shape::Completion, .. } => call.completes = self.walk.completed()?,
            Meaning { shape: Shape::Start, .. } => call = self.start(call, item.next),
            Meaning { role: Role::Receive, .. } => call = self.posted(call, false),
            Meaning { role: Role::SendReceive, .. } => call = self.posted(call, true),
            Meaning { role: Role::Persistent, .. } => {
                if let Some(request) = call.request.filter(|_| self.persistent.len() < HELD_MOST) {
                    self.persistent.insert(request as u32, call.clone());
                }
                (call.bytes_out, call.bytes_in) = (None, None);
                call.tag = call.tag.filter(|_| !call.any_tag);
            }
            Meaning { role: Role::Plain | Role::Free, .. } => {}
        }
        Ok((call, counted))
    }

    /// A receive as its row has it when all is over.
    fn posted(&mut self, mut call: SequenceCall, second_half: bool) -> SequenceCall {
        let posted_bytes = call.bytes_in.take();
        let (source, tag) = match second_half {
            true => (&mut call.recv_peer, &mut call.recv_tag),
            false => (&mut call.peer, &mut call.tag),
        };
        *tag = tag.filter(|_| !call.any_tag);
        let Some(request) = call.request.filter(|_| *source != Peer::Null) else { return call };
        let sequence = self.sequence;
        let ahead = self.ahead.get_or_insert_with(|| Box::new(Ahead::new(sequence)));
        match ahead.outcome(request, self.walk.steps) {
            Some(Ended::AsPosted { .. }) => call.bytes_in = posted_bytes,
            Some(Ended::Received { peer, tag: found, bytes }) => {
                *source = sequence.near.peer(sequence.rank, call.comm, peer);
                *tag = Some(found);
                call.bytes_in = (*source != Peer::Null).then_some(bytes);
            }
            // Its row stays as posted: nothing came.
            Some(Ended::Cancelled) | None => {}
        }
        call
    }

    /// A start; what it begins is the call itself or comes as parts behind it.
    fn start(&mut self, call: SequenceCall, first: u64) -> SequenceCall {
        let mut starts = Starts::new(std::mem::take(&mut self.walk.list), first);
        if call.op == start_op() && starts.left() == 1 {
            let only = starts.next();
            return only.map_or(call.clone(), |only| self.started(call, only));
        }
        let common = SequenceCall { op: start_op(), calls: 0, failed: false, ..call.clone() };
        self.parts = Some((starts, common));
        call
    }

    /// One started persistent request as the call that made it described it.
    fn started(&mut self, call: SequenceCall, (request, persistent): (u64, u32)) -> SequenceCall {
        let Some(made) = self.persistent.get(&persistent) else {
            return SequenceCall { request: Some(request), ..call };
        };
        let receives = meaning(made.op).shape == Shape::Receive;
        let SequenceCall { op, calls, callsite, failed, .. } = call;
        let started = SequenceCall { op, calls, callsite, failed, request: Some(request), ..made.clone() };
        if receives { self.posted(started, false) } else { started }
    }
}

impl Iterator for SequenceCalls<'_> {
    type Item = Result<SequenceCall, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_counted().map(|call| call.map(|(call, _)| call))
    }
}

/// Goes through a sequence, counting requests.
struct Walk<'a> {
    calls: Calls<'a>,
    /// The number that the next request gets.
    next: u64,
    /// The list of the call before, as values.
    list: Vec<u64>,
    /// Calls so far.
    steps: u64,
}

/// A call of the sequence.
struct Item {
    call: Call,
    /// How many of its values are not of its list.
    before_list: usize,
    /// The request that it began.
    request: Option<u64>,
    /// The number that was next before it.
    next: u64,
}

impl Item {
    fn values(&self) -> &[u64] {
        &self.call.values()[..self.before_list]
    }
}

impl<'a> Walk<'a> {
    fn new(sequence: &'a Sequence) -> Walk<'a> {
        Walk { calls: sequence.folded.calls(), next: 1, list: Vec::new(), steps: 0 }
    }

    /// The next call; its list is in `list`.
    fn advance(&mut self) -> Option<Result<Item, Damage>> {
        let call = match self.calls.next()? {
            Ok(call) => call,
            Err(damage) => return Some(Err(damage)),
        };
        self.steps += 1;
        let flags = call.signature.flags;
        let from_row = flags & FROM_ROW != 0;
        let before_list = match from_row {
            true => signature::values_before_list(flags),
            false => recorded::values_before_list(&call.signature),
        };
        let before_list = before_list.min(call.values().len());
        let mut item = Item { call, before_list, request: None, next: self.next };
        if let Err(damage) = self.read_list(&item) {
            return Some(Err(damage));
        }
        if flags & REQUEST != 0 {
            let skipped = item.values().last().filter(|_| flags & SKIPS != 0);
            let skipped = skipped.map_or(0, |skipped| *skipped as i32);
            let number = self.next.saturating_add_signed(i64::from(skipped));
            self.next = number.saturating_add(1);
            item.request = Some(number);
        } else if !from_row && meaning(Op(call.signature.op)).shape == Shape::Start {
            self.next = self.list.iter().fold(self.next, |next, value| after(next, Begun::of(*value)));
        }
        Some(Ok(item))
    }

    fn read_list(&mut self, item: &Item) -> Result<(), Damage> {
        self.list.clear();
        self.list.extend_from_slice(&item.call.values()[item.before_list..]);
        let mut goes_on = item.call.signature.flags & GOES_ON != 0;
        let mut items = 0;
        while goes_on {
            // Where a recording ended in the middle of a list, the list ends.
            let Some(more) = self.calls.next() else { break };
            let more = more?;
            self.list.extend_from_slice(more.values());
            goes_on = more.signature.flags & GOES_ON != 0;
            items += 1;
            if items.max(self.list.len()) > LIST_MOST {
                return Err(Damage::Nonsense("a list of requests is longer than any"));
            }
        }
        Ok(())
    }

    /// The entries of the list of completed requests, with the number of the first of each.
    fn entries(&self) -> impl Iterator<Item = (u64, Ended)> + '_ {
        let request = |ago: i32| self.next.saturating_add_signed(-i64::from(ago));
        Completed(&self.list).map(move |(ago, ended)| (request(ago), ended))
    }

    /// The requests of the list, one by one.
    fn completed(&self) -> Result<Vec<u64>, Damage> {
        let mut requests = Vec::new();
        for (first, ended) in self.entries() {
            let count = if let Ended::AsPosted { count } = ended { count } else { 1 };
            requests.extend(first..first.saturating_add(u64::from(count)));
            if requests.len() > COMPLETES_MOST {
                return Err(Damage::Nonsense("a call completes more requests than any could"));
            }
        }
        Ok(requests)
    }
}

/// The number that is next after an entry of a start's list.
fn after(next: u64, begun: Begun) -> u64 {
    match begun {
        Begun::Skipped(skipped) => next.saturating_add_signed(i64::from(skipped)),
        Begun::Run { count, .. } => next.saturating_add(u64::from(count)),
    }
}

/// What a start began: numbers of requests, and lower halves of the numbers of their persistent requests.
struct Starts {
    list: std::vec::IntoIter<u64>,
    /// The persistent request that comes next, and how many follow in a row.
    run: (u32, u32),
    next: u64,
}

impl Starts {
    fn new(list: Vec<u64>, next: u64) -> Starts {
        Starts { list: list.into_iter(), run: (0, 0), next }
    }

    /// How many there are, before the first was taken.
    fn left(&self) -> u64 {
        let count = |value: &u64| match Begun::of(*value) {
            Begun::Skipped(_) => 0,
            Begun::Run { count, .. } => u64::from(count),
        };
        self.list.as_slice().iter().map(count).sum()
    }
}

impl Iterator for Starts {
    type Item = (u64, u32);

    fn next(&mut self) -> Option<(u64, u32)> {
        while self.run.1 == 0 {
            match Begun::of(self.list.next()?) {
                Begun::Run { persistent, count } => self.run = (persistent, count),
                skipped => self.next = after(self.next, skipped),
            }
        }
        let started = (self.next, self.run.0);
        self.run = (self.run.0.wrapping_add(1), self.run.1 - 1);
        self.next = self.next.saturating_add(1);
        Some(started)
    }
}

/// The walk that looks what comes of receives.
struct Ahead<'a> {
    walk: Walk<'a>,
    /// Receives that are open where it is.
    open: FxHashSet<u64>,
    /// Outcomes that were not requested yet.
    arrived: FxHashMap<u64, Ended>,
    /// Persistent requests that receive.
    persistent: FxHashSet<u32>,
}

impl<'a> Ahead<'a> {
    fn new(sequence: &'a Sequence) -> Ahead<'a> {
        Ahead {
            walk: Walk::new(sequence),
            open: FxHashSet::default(),
            arrived: FxHashMap::default(),
            persistent: FxHashSet::default(),
        }
    }

    /// What came of a receive, which is so many calls from the beginning; must be asked for each in their order.
    fn outcome(&mut self, request: u64, steps: u64) -> Option<Ended> {
        loop {
            if let Some(ended) = self.arrived.remove(&request) {
                return Some(ended);
            }
            let full = self.open.len() + self.arrived.len() >= HELD_MOST;
            let far = self.walk.steps.saturating_sub(steps) >= AHEAD_MOST;
            if full || far || !self.advance() {
                // Nobody will ask again.
                self.open.remove(&request);
                return None;
            }
        }
    }

    /// One call further; false at the end.
    fn advance(&mut self) -> bool {
        let Some(Ok(item)) = self.walk.advance() else { return false };
        let signature = &item.call.signature;
        if signature.flags & FROM_ROW != 0 {
            return true;
        }
        let Meaning { shape, role } = meaning(Op(signature.op));
        match (role, shape, item.request) {
            (Role::Receive, _, Some(request)) if signature.peer != PEER_NULL => {
                self.open.insert(request);
            }
            (Role::SendReceive, _, Some(request)) if signature.recv_peer != PEER_NULL => {
                self.open.insert(request);
            }
            (Role::Persistent, Shape::Receive, Some(request))
                if signature.peer != PEER_NULL && self.persistent.len() < HELD_MOST =>
            {
                self.persistent.insert(request as u32);
            }
            (_, Shape::Start, _) => {
                let starts = Starts::new(std::mem::take(&mut self.walk.list), item.next);
                let receives =
                    starts.take(HELD_MOST).filter(|(_, persistent)| self.persistent.contains(persistent));
                self.open.extend(receives.map(|(request, _)| request));
            }
            (_, Shape::Completion, _) if !self.open.is_empty() => self.complete(),
            _ => {}
        }
        true
    }

    fn complete(&mut self) {
        let each = self.walk.entries().flat_map(|(first, ended)| {
            let count = if let Ended::AsPosted { count } = ended { count } else { 1 };
            (first..first.saturating_add(u64::from(count))).map(move |request| (request, ended))
        });
        for (request, ended) in each.take(COMPLETES_MOST) {
            if self.open.remove(&request) {
                self.arrived.insert(request, ended);
            }
        }
    }
}

//! The ranks of one collective on their way through it: when each of them has come how far, and what a message between
//! them does to that.
//!
//! Costs are those of [`Messages`]. A link is shared fairly by all messages that are on it at a time: of messages that one
//! rank sends at the same moment, each is there when it and as much of the others has gone through. An exchange in both
//! directions costs what was measured for one. It knows no algorithm.

use crate::Messages;
use std::collections::VecDeque;

/// What messages of one size cost.
#[derive(Clone, Copy)]
pub struct Cost {
    /// Their size.
    bytes: u64,
    /// The sender.
    pub sending: f64,
    /// From leaving to being there.
    pub way: f64,
    /// The receiver, of a message that is there.
    pub receiving: f64,
    /// The link, of each of many.
    pub occupied: f64,
    /// The link, of each of many while as many come the other way.
    pub occupied_both_ways: f64,
    /// All three together.
    pub message: f64,
    /// Of both directions at once.
    pub exchange: f64,
    /// It sets out when its receiver is ready, not before.
    pub waits: bool,
    /// How long the receiver takes to say so.
    asking: f64,
}

impl Cost {
    /// As given.
    pub fn of(bytes: u64, net: &(impl Messages + ?Sized)) -> Cost {
        let (message, exchange, occupied) =
            (net.message_ns(bytes), net.exchange_ns(bytes), net.occupied_ns(bytes));
        Cost {
            bytes,
            sending: net.sending_ns(bytes),
            way: net.way_ns(bytes),
            receiving: net.receiving_ns(bytes),
            occupied,
            occupied_both_ways: occupied + (exchange - message).max(0.0),
            message,
            exchange,
            waits: bytes > net.eager_limit_bytes(),
            asking: net.asking_ns(),
        }
    }

    /// What a rank spends in an exchange in any case, though its partner came long before.
    pub fn own(&self) -> f64 {
        (self.sending + self.receiving).min(self.exchange)
    }

    /// When a receiver has a message: it was sent, and waited for, since then.
    pub fn taken(&self, sent: f64, waited: f64) -> f64 {
        if self.waits {
            sent.max(waited + self.asking) + self.message
        } else {
            waited.max(sent + self.sending + self.way) + self.receiving
        }
    }

    /// When a rank has finished an exchange that it, the one it receives from, and the one it sends to entered.
    fn exchanged(&self, own: f64, from: f64, to: f64) -> f64 {
        if self.waits {
            own.max(from).max(to) + self.exchange
        } else {
            (own + self.own()).max(from + self.exchange)
        }
    }
}

/// All ranks.
pub struct Walk<'a, M: ?Sized> {
    /// How far each of them is, in nanoseconds.
    pub now: Vec<f64>,
    /// Where they were before a round.
    before: Vec<f64>,
    net: &'a M,
}

impl<'a, M: Messages + ?Sized> Walk<'a, M> {
    /// They come at these times.
    pub fn new(now: Vec<f64>, net: &'a M) -> Walk<'a, M> {
        Walk { before: Vec::with_capacity(now.len()), now, net }
    }

    /// How many there are.
    pub fn ranks(&self) -> usize {
        self.now.len()
    }

    /// What a message of this size costs.
    pub fn cost(&self, bytes: u64) -> Cost {
        Cost::of(bytes, self.net)
    }

    /// The last one.
    pub fn last(&self) -> f64 {
        self.now.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The time all of them are at, if they are together.
    pub fn together(&self) -> Option<f64> {
        let first = *self.now.first()?;
        self.now.iter().all(|now| *now == first).then_some(first)
    }

    /// All of them leave at once.
    pub fn set_all(&mut self, now: f64) {
        self.now.fill(now);
    }

    /// One sends and waits until it may go on, the other receives.
    pub fn message(&mut self, from: usize, to: usize, cost: &Cost) {
        let sent = self.now[from];
        self.now[to] = cost.taken(sent, self.now[to]);
        self.now[from] = if cost.waits { self.now[to] } else { sent + cost.sending };
    }

    /// One sends to others, one after the other. It goes on at once after a message that does not wait for its receiver, so
    /// such messages share its link with those that follow.
    pub fn send_in_turn(&mut self, from: usize, messages: &[(usize, Cost)]) {
        let mut rest = messages;
        while !rest.is_empty() {
            let without_waiting = rest.iter().take_while(|(_, cost)| !cost.waits).count();
            let (together, behind) = rest.split_at((without_waiting + 1).min(rest.len()));
            self.send_at_once(from, together);
            rest = behind;
        }
    }

    /// One sends to others at the same moment, and waits until it may go on.
    pub fn send_at_once(&mut self, from: usize, messages: &[(usize, Cost)]) {
        let sent = self.now[from];
        let flows = messages.iter().map(|(to, cost)| {
            let begins = cost.taken(sent, self.now[*to]) - cost.occupied;
            Flow { begins, bytes: cost.bytes.max(1) as f64, link: cost.occupied, end: begins }
        });
        let mut flows: Vec<Flow> = flows.collect();
        share(&mut flows);
        let mut goes_on = sent;
        for (index, ((to, cost), flow)) in messages.iter().zip(&flows).enumerate() {
            self.now[*to] = flow.end;
            let own = if cost.waits { flow.end } else { sent + cost.sending * (index + 1) as f64 };
            goes_on = goes_on.max(own);
        }
        self.now[from] = goes_on;
    }

    /// One sends the same number of equal messages to each of some others at the same moment.
    pub fn send_many(
        &mut self,
        from: usize,
        to: impl ExactSizeIterator<Item = usize>,
        each: u64,
        cost: &Cost,
    ) {
        let messages = to.len() as u64 * each;
        if messages == 0 {
            return;
        }
        let sent = self.now[from];
        let shared = sent + (messages - 1) as f64 * cost.occupied;
        let mut goes_on = if cost.waits { sent } else { sent + cost.sending * messages as f64 };
        for to in to {
            self.now[to] = cost.taken(shared, self.now[to]);
            goes_on = if cost.waits { goes_on.max(self.now[to]) } else { goes_on };
        }
        self.now[from] = goes_on;
    }

    /// One receives an equal message from each of all others at the same time.
    pub fn receive_from_all(&mut self, to: usize, cost: &Cost) {
        let ready = self.now[to];
        let mut starts: Vec<f64> = (0..self.ranks())
            .filter(|from| *from != to)
            .map(|from| cost.taken(self.now[from], ready) - cost.occupied)
            .collect();
        starts.sort_unstable_by(f64::total_cmp);
        // Each goes over the receiver's link when the one before has.
        let done = starts.iter().fold(f64::NEG_INFINITY, |free, start| start.max(free) + cost.occupied);
        for from in (0..self.ranks()).filter(|from| *from != to) {
            self.now[from] = if cost.waits { done } else { self.now[from] + cost.sending };
        }
        self.now[to] = done.max(ready);
    }

    /// Two exchange messages, each of its own size.
    pub fn exchange(&mut self, one: usize, other: usize, sends: &Cost, gets: &Cost) {
        let (here, there) = (self.now[one], self.now[other]);
        let end = |own: f64, partner: f64, out: &Cost, into: &Cost| {
            let sent = if out.waits { own.max(partner) + out.exchange } else { own + out.sending };
            into.exchanged(own, partner, partner).max(sent)
        };
        self.now[one] = end(here, there, sends, gets);
        self.now[other] = end(there, here, gets, sends);
    }

    /// Every rank sends to the one at a distance, and receives from the one at the same distance behind.
    pub fn shift(&mut self, distance: usize, cost: &Cost) {
        let ranks = self.ranks();
        let distance = distance % ranks;
        let (before, now) = self.round();
        for (rank, now) in now.iter_mut().enumerate() {
            let from = if rank >= distance { rank - distance } else { rank + ranks - distance };
            let to = if rank + distance < ranks { rank + distance } else { rank + distance - ranks };
            *now = cost.exchanged(before[rank], before[from], before[to]);
        }
    }

    /// Every rank exchanges with the given partner; with none if there is none.
    pub fn exchange_all(&mut self, cost: &Cost, partner: impl Fn(usize) -> Option<usize>) {
        let (before, now) = self.round();
        for (rank, now) in now.iter_mut().enumerate() {
            if let Some(partner) = partner(rank) {
                *now = cost.exchanged(before[rank], before[partner], before[partner]);
            }
        }
    }

    /// Every rank sends to the next one and receives from the one before, `steps` times, but not more often than around.
    ///
    /// In each step a rank is delayed by itself or by the one before. So in the end it is delayed by a rank up to
    /// `steps` before it, and by those that came late, most.
    pub fn shift_around(&mut self, steps: usize, cost: &Cost) {
        let ranks = self.ranks();
        let all = steps as f64;
        if cost.waits {
            let last = self.last();
            return self.set_all(last + all * cost.exchange);
        }
        let (own, gain) = (cost.own(), cost.exchange - cost.own());
        let (before, now) = self.round();
        let mut latest: VecDeque<(usize, f64)> = VecDeque::new();
        for place in 0..2 * ranks {
            // Counted back to one place, to compare ranks it depends on later with those it depends on earlier.
            let value = before[place % ranks] - place as f64 * gain;
            while latest.back().is_some_and(|(_, other)| *other <= value) {
                latest.pop_back();
            }
            latest.push_back((place, value));
            while latest.front().is_some_and(|(other, _)| other + steps < place) {
                latest.pop_front();
            }
            if let (true, Some((_, value))) = (place >= ranks, latest.front()) {
                now[place - ranks] = value + place as f64 * gain + all * own;
            }
        }
    }

    /// Where they are, kept, and where they will be.
    fn round(&mut self) -> (&[f64], &mut [f64]) {
        self.before.clone_from(&self.now);
        (&self.before, &mut self.now)
    }
}

/// A message on a link that it shares with others.
struct Flow {
    /// When it reaches the link.
    begins: f64,
    /// What is left of it.
    bytes: f64,
    /// How long it would have the link if it were alone.
    link: f64,
    /// When it is through.
    end: f64,
}

/// Lets messages share a link: as long as they are on it, as many bytes of each go through.
fn share(flows: &mut [Flow]) {
    if let [only] = flows {
        only.end = only.begins + only.link;
        return;
    }
    flows.iter_mut().for_each(|flow| flow.link /= flow.bytes);
    let mut now = f64::NEG_INFINITY;
    loop {
        let left = || flows.iter().filter(|flow| flow.bytes > 0.0);
        let next =
            left().map(|flow| flow.begins).filter(|begins| *begins > now).fold(f64::INFINITY, f64::min);
        let per_byte: f64 = left().filter(|flow| flow.begins <= now).map(|flow| flow.link).sum();
        let fewest =
            left().filter(|flow| flow.begins <= now).map(|flow| flow.bytes).fold(f64::INFINITY, f64::min);
        if fewest == f64::INFINITY {
            if next == f64::INFINITY {
                return;
            }
            now = next;
            continue;
        }
        let until = next.min(now + fewest * per_byte);
        let through = if until < next { fewest } else { (until - now) / per_byte.max(f64::MIN_POSITIVE) };
        for flow in flows.iter_mut().filter(|flow| flow.bytes > 0.0 && flow.begins <= now) {
            flow.bytes = if flow.bytes <= through { 0.0 } else { flow.bytes - through };
            flow.end = until;
        }
        now = until;
    }
}

/// The link of a rank that has two receives ready, so that at most two messages share it.
pub struct TwoReceives {
    /// When the one before the last, and all before it, were there.
    pub ready: f64,
    /// The last one: from when on it has the link, and how long it needs it from there.
    last: Option<(f64, f64)>,
}

impl TwoReceives {
    /// A rank entered it.
    pub fn new(came: f64) -> TwoReceives {
        TwoReceives { ready: came, last: None }
    }

    /// A message reaches the link and needs it so long. Returns when the one before is there.
    pub fn take(&mut self, begins: f64, needs: f64) -> Option<f64> {
        let (end, last) = match self.last {
            None => (None, (begins, needs)),
            Some((from, left)) if from + left <= begins => (Some(from + left), (begins, needs)),
            Some((from, left)) => {
                // Whoever was there first had it alone until the other came.
                let (left, needs) =
                    (left - (begins - from).max(0.0), (needs - (from - begins).max(0.0)).max(0.0));
                let both = begins.max(from);
                let end = both + left + left.min(needs);
                let (until, rest) =
                    if left <= needs { (end, needs - left) } else { (both + 2.0 * needs, 0.0) };
                (Some(end), (until, rest))
            }
        };
        // They are waited for in order.
        self.ready = end.map_or(self.ready, |end| end.max(self.ready));
        self.last = Some(last);
        end
    }

    /// When the last one is there.
    pub fn end(&self) -> f64 {
        self.last.map_or(self.ready, |(from, left)| (from + left).max(self.ready))
    }
}

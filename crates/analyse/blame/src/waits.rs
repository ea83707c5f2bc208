//! All waiting of a run: totals by pattern, rank and place, and the longer waits one by one. Totals also hold what
//! collectives took once all had entered; that is no waiting, and no rank is to blame for it.
//!
//! Watches the first walk of a graph. Waits shorter than a limit are only in the totals; the limit rises when there
//! would be too many to keep, so that memory is bounded.

use crate::pair_interner::PairInterner;
use crate::pattern::Pattern;
use kizami_model::{Length, Moment, Op};
use kizami_parallel::map;
use kizami_replay::{EndedStep, Message, Observer};
use rustc_hash::FxHashMap;

/// Shorter waits are not looked at one by one.
const SHORTEST: Length = Length(1_000);
/// Waits of one thread of the walk that are kept one by one.
const MOST_WAITS: usize = 16 << 20;
/// Late messages a rank has waited for that are remembered, to see whether it could have taken another one first.
const REMEMBERED: usize = 4;

/// One wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongWait {
    /// The step that waited.
    pub step: u64,
    /// The step that was waited for.
    pub of: u64,
    /// When it began to wait.
    pub from: Moment,
    /// When that came.
    pub until: Moment,
    /// The strand that waited.
    pub strand: u32,
    /// The strand that was waited for.
    pub of_strand: u32,
    /// In a call at this place; see [`LongWait::site`].
    site: u32,
    /// In a call of this function.
    pub op: Op,
    /// In which way.
    pub pattern: Pattern,
}

/// Waits are many, and this leaves them 48 bytes each.
const NO_SITE: u32 = u32::MAX;

impl LongWait {
    /// How long it was.
    pub fn length(&self) -> Length {
        self.until - self.from
    }

    /// Index of the place of the call.
    pub fn site(&self) -> Option<u32> {
        (self.site != NO_SITE).then_some(self.site)
    }
}

/// All waits of one pattern, by one strand, at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// How many.
    pub count: u64,
    /// How long together.
    pub time: Length,
}

/// Where waits are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// In which way.
    pub pattern: Pattern,
    /// Who waited.
    pub strand: u32,
    /// In a call at this place.
    pub site: Option<u32>,
    /// Of this function.
    pub op: Op,
}

/// What is known so far.
#[derive(Default)]
pub struct Waits {
    /// Added up.
    pub totals: FxHashMap<Key, Total>,
    /// The same while the run is walked, by strand.
    numbers: PairInterner<(Pattern, Option<u32>, Op)>,
    adding: Vec<(Key, Total)>,
    /// Those that are longer, one by one.
    pub long: Vec<LongWait>,
    shortest: Length,
    /// By strand: late messages waited for, the last one last.
    late: Vec<Vec<Late>>,
    /// When the message the step waits for was sent; the latest of those it takes.
    sent: Option<Moment>,
}

#[derive(Clone, Copy)]
struct Late {
    sent: Moment,
    key: Key,
    length: Length,
    /// Its step, to find it among the long ones.
    step: u64,
}

impl Waits {
    /// None yet.
    pub fn new() -> Waits {
        Waits { shortest: SHORTEST, ..Waits::default() }
    }

    /// Of all threads of a walk; long ones in the order in which they ended, the last first, and those for the same
    /// step together.
    pub fn all(mut parts: Vec<Waits>) -> Waits {
        let order = |wait: &LongWait| (std::cmp::Reverse(wait.until), wait.of, wait.step);
        map(&mut parts, |part| part.long.sort_unstable_by_key(order));
        let mut all = Waits::new();
        for part in parts {
            for (key, total) in part.adding {
                let sum = all.totals.entry(key).or_default();
                (sum.count, sum.time) = (sum.count + total.count, sum.time + total.time);
            }
            if all.long.is_empty() {
                all.long = part.long;
            } else {
                // Both are in order, and this way of sorting makes use of that.
                all.long.extend(part.long);
                all.long.sort_by_key(order);
            }
        }
        all
    }

    /// Adds what a collective took once all had come.
    fn completion(&mut self, seen: &EndedStep<'_, 0>) {
        let (Some(came), op) = (seen.all_came, seen.step.op()) else { return };
        let Some(pattern) = Pattern::of_completion(op) else { return };
        let length = seen.step.end - came.clamp(seen.step.start, seen.step.end);
        if length > Length::ZERO {
            let key = Key { pattern, strand: seen.strand, site: seen.step.site(), op };
            let total = self.total(key);
            (total.count, total.time) = (total.count + 1, total.time + length);
        }
    }

    fn total(&mut self, key: Key) -> &mut Total {
        let (number, new) = self.numbers.number(key.strand as usize, (key.pattern, key.site, key.op));
        if new {
            self.adding.push((key, Total::default()));
        }
        &mut self.adding[number].1
    }

    fn keep(&mut self, wait: LongWait) {
        if wait.length() < self.shortest {
            return;
        }
        if self.long.len() >= MOST_WAITS {
            self.shortest = self.shortest * 2;
            let shortest = self.shortest;
            self.long.retain(|wait| wait.length() >= shortest);
        }
        self.long.push(wait);
    }
}

impl Observer<0> for Waits {
    fn step(&mut self, seen: &EndedStep<'_, 0>) {
        let sent = self.sent.take();
        self.completion(seen);
        let Some(wait) = seen.wait else { return };
        // Clocks of different hosts may say that a rank came after its partners had left.
        let until = wait.until.min(seen.step.end);
        let length = until - seen.step.start;
        if length <= Length::ZERO {
            return;
        }
        let op: Op = seen.step.op();
        let pattern = Pattern::of(wait.kind, op);
        let key = Key { pattern, strand: seen.strand, site: seen.step.site(), op };
        let total = self.total(key);
        (total.count, total.time) = (total.count + 1, total.time + length);
        self.keep(LongWait {
            step: seen.index,
            of: wait.step,
            from: seen.step.start,
            until,
            strand: seen.strand,
            of_strand: wait.strand,
            site: seen.step.site().unwrap_or(NO_SITE),
            op,
            pattern,
        });
        if pattern == Pattern::LateSender {
            let strand = seen.strand as usize;
            if strand >= self.late.len() {
                self.late.resize_with(strand + 1, Vec::new);
            }
            let late = &mut self.late[strand];
            if late.len() == REMEMBERED {
                late.remove(0);
            }
            let sent = sent.map_or(wait.until, |sent| sent.max(wait.until));
            late.push(Late { sent, key, length, step: seen.index });
        }
    }

    /// A message that was sent before one its receiver has waited for already could have been taken first.
    fn message(&mut self, message: &Message) {
        self.sent = self.sent.max(Some(message.sent));
        let Some(late) = self.late.get_mut(message.strand as usize) else { return };
        // Waits of the step that takes both are no choice of the program.
        let Some(place) = late.iter().rposition(|late| late.sent > message.sent && late.step != message.step)
        else {
            return;
        };
        let wrong = late.remove(place);
        let total = self.total(wrong.key);
        (total.count, total.time) = (total.count - 1, total.time - wrong.length);
        let key = Key { pattern: Pattern::LateSenderWrongOrder, ..wrong.key };
        let total = self.total(key);
        (total.count, total.time) = (total.count + 1, total.time + wrong.length);
        if let Some(wait) = self.long.iter_mut().rev().take(1 << 12).find(|wait| wait.step == wrong.step) {
            wait.pattern = Pattern::LateSenderWrongOrder;
        }
    }
}

//! Comparing clocks: every host's representative asks the one above it in the tree.
//!
//! A question is a message there and back: the answer was read off the other clock somewhere between sending
//! and receiving, so the difference of the two clocks is known to within half the time it took, whatever the
//! network did. The tightest questions are kept as definitions; making a clock of them is for sealing. Hosts
//! ask in an order in which each host already knows what it passes on, and all pairs of one
//! round talk at the same time: as many rounds as the tree is deep.

use super::tree::Tree;
use crate::clock;
use crate::process::Process;
use kizami_records::Definition;
use std::time::Duration;

/// Questions at least, and at most.
const FEWEST: u32 = 16;
const MOST: u32 = 200;
/// Enough if so many in a row were no tighter than those before.
const ENOUGH: u32 = 30;
/// Enough if it took that long: on a crowded machine every question may wait for its turn.
const LONGEST: Duration = Duration::from_millis(3);
/// Tightest questions kept.
const KEPT: usize = 8;

/// Last word of a question: more will follow, or not.
const LAST: u64 = 0;
const MORE: u64 = 1;

/// How a host's clock stands to that of the root, as far as known during the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockOffset {
    /// To be added to the own clock, in nanoseconds.
    pub offset_ns: i64,
    /// How far off that may be.
    pub error_ns: u64,
}

/// One question and its answer.
#[derive(Clone, Copy, Debug)]
struct Question {
    sent: u64,
    /// In ticks of the other clock, and in nanoseconds.
    answer: u64,
    answer_ns: u64,
    received: u64,
}

impl Question {
    fn took(&self) -> u64 {
        self.received.saturating_sub(self.sent)
    }
}

/// Compares clocks once.
pub fn compare(hosts: &Tree, process: &Process, round: u32) -> ClockOffset {
    let offset =
        hosts.parent().map_or_else(ClockOffset::default, |parent| ask(hosts, parent, process, round));
    for child in hosts.children() {
        answer(hosts, child, process, offset);
    }
    offset
}

fn ask(hosts: &Tree, parent: u32, process: &Process, round: u32) -> ClockOffset {
    // One buffer for every round: asking allocates nothing.
    let mut kept = [Question { sent: 0, answer: 0, answer_ns: 0, received: u64::MAX }; KEPT];
    let (mut asked, mut since_better) = (0, 0);
    let begun = clock::monotonic_ns();
    loop {
        asked += 1;
        let long = u128::from(clock::monotonic_ns().saturating_sub(begun)) > LONGEST.as_nanos();
        let last = asked >= MOST || asked >= FEWEST && (since_better >= ENOUGH || long);
        let sent = clock::now();
        hosts.send(parent, &[if last { LAST } else { MORE }]);
        let [answer, answer_ns, reference, offset, error] = hosts.receive::<5>(parent);
        let question = Question { sent, answer, answer_ns, received: clock::now() };
        since_better = if question.took() < kept[0].took() { 0 } else { since_better + 1 };
        keep(&mut kept, question);
        if last {
            for kept in kept.iter().filter(|kept| kept.received != u64::MAX) {
                process.define(&Definition::ClockSample {
                    round,
                    reference: reference as u32,
                    sent_ticks: kept.sent,
                    reference_ticks: kept.answer,
                    received_ticks: kept.received,
                });
            }
            let half = kept[0].took() / 2;
            let own_ns = process.nanoseconds(kept[0].sent + half);
            let to_parent = kept[0].answer_ns.wrapping_sub(own_ns) as i64;
            let error_ns = error + process.nanoseconds_of(half);
            return ClockOffset { offset_ns: to_parent.wrapping_add(offset as i64), error_ns };
        }
    }
}

/// Keeps the tightest questions, tightest first.
fn keep(kept: &mut [Question; KEPT], question: Question) {
    if question.took() < kept[KEPT - 1].took() {
        kept[KEPT - 1] = question;
        kept.sort_unstable_by_key(Question::took);
    }
}

fn answer(hosts: &Tree, child: u32, process: &Process, offset: ClockOffset) {
    let reference = u64::from(process.world_rank().unwrap_or(0));
    loop {
        let [more] = hosts.receive::<1>(child);
        let now = clock::now();
        let now_ns = process.nanoseconds(now);
        hosts.send(child, &[now, now_ns, reference, offset.offset_ns as u64, offset.error_ns]);
        if more == LAST {
            return;
        }
    }
}

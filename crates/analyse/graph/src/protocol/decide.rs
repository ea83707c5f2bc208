//! From what was shown to what holds: does a send of this size between these hosts wait?

use super::evidence::{BySize, CLASSES, Evidence, class};
use super::hosts::Pairs;
use super::{Basis, Decision, Protocol, SURELY_RENDEZVOUS};
use crate::step::Tie;

/// Clocks are never perfect: one of so many that seems not to have waited proves nothing against the others.
const MISTAKES_IN: u64 = 50;
/// Fewer late receives than this prove nothing unexpected.
const ENOUGH: u64 = 3;
/// A class in which so many times as many sends were moved without their receiver has a library, or a network, that
/// works by itself.
const OWN_PROGRESS: u64 = 4;

/// What holds for one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub decision: Decision,
    pub basis: Basis,
    /// Whether receivers must be inside MPI for messages to move.
    pub needs_receiver: bool,
    /// Whether most of those with a late receiver waited for it.
    pub mostly_waits: bool,
}

/// All rules, by pair and class.
pub(crate) struct Rules(Vec<[Rule; CLASSES]>);

/// What is to be done with a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub decision: Decision,
    pub needs_receiver: bool,
    pub mostly_waits: bool,
}

impl Ruling {
    /// Whether the times of the send itself must be looked at.
    pub(crate) fn by_times(&self) -> bool {
        self.decision == Decision::ByTimes || self.decision == Decision::Waits && self.needs_receiver
    }
}

impl Rules {
    pub(super) fn new(pairs: &Pairs, evidence: &[BySize]) -> Rules {
        let kind = |between: bool| {
            let of_kind = pairs.list.iter().zip(evidence).filter(|(pair, _)| pair.between == between);
            let mut sum = [Evidence::NONE; CLASSES];
            for (_, of_pair) in of_kind {
                sum.iter_mut().zip(of_pair).for_each(|(sum, one)| *sum = sum.plus(one));
            }
            decided(&sum)
        };
        let kinds = [kind(false), kind(true)];
        let of_pair = |(pair, evidence): (&super::hosts::Pair, &BySize)| {
            rules(evidence, &kinds[usize::from(pair.between)])
        };
        Rules(pairs.list.iter().zip(evidence).map(of_pair).collect())
    }

    /// What holds for a send.
    #[inline]
    pub(crate) fn of(&self, pairs: &Pairs, tie: Tie) -> Ruling {
        let rule = self.0[pairs.of(tie.place())][class(tie.bytes())];
        let decision = match rule.decision {
            Decision::WaitsAbove(limit) if tie.bytes() > limit => Decision::Waits,
            Decision::WaitsAbove(_) => Decision::Eager,
            decision => decision,
        };
        Ruling { decision, needs_receiver: rule.needs_receiver, mostly_waits: rule.mostly_waits }
    }

    /// The same as rows: pairs of hosts in order, and of each the sizes there are sends of.
    pub(super) fn protocols(&self, pairs: &Pairs, evidence: &[BySize]) -> Vec<Protocol> {
        let mut rows = Vec::new();
        for ((pair, rules), evidence) in pairs.list.iter().zip(&self.0).zip(evidence) {
            for (rule, evidence) in rules.iter().zip(evidence).filter(|(_, evidence)| evidence.sends > 0) {
                rows.push(Protocol {
                    from_host: pair.from,
                    to_host: pair.to,
                    within_host: !pair.between,
                    from_bytes: evidence.smallest_bytes,
                    to_bytes: evidence.largest_bytes,
                    sends: evidence.sends,
                    shown: evidence.shown,
                    decision: rule.decision,
                    basis: rule.basis,
                });
            }
        }
        rows
    }
}

/// What late receives decide by themselves; nothing for classes without.
fn decided(evidence: &BySize) -> [Option<Decision>; CLASSES] {
    let mut decided = [None; CLASSES];
    // Sends that did not wait, of the classes above.
    let mut eager_above = 0;
    for class in (0..CLASSES).rev() {
        let alone = alone(&evidence[class], class_is_large(class));
        // Who waits though larger ones do not waits for something else: full buffers, or a core.
        let waits = matches!(alone, Some(Decision::Waits | Decision::WaitsAbove(_)));
        let contradicted = waits && eager_above > evidence[class].shown.after_post;
        decided[class] = if contradicted { Some(Decision::ByTimes) } else { alone };
        eager_above += evidence[class].shown.before_post;
    }
    decided
}

/// What late receives of one class decide. Against what holds for every library we know, three must speak.
fn alone(evidence: &Evidence, large: bool) -> Option<Decision> {
    let shown = evidence.shown;
    let not_waited = shown.before_post + shown.when_in_mpi;
    let enough = large || shown.after_post >= ENOUGH;
    match (shown.before_post, shown.waited()) {
        (0, 0) => None,
        (few, 0) if large && few < ENOUGH => None,
        (_, 0) => Some(Decision::Eager),
        // Late progress alone does not say that large ones do not wait for their receive.
        _ if large && shown.all() == shown.late_progress => None,
        _ if !enough || shown.after_post == 0 => Some(Decision::ByTimes),
        _ if not_waited * MISTAKES_IN <= shown.after_post => Some(Decision::Waits),
        _ => match (evidence.largest_eager_bytes, evidence.smallest_waiting_bytes) {
            (Some(eager), Some(waiting)) if eager < waiting && shown.when_in_mpi == 0 => {
                Some(Decision::WaitsAbove(eager))
            }
            _ => Some(Decision::ByTimes),
        },
    }
}

/// Rules of one pair of hosts; where it has shown nothing, by what all of its kind have.
fn rules(evidence: &BySize, of_kind: &[Option<Decision>; CLASSES]) -> [Rule; CLASSES] {
    let own = decided(evidence);
    std::array::from_fn(|class| {
        let evidence = &evidence[class];
        let (decision, basis) = None
            .or(own[class].map(|decision| (decision, Basis::Seen)))
            .or_else(|| by_other_sizes(&own, class).map(|decision| (decision, Basis::OtherSizes)))
            .or_else(|| of_kind[class].map(|decision| (decision, Basis::OtherHosts)))
            .or_else(|| by_other_sizes(of_kind, class).map(|decision| (decision, Basis::OtherHosts)))
            .unwrap_or((by_size(class), Basis::Size));
        let late = evidence.shown.late_progress + evidence.shown.when_in_mpi;
        let needs_receiver = late > 0 && evidence.own_progress <= OWN_PROGRESS * late;
        let mostly_waits = evidence.shown.waited() > evidence.shown.before_post;
        Rule { decision, basis, needs_receiver, mostly_waits }
    })
}

/// Larger ones do not wait, so these do not; smaller ones wait, so these do.
fn by_other_sizes(decided: &[Option<Decision>; CLASSES], of: usize) -> Option<Decision> {
    let eager = decided[of + 1..]
        .iter()
        .any(|decision| matches!(decision, Some(Decision::Eager | Decision::WaitsAbove(_))));
    let waits = decided[..of]
        .iter()
        .any(|decision| matches!(decision, Some(Decision::Waits | Decision::WaitsAbove(_))));
    match (eager, waits) {
        (true, false) => Some(Decision::Eager),
        (false, true) => Some(Decision::Waits),
        _ => None,
    }
}

/// Whether the sizes of a class are above those that may not wait; the border itself is the smallest of a class.
fn class_is_large(of: usize) -> bool {
    of >= class(SURELY_RENDEZVOUS)
}

fn by_size(of: usize) -> Decision {
    if class_is_large(of) { Decision::WaitsAbove(SURELY_RENDEZVOUS) } else { Decision::Eager }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Shown;

    const NOTHING: [Option<Decision>; CLASSES] = [None; CLASSES];

    /// Sends of one size: those over before their receive was posted, and those over after.
    fn evidence_of(bytes: u64, before_post: u64, after_post: u64) -> Evidence {
        Evidence {
            sends: before_post + after_post,
            smallest_bytes: bytes,
            largest_bytes: bytes,
            shown: Shown { before_post, after_post, ..Shown::default() },
            own_progress: 0,
            largest_eager_bytes: (before_post > 0).then_some(bytes),
            smallest_waiting_bytes: (after_post > 0).then_some(bytes),
        }
    }

    fn all(evidence_of: &[Evidence]) -> BySize {
        let mut evidence = [Evidence::NONE; CLASSES];
        for one in evidence_of {
            let sum = &mut evidence[class(one.smallest_bytes)];
            *sum = sum.plus(one);
        }
        evidence
    }

    fn decisions(evidence_of: &[Evidence], sizes: &[u64]) -> Vec<(Decision, Basis)> {
        let rules = rules(&all(evidence_of), &NOTHING);
        sizes.iter().map(|bytes| rules[class(*bytes)]).map(|rule| (rule.decision, rule.basis)).collect()
    }

    #[test]
    fn where_nothing_was_late_sizes_decide() {
        let large = (Decision::WaitsAbove(SURELY_RENDEZVOUS), Basis::Size);
        let small = (Decision::Eager, Basis::Size);
        assert_eq!(decisions(&[], &[8, 60_000, 65_536, 1 << 20]), [small, small, large, large]);
    }

    #[test]
    fn other_sizes_decide_about_sizes_that_were_never_late() {
        use {Basis::*, Decision::*};
        let evidence_of = [evidence_of(1_000, 9, 0), evidence_of(16_000, 0, 9)];
        let sizes = [8, 1_000, 4_000, 16_000, 60_000, 1 << 20];
        let expected = [
            (Eager, OtherSizes),
            (Eager, Seen),
            (Eager, Size),
            (Waits, Seen),
            (Waits, OtherSizes),
            (Waits, OtherSizes),
        ];
        assert_eq!(decisions(&evidence_of, &sizes), expected);
    }

    #[test]
    fn a_limit_within_a_class_is_the_largest_send_that_did_not_wait() {
        let evidence_of = [
            evidence_of(4_032, 9, 0),
            evidence_of(4_040, 0, 9),
            evidence_of(4_090, 0, 9),
            evidence_of(2_100, 9, 0),
        ];
        assert_eq!(decisions(&evidence_of, &[4_000]), [(Decision::WaitsAbove(4_032), Basis::Seen)]);
    }

    #[test]
    fn sends_that_wait_only_now_and_then_are_judged_one_by_one() {
        let by_times = [(Decision::ByTimes, Basis::Seen)];
        assert_eq!(decisions(&[evidence_of(1_000, 9, 9)], &[1_000]), by_times);
        // Larger ones do not wait: these waited for something else.
        assert_eq!(decisions(&[evidence_of(1_000, 0, 3), evidence_of(8_000, 9, 0)], &[1_000]), by_times);
        // Twice is not enough to say that all small ones wait, nor that large ones do not.
        assert_eq!(decisions(&[evidence_of(1_000, 0, 2)], &[1_000]), by_times);
        let large = (Decision::WaitsAbove(SURELY_RENDEZVOUS), Basis::Size);
        assert_eq!(decisions(&[evidence_of(1 << 20, 2, 0)], &[1 << 20]), [large]);
        // One in a hundred that seems to have been over before is the clock's mistake.
        assert_eq!(decisions(&[evidence_of(8_000, 1, 99)], &[8_000]), [(Decision::Waits, Basis::Seen)]);
    }

    #[test]
    fn large_sends_may_turn_out_not_to_wait() {
        let evidence_of = [evidence_of(1 << 20, 9, 0)];
        let expected = [(Decision::Eager, Basis::OtherSizes), (Decision::Eager, Basis::Seen)];
        assert_eq!(decisions(&evidence_of, &[100_000, 1 << 20]), expected);
    }

    #[test]
    fn where_a_pair_of_hosts_has_shown_nothing_others_decide() {
        let of_kind = decided(&all(&[evidence_of(8_000, 0, 9)]));
        let rules = rules(&all(&[evidence_of(100, 9, 0)]), &of_kind);
        let of = |bytes| (rules[class(bytes)].decision, rules[class(bytes)].basis);
        assert_eq!(of(100), (Decision::Eager, Basis::Seen));
        assert_eq!(of(8_000), (Decision::Waits, Basis::OtherHosts));
        assert_eq!(of(16_000), (Decision::Waits, Basis::OtherHosts));
    }
}

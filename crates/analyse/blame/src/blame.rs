//! Who made others wait, and with what.
//!
//! While a rank waits for another, that other does something: it computes, is inside a call, or waits itself for a
//! third. What it did in just the time it was waited for is to blame. Where it waited itself, the blame goes on to
//! whom it waited for: that part is *propagated*. So every nanosecond of waiting ends at computation or at a call of
//! a rank, or before the first call. Where all of a collective are waited for, those who are not there yet share
//! the blame (`lateness`).
//!
//! What is passed on keeps the stretch of time it belongs to: a rank is not blamed for what it did before any rank was
//! held up by it. A wait keeps only a few stretches apart, so that memory and time stay in proportion to the number of
//! waits, and of those who were late for each. Ranks are looked at in shares, each by a thread (`inquiry`); what comes out does not depend on how many there are.

use crate::case::Case;
use crate::culprit::Blamed;
use crate::inquiry::{Inquiry, ShareResult};
use crate::marks::ByStep;
use crate::waits::LongWait;
use kizami_graph::Graph;
use kizami_parallel::{Mailboxes, map};

/// Finds who is to blame, with so many threads. `waits` are those of a run, the last to end first, and those for the same step
/// together.
pub fn blame(graph: &Graph, waits: &[LongWait], by_step: &ByStep, threads: usize) -> Blamed {
    let case = Case::new(graph, waits, by_step, threads);
    let shares = case.shares.count();
    let mailboxes = Mailboxes::new(shares);
    // Every owner of a mailbox tells the others if it fails: also the first, if a thread cannot start.
    let seats = (0..shares).map(|own| (own, mailboxes.of(own)));
    let found = map(seats, |(own, mailbox)| Inquiry::new(&case, own).look(&mailbox));
    Blamed::of_shares(found)
}

impl Blamed {
    /// Of all shares, in their order.
    fn of_shares(shares: Vec<ShareResult>) -> Blamed {
        let mut all = Blamed::default();
        for found in shares {
            for (culprit, blame) in found.culprits {
                // Strands of one rank lie together.
                let strands =
                    all.culprits.iter_mut().rev().take_while(|(known, _)| known.rank == culprit.rank);
                match strands.into_iter().find(|(known, _)| *known == culprit) {
                    Some((_, sum)) => sum.add(&blame),
                    None => all.culprits.push((culprit, blame)),
                }
            }
            for (doing, waited) in found.waited {
                all.waited.entry(doing).or_default().merge(waited);
            }
            all.excesses.extend(found.excesses);
        }
        all
    }
}

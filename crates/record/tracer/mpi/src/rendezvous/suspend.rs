//! Stopping together: all ranks write out what they recorded at the same time and go on at the same time.
//!
//! After the method of Okita, Ino and Hagihara. Each rank notes when it stopped. The ranks agree whether any of
//! them is above the threshold; if so, each writes its records out. The root learns when, on the common clock,
//! the first of them stopped, and so how long that is ago, `w`; all will have stopped for
//! `Z = w + m log2 P + d`, where `m` is the time of a message and `d` how far the clocks may be off. (Here four
//! times `m log2 P`, twice `d`: announcing and confirming take time, too.) `Z` goes
//! down the tree, and each rank goes on `Z` after it stopped. As all were stopped for the same time, taking the
//! stop out again gives the run as it would have been.
//!
//! What is added to the method: a rank that learns of `Z` too late (its disk write held up the message) would go
//! on late. So after `Z` was announced, the ranks settle whether all of them have enough time left; if not, `Z` grows
//! and they settle again. How late each rank did go on is recorded with the stop.

use super::Rendezvous;
use crate::call::Call;
use crate::clock;
use crate::process::Process;
use crate::settings::{self, Suspension};
use kizami_model::StopReason;
use std::time::Duration;

/// Part of a window that may be full before ranks stop: the rest is for what comes before they meet.
const THRESHOLD: f64 = 0.5;
/// A sleeping rank is woken that long before it is to go on; the rest it waits awake.
const AWAKE: Duration = Duration::from_micros(200);
/// How long a rank leaves the core to the others on it when a stop is over. Waking up takes longer.
const FOR_THE_OTHERS: Duration = Duration::from_micros(1);
/// A rank waits no longer than this, whatever others say.
const LONGEST: Duration = Duration::from_secs(60);
/// Times `Z` may grow.
const MOST_EXTENSIONS: usize = 8;

/// How fast windows fill.
#[derive(Debug, Default)]
pub struct Pace {
    /// Bytes in the window after the last meeting.
    filled: u64,
    /// Time of one message, as last seen.
    message_ns: u64,
}

impl Rendezvous {
    /// Settles whether to stop, and stops. Returns how many collectives later to settle it again.
    pub(super) fn suspend_if_full(&mut self, call: &mut Call, process: &Process) -> u64 {
        let start = clock::now();
        let Some(everyone) = &self.everyone else { return 1 };
        let crowded = everyone.crowded;
        let filled = process.filled_bytes() + call.thread().open_bytes();
        let capacity = process.window_bytes().max(1);
        let growth = filled.saturating_sub(self.pace.filled) / self.waited.max(1);
        // Shares in millionths, so that ranks with different windows can be compared.
        let share = |bytes: u64| (bytes as f64 / capacity as f64 * 1e6) as u64;
        let asked_ns = clock::monotonic_ns();
        let due = u64::from(everyone.rank == 0 && self.clocks_are_due());
        let [fullest, fastest, due] = everyone.most([share(filled), share(growth).max(1), due]);
        let took_ns = clock::monotonic_ns() - asked_ns;
        self.pace.message_ns = took_ns / u64::from(2 * everyone.depth());
        let threshold = (THRESHOLD * 1e6) as u64;
        let full = fullest >= threshold;
        let (reason, late_ticks) = if full {
            let _exact = crowded.then(ExactSleep::begin);
            (StopReason::Suspended, self.suspend(process, start))
        } else if due != 0 {
            self.compare_clocks(process);
            (StopReason::ClockRound, 0)
        } else {
            (StopReason::Settling, 0)
        };
        call.thread().record_stop(start, clock::now(), reason, late_ticks);
        if full && crowded {
            // The others on this core are to see, too, that the stop is over, before one of them computes on. Yielding
            // is not enough: the scheduler may hold that it is still this rank's turn.
            std::thread::sleep(FOR_THE_OTHERS);
        }
        self.pace.filled = process.filled_bytes() + call.thread().open_bytes();
        // Halfway to the threshold at the present pace: the pace may change.
        let left = if full { threshold } else { threshold - fullest };
        let most = if self.several_hosts { super::LONGEST_WAIT } else { u64::MAX };
        (left / (2 * fastest) + 1).min(most).min(super::FASTEST_GROWTH * self.waited)
    }

    /// Stops until all may go on; returns how late this rank was, in ticks.
    fn suspend(&mut self, process: &Process, start: u64) -> u64 {
        let suspension = settings::get().suspension;
        if suspension == Suspension::Dynamic && self.several_hosts {
            self.compare_clocks(process);
            self.announce_host();
        }
        process.write_out();
        let length_ns = match suspension {
            Suspension::Static(length) => length.as_nanos() as u64,
            Suspension::Dynamic | Suspension::Unmeasured => self.agree(process, start),
        };
        let deadline = start + process.ticks_of(length_ns.min(LONGEST.as_nanos() as u64));
        let crowded = self.everyone.as_ref().is_some_and(|everyone| everyone.crowded);
        wait_until(process, deadline, crowded);
        clock::now().saturating_sub(deadline)
    }

    /// For how long all ranks will have stopped: `Z`.
    fn agree(&self, process: &Process, start: u64) -> u64 {
        let Some(everyone) = &self.everyone else { return 0 };
        let common_ns = |ticks| process.nanoseconds(ticks).wrapping_add(self.offset.offset_ns as u64);
        // The first start is the largest when counted backwards.
        let [first, error] = everyone.most_to_root([!common_ns(start), self.offset.error_ns]);
        let margin_ns = 2 * self.pace.message_ns * u64::from(everyone.depth()) + error;
        let since_first = common_ns(clock::now()).saturating_sub(!first);
        // Telling `Z` takes half a margin, settling it another.
        let [mut length_ns, margin_ns] = everyone.by_root([since_first + 2 * margin_ns, margin_ns]);
        for _ in 0..MOST_EXTENSIONS {
            let asked = clock::now();
            let stopped_ns = process.nanoseconds_of(asked.saturating_sub(start));
            // Ranks that are behind say by how much; none is if all are well before the end.
            let behind_ns = (stopped_ns + margin_ns).saturating_sub(length_ns);
            let [most_behind_ns] = everyone.most([behind_ns]);
            if most_behind_ns == 0 {
                break;
            }
            // The time of this exchange bounds that of the next announcement.
            let exchange_ns = process.nanoseconds_of(clock::now() - asked);
            let [longest_exchange_ns] = everyone.most([exchange_ns]);
            length_ns += most_behind_ns + 2 * longest_exchange_ns;
        }
        length_ns
    }
}

/// Waits awake, or asleep for most of the time if others need the core. Giving the core away again and again while
/// waiting would leave this rank in debt: the scheduler would let the others on this core run for as many turns.
fn wait_until(process: &Process, deadline: u64, crowded: bool) {
    loop {
        let left_ticks = deadline.saturating_sub(clock::now());
        if left_ticks == 0 {
            return;
        }
        let left = Duration::from_nanos(process.nanoseconds_of(left_ticks));
        if crowded && left > AWAKE {
            std::thread::sleep(left - AWAKE);
        } else {
            std::hint::spin_loop();
        }
    }
}

/// While this lives the thread wakes from sleep when it asked to, not up to 50 us later.
struct ExactSleep {
    typical_slack_ns: libc::c_int,
}

impl ExactSleep {
    fn begin() -> ExactSleep {
        // SAFETY: plain questions and orders about this thread's own timers.
        unsafe {
            let typical_slack_ns = libc::prctl(libc::PR_GET_TIMERSLACK);
            libc::prctl(libc::PR_SET_TIMERSLACK, 1);
            ExactSleep { typical_slack_ns }
        }
    }
}

impl Drop for ExactSleep {
    fn drop(&mut self) {
        // SAFETY: as above. Zero would mean the default, which is what an unknown value becomes.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, self.typical_slack_ns.max(0)) };
    }
}

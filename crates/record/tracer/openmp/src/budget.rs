//! How much recording tasks may cost: with `--openmp auto` they are recorded until that has taken a part of a thread's time,
//! and only counted from then on, by all threads of the process.
//!
//! Who was recorded when he was made is recorded to his end, so what is recorded is whole in itself. Nobody goes back.

use crate::clock;
use kizami_tracer_core::clock::monotonic_ns;
use kizami_tracer_core::settings::{self, OpenMp};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The part of a thread's time that recording may take: one of so many.
const ONE_OF: u128 = 20;
/// What a cost is counted in, of a tick.
const COST_UNIT: u128 = 1024;

static SPENT: AtomicBool = AtomicBool::new(false);

/// Whether tasks are only counted from now on.
#[inline(always)]
pub fn is_spent() -> bool {
    SPENT.load(Ordering::Relaxed)
}

/// What a thread has spent on recording.
pub struct Budget {
    /// What may be spent whatever part it is; none where nothing is limited.
    grace: Option<Duration>,
    /// Of a record, in 1/1024 tick.
    cost: u64,
    records: u64,
    began_ticks: u64,
    began_ns: u64,
}

impl Budget {
    /// Of a thread that begins now, with what a record costs in 1/1024 tick.
    pub fn new(cost: u64) -> Budget {
        let grace = match settings::get().openmp {
            OpenMp::Auto(grace) => Some(grace),
            _ => None,
        };
        Budget { grace, cost, records: 0, began_ticks: clock::now(), began_ns: monotonic_ns() }
    }

    /// So many more were recorded.
    #[cold]
    pub fn spend(&mut self, records: u64) {
        self.records += records;
        let Some(grace) = self.grace.filter(|_| !is_spent()) else { return };
        let spent_ticks = u128::from(self.records) * u128::from(self.cost) / COST_UNIT;
        let passed_ticks = u128::from(clock::now().saturating_sub(self.began_ticks)).max(1);
        let passed_ns = u128::from(monotonic_ns().saturating_sub(self.began_ns));
        let spent_ns = spent_ticks * passed_ns / passed_ticks;
        if spent_ns > grace.as_nanos() && spent_ticks * ONE_OF > passed_ticks {
            SPENT.store(true, Ordering::Relaxed);
        }
    }
}

//! How long a run's tasks take on so many processors: what is known of it at once, and a simulation of it in the background.

use crate::slot::{Answer, Slot};
use kizami_model::Length;
use kizami_tasks::{self as tasks, Bounds, Part, Strategy, Survey, schedule};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// So many tasks are simulated while the page waits.
const AT_ONCE: usize = 20_000;
/// Schedules that are kept, at most.
const MOST: usize = 256;

/// What so many processors do.
#[derive(Debug, Default)]
struct Scheduled {
    bounds: OnceLock<(Length, Length)>,
    simulated: Slot<tasks::Scheduled>,
}

/// What so many processors do, as far as it is known.
#[derive(Clone, Debug)]
pub struct ScheduleBounds {
    /// No run is shorter.
    pub at_least: Length,
    /// One that leaves no processor idle while a task is ready is no longer; once simulated, that schedule is not.
    pub at_most: Length,
    /// With tasks given out one by one.
    pub simulated: Answer<tasks::Scheduled>,
    /// How tasks are given out, if that can be followed.
    pub strategy: Strategy,
}

type Key = (u32, u8);

/// All that were asked for.
#[derive(Debug, Default)]
pub struct Schedules {
    known: Mutex<Vec<(Key, Arc<Scheduled>)>>,
    /// Whoever has it simulates; others wait for their turn.
    turn: Arc<Mutex<()>>,
}

impl Schedules {
    /// With so many processors; simulated in the background if there are many tasks.
    pub fn of(&self, survey: &Arc<Survey>, processors: u32, strategy: Strategy) -> ScheduleBounds {
        // More processors than tasks do what as many do.
        let processors = processors.clamp(1, survey.graph().len().max(1) as u32);
        let scheduled = self.scheduled((processors, strategy as u8));
        let bounds = scheduled.bounds.get_or_init(|| {
            let (curve, _) = survey.curve(Part::All);
            let bounds = Bounds::of(survey.graph()).with_peak(curve.peak());
            (bounds.at_least(processors), bounds.at_most(processors))
        });
        let own = (Arc::clone(&scheduled), Arc::clone(survey), Arc::clone(&self.turn));
        let simulate = move || {
            let (scheduled, survey, turn) = own;
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            // Failures are kept in the slot.
            drop(scheduled.simulated.wait(|_| Ok(schedule(survey.graph(), processors, strategy))));
        };
        match scheduled.simulated.begun() {
            true => {}
            false if survey.graph().len() <= AT_ONCE => simulate(),
            false => drop(std::thread::spawn(simulate)),
        }
        let simulated = scheduled.simulated.peek();
        // Delays of idle threads, and threads that a runtime leaves idle, are known then.
        let at_most = match &simulated {
            Answer::Ready(simulated) => simulated.at_most,
            _ => bounds.1,
        };
        ScheduleBounds { at_least: bounds.0, at_most, simulated, strategy }
    }

    fn scheduled(&self, key: Key) -> Arc<Scheduled> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scheduled)) = known.iter().find(|(other, _)| *other == key) {
            return Arc::clone(scheduled);
        }
        if known.len() >= MOST {
            known.remove(0);
        }
        let scheduled = Arc::new(Scheduled::default());
        known.push((key, Arc::clone(&scheduled)));
        scheduled
    }
}

//! When a thread was not working for the program: stretches to be taken out of running times.
//!
//! Their records come late, after the pieces they fall into have ended. So they are read before anything is followed, and
//! asked for in the order of time.

use kizami_records::threading::{AwayBy, ThreadEvent};

/// A stretch, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Absence {
    /// From.
    pub from: u64,
    /// To.
    pub to: u64,
    /// Whether the tracer was busy with itself; else the system took the processor.
    pub by_tracer: bool,
}

/// All absences in the events. `ticks_at` turns nanoseconds of the system's clock into ticks.
pub fn absences(
    events: impl Iterator<Item = (u64, ThreadEvent)>,
    ticks_at: impl Fn(u64) -> u64,
) -> Vec<Absence> {
    let mut found: Vec<Absence> = events
        .filter_map(|(at, event)| match event {
            ThreadEvent::Away { by: AwayBy::System, from, to } => {
                Some((at, ticks_at(from), ticks_at(to), false))
            }
            ThreadEvent::Away { by: AwayBy::Tracer, from, to } => Some((at, from, to, true)),
            _ => None,
        })
        // An absence later than its record is damage.
        .map(|(at, from, to, by_tracer)| Absence { from, to: to.min(at), by_tracer })
        .filter(|absence| absence.from < absence.to)
        .collect();
    found.sort_unstable();
    apart(found)
}

/// Makes sorted stretches disjoint: what two of them have in common is the system's, if it is one of them.
fn apart(sorted: Vec<Absence>) -> Vec<Absence> {
    let system: Vec<Absence> = joined(sorted.iter().filter(|absence| !absence.by_tracer));
    let tracer: Vec<Absence> = joined(sorted.iter().filter(|absence| absence.by_tracer));
    let (mut all, mut first) = (system.clone(), 0);
    for Absence { mut from, to, .. } in tracer {
        while system.get(first).is_some_and(|other| other.to <= from) {
            first += 1;
        }
        for other in system[first..].iter().take_while(|other| other.from < to) {
            if from < other.from {
                all.push(Absence { from, to: other.from, by_tracer: true });
            }
            from = from.max(other.to);
        }
        if from < to {
            all.push(Absence { from, to, by_tracer: true });
        }
    }
    all.sort_unstable();
    all
}

/// Sorted stretches of one kind, those that touch put together.
fn joined<'a>(sorted: impl Iterator<Item = &'a Absence>) -> Vec<Absence> {
    let mut all: Vec<Absence> = Vec::new();
    for absence in sorted {
        match all.last_mut() {
            Some(last) if last.to >= absence.from => last.to = last.to.max(absence.to),
            _ => all.push(*absence),
        }
    }
    all
}

/// The absences of a thread, asked for in the order of time.
#[derive(Debug, Default)]
pub(crate) struct Absences {
    list: Vec<Absence>,
    next: usize,
}

/// How long a stretch of running really was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ran {
    pub running: u64,
    pub system: u64,
    pub tracer: u64,
}

impl Absences {
    pub(crate) fn new(list: Vec<Absence>) -> Absences {
        Absences { list, next: 0 }
    }

    /// From one moment to another; never earlier than what was asked before.
    pub(crate) fn ran(&mut self, from: u64, to: u64) -> Ran {
        while self.list.get(self.next).is_some_and(|absence| absence.to <= from) {
            self.next += 1;
        }
        let mut ran = Ran { running: to.saturating_sub(from), ..Ran::default() };
        for absence in self.list[self.next..].iter().take_while(|absence| absence.from < to) {
            let length = absence.to.min(to).saturating_sub(absence.from.max(from));
            *(if absence.by_tracer { &mut ran.tracer } else { &mut ran.system }) += length;
            ran.running = ran.running.saturating_sub(length);
        }
        ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_comes_first_and_nothing_counts_twice() {
        let away = |by, from, to| (1_000, ThreadEvent::Away { by, from, to });
        let events = [
            away(AwayBy::Tracer, 10, 50),
            away(AwayBy::System, 20, 30),
            away(AwayBy::System, 25, 35),
            away(AwayBy::Tracer, 60, 55),
            away(AwayBy::System, 900, 2_000),
        ];
        let found = absences(events.into_iter(), |ns| ns);
        let listed: Vec<_> = found.iter().map(|a| (a.from, a.to, a.by_tracer)).collect();
        assert_eq!(listed, [(10, 20, true), (20, 35, false), (35, 50, true), (900, 1_000, false)]);
        let mut absences = Absences::new(found);
        assert_eq!(absences.ran(0, 15), Ran { running: 10, system: 0, tracer: 5 });
        assert_eq!(absences.ran(15, 40), Ran { running: 0, system: 15, tracer: 10 });
        assert_eq!(absences.ran(40, 100), Ran { running: 50, system: 0, tracer: 10 });
    }
}

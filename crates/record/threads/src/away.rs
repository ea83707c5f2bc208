//! When a thread was not working for the program: stretches to be taken out of running times; and when it slept, which is part
//! of them.
//!
//! Their records come late, after the pieces they fall into have ended. So they are read before anything is followed, and
//! asked for in the order of time.

use kizami_records::threading::{AwayBy, ThreadEvent};

/// A stretch, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    /// From.
    pub from: u64,
    /// To.
    pub to: u64,
    /// The system took the processor, the tracer was busy with itself, or the thread slept.
    pub by: AwayBy,
}

/// All absences in the events. `ticks_at` turns nanoseconds of the system's clock into ticks.
pub fn absences(
    events: impl Iterator<Item = (u64, ThreadEvent)>,
    ticks_at: impl Fn(u64) -> u64,
) -> Vec<Absence> {
    let mut found: Vec<Absence> = events
        .filter_map(|(at, event)| match event {
            ThreadEvent::Away { by: AwayBy::Tracer, from, to } => Some((at, from, to, AwayBy::Tracer)),
            ThreadEvent::Away { by, from, to } => Some((at, ticks_at(from), ticks_at(to), by)),
            _ => None,
        })
        // An absence later than its record is damage.
        .map(|(at, from, to, by)| Absence { from, to: to.min(at), by })
        .filter(|absence| absence.from < absence.to)
        .collect();
    found.sort_unstable_by_key(|absence| (absence.from, absence.to));
    // What two of them have in common is the system's, if it is one of them; else the tracer's.
    [AwayBy::System, AwayBy::Tracer, AwayBy::Asleep].into_iter().fold(Vec::new(), |known, by| {
        let more = joined(found.iter().filter(|absence| absence.by == by));
        beside(known, more)
    })
}

/// Adds sorted stretches to others, without what they have in common with those.
fn beside(known: Vec<Absence>, more: Vec<Absence>) -> Vec<Absence> {
    let (mut all, mut first) = (known.clone(), 0);
    for Absence { mut from, to, by } in more {
        while known.get(first).is_some_and(|other| other.to <= from) {
            first += 1;
        }
        for other in known[first..].iter().take_while(|other| other.from < to) {
            if from < other.from {
                all.push(Absence { from, to: other.from, by });
            }
            from = from.max(other.to);
        }
        if from < to {
            all.push(Absence { from, to, by });
        }
    }
    all.sort_unstable_by_key(|absence| absence.from);
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
    /// With the time it slept.
    pub running: u64,
    pub system: u64,
    pub tracer: u64,
    pub asleep: u64,
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
            let (part, runs) = match absence.by {
                AwayBy::System => (&mut ran.system, false),
                AwayBy::Tracer => (&mut ran.tracer, false),
                // Whatever it sleeps for is its own doing, and takes that long on any machine.
                AwayBy::Asleep => (&mut ran.asleep, true),
            };
            *part += length;
            if !runs {
                ran.running = ran.running.saturating_sub(length);
            }
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
            away(AwayBy::Asleep, 45, 70),
        ];
        let found = absences(events.into_iter(), |ns| ns);
        let listed: Vec<_> = found.iter().map(|a| (a.from, a.to, a.by)).collect();
        let (system, tracer, asleep) = (AwayBy::System, AwayBy::Tracer, AwayBy::Asleep);
        let expected = [(10, 20, tracer), (20, 35, system), (35, 50, tracer), (50, 70, asleep)];
        assert_eq!(listed, [&expected[..], &[(900, 1_000, system)]].concat());
        let mut absences = Absences::new(found);
        assert_eq!(absences.ran(0, 15), Ran { running: 10, tracer: 5, ..Ran::default() });
        assert_eq!(absences.ran(15, 40), Ran { system: 15, tracer: 10, ..Ran::default() });
        assert_eq!(absences.ran(40, 100), Ran { running: 50, tracer: 10, asleep: 20, ..Ran::default() });
    }
}

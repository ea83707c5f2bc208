//! Over made-up programs that a small runtime runs: pieces have the work and the span of the program, whatever ran where.

mod simulated;

use kizami_records::threading::{AwayBy, Dependence, Purpose, TaskName, ThreadEvent, WaitFor};
use kizami_rng::SplitMix64;
use kizami_threads::{
    Followed, Listener, Need, Piece, PieceKind, RegionRun, Settings, ThreadInput, absences, follow,
};
use simulated::program::{Ideal, program};
use simulated::runtime::{Events, Runtime};
use std::convert::Infallible;

/// All that was reported, with virtual times worked out.
#[derive(Default)]
struct Collected {
    pieces: Vec<Piece>,
    starts: Vec<u64>,
    ends: Vec<u64>,
    regions: Vec<RegionRun>,
}

impl Listener for Collected {
    type Error = Infallible;

    fn piece(&mut self, piece: &Piece, needs: &[Need]) -> Result<(), Infallible> {
        assert_eq!(piece.number, self.pieces.len() as u64 + 1);
        assert!(piece.created <= piece.start && piece.start <= piece.end, "{piece:?}");
        assert!(piece.tracer <= piece.running && piece.running <= piece.end - piece.start, "{piece:?}");
        let made = piece.parent.map_or(0, |parent| {
            assert!(parent < piece.number);
            let parent = parent as usize - 1;
            assert!(piece.parent_running <= self.pieces[parent].running);
            self.starts[parent] + piece.parent_running
        });
        let start = needs.iter().fold(made, |start, need| {
            assert!(need.of < piece.number && need.at <= piece.start, "{piece:?} needs {need:?}");
            start.max(self.ends[need.of as usize - 1])
        });
        self.pieces.push(*piece);
        self.starts.push(start);
        self.ends.push(start + piece.running);
        Ok(())
    }

    fn region(&mut self, region: &RegionRun) -> Result<(), Infallible> {
        assert!(self.regions.last().is_none_or(|before| before.start <= region.start));
        self.regions.push(*region);
        Ok(())
    }
}

impl Collected {
    fn of(threads: &[Events], most_held: usize) -> (Collected, Followed) {
        let inputs = threads.iter().enumerate().map(|(number, events)| ThreadInput {
            stream: number as u32,
            is_first: number == 0,
            record_cost: 0,
            absences: absences(events.iter().cloned(), |ns| ns),
            events: events.iter().cloned(),
        });
        let mut collected = Collected::default();
        let Ok(followed) = follow(inputs.collect(), Settings { most_held }, &mut collected);
        assert_eq!(followed.pieces, collected.pieces.len() as u64);
        (collected, followed)
    }

    fn work(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.running).sum()
    }

    fn span(&self) -> u64 {
        self.ends.iter().copied().max().unwrap_or(0)
    }
}

#[test]
fn pieces_have_the_work_and_the_span_of_the_program() {
    for seed in 1..2_000 {
        let threads = 1 + (seed % 4) as usize;
        let program = program(&mut SplitMix64::new(seed), threads);
        let ideal = Ideal::of(&program);
        let events = Runtime::run(&program, threads, seed);
        for most_held in [1 << 18, 50, 3, 1] {
            let (collected, followed) = Collected::of(&events, most_held);
            assert_eq!((followed.strange, followed.orphans), (0, 0), "seed {seed}");
            assert_eq!(collected.work(), ideal.work, "work, seed {seed}, {most_held} held");
            assert_eq!(collected.span(), ideal.span, "span, seed {seed}, {most_held} held");
            let tasks = collected.pieces.iter().filter(|piece| piece.kind == PieceKind::Task).count();
            assert_eq!(tasks as u64, ideal.tasks);
            assert_eq!(collected.regions.iter().map(|region| region.tasks).sum::<u64>(), ideal.tasks);
            let inside: u64 = collected.regions.iter().map(|region| region.running).sum();
            assert!(
                inside <= ideal.work
                    && collected.regions.iter().all(|region| region.longest <= region.running)
            );
        }
    }
}

#[test]
fn any_part_of_what_threads_leave_can_be_followed() {
    for seed in 1..400 {
        let mut random = SplitMix64::new(seed);
        let program = program(&mut random, 3);
        let mut threads = Runtime::run(&program, 3, seed);
        for events in &mut threads {
            match random.below(3) {
                // As a kill leaves it.
                0 => events.truncate(random.index(events.len() + 1)),
                // As a lost chunk leaves it.
                1 => {
                    let from = random.index(events.len());
                    let to = (from + random.index(20)).min(events.len());
                    events.drain(from..to);
                }
                _ => {}
            }
        }
        let (collected, _) = Collected::of(&threads, 5);
        assert!(
            collected.work()
                <= Ideal::of(&program).work
                    + threads.iter().flatten().map(|(at, _)| *at).max().unwrap_or(0) * 3
        );
    }
}

#[test]
fn nonsense_is_left_out() {
    for seed in 1..400 {
        let mut random = SplitMix64::new(seed);
        let threads: Vec<Events> = (0..3)
            .map(|_| {
                let mut at = 0;
                (0..300)
                    .map(|_| {
                        at += random.below(10);
                        (at, anything(&mut random))
                    })
                    .collect()
            })
            .collect();
        for most_held in [4, 1 << 18] {
            Collected::of(&threads, most_held);
        }
    }
}

fn anything(random: &mut SplitMix64) -> ThreadEvent {
    let waits = [WaitFor::Barrier, WaitFor::EndOfRegion, WaitFor::Children, WaitFor::Group, WaitFor::Lock];
    let purposes = [Purpose::In, Purpose::Out, Purpose::Exclusive, Purpose::Set];
    let what = waits[random.index(5)];
    match random.below(14) {
        0 => ThreadEvent::Anew { at_ticks: 0, created: random.below(20) },
        1 | 2 => ThreadEvent::Create { site: 0 },
        3 => ThreadEvent::Depend(vec![Dependence {
            address: random.below(3),
            purpose: purposes[random.index(4)],
        }]),
        4 | 5 => ThreadEvent::Begin(TaskName { stream: random.below(4) as u32, number: random.below(30) }),
        6 => ThreadEvent::End,
        7 => ThreadEvent::Wait { what, site: 0 },
        8 => ThreadEvent::Waited(what),
        9 => ThreadEvent::Group,
        10 => ThreadEvent::Share { index: 0, region: random.below(4) },
        11 => ThreadEvent::ShareEnd,
        12 => ThreadEvent::Region {
            site: 0,
            region: random.below(4),
            runtime: kizami_threads::Runtime::Unknown,
        },
        _ => match random.below(4) {
            0 => ThreadEvent::Leave,
            1 => ThreadEvent::Away { by: AwayBy::System, from: random.below(999), to: random.below(999) },
            _ => ThreadEvent::RegionEnd,
        },
    }
}

//! Records what processes that share a walk do between its meetings, for any number of processes on however few cores.
//!
//! ```text
//! cargo run --release -p kizami-replay --example walk_rounds -- RANKS ITERATIONS PROCESSES > rounds.txt
//! ```
//!
//! Each process is a thread, and they walk in turn, so that it can be told what each takes. Whose turn it is finds nothing of its
//! own in the caches, because the others had their turns: alone it would be faster. The walk is made three times, and the least
//! counts: meetings are the same each time. Printed are how many processes and meetings there are, and the nanoseconds that one
//! process alone takes; then of each meeting whether letters are for all (`a`) or for each (`e`), the nanoseconds each process took
//! before it, and the letters: the bytes of each process's letter for all; or how many there are, and sender, receiver and bytes.
//! `bench/scaling.py` has a simulator put that together.

use kizami_graph::{Builder, Graph};
use kizami_network::Fit;
use kizami_replay::{
    LaneMoment, Letter, Network, Observer, Processes, Reading, Seen, Setting, Told, Workers, learn, replay_by,
};
use kizami_testing::{Costs, Stencil};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

const LANES: usize = 8;
const TIMES: usize = 3;

/// The end of the run in each lane.
#[derive(Debug, PartialEq)]
struct End([LaneMoment; LANES]);

impl Observer<LANES> for End {
    fn step(&mut self, seen: &Seen<'_, LANES>) {
        self.0.iter_mut().zip(seen.end).for_each(|(end, step)| *end = step.max(*end));
    }
}

impl Told<LANES> for End {
    fn write(&self, letter: &mut Letter) {
        self.0.iter().for_each(|end| letter.signed(end.0));
    }

    fn read(&mut self, letter: &mut Reading<'_>) -> Option<()> {
        for end in &mut self.0 {
            *end = LaneMoment(letter.signed()?);
        }
        Some(())
    }
}

/// What all have in common.
#[derive(Debug)]
struct Meeting {
    /// How many turns there have been.
    turns: Mutex<usize>,
    next: Condvar,
    /// By receiver and sender.
    letters: Vec<Vec<Mutex<VecDeque<Vec<u8>>>>>,
}

/// What one did before a meeting.
#[derive(Clone, Debug)]
struct Done {
    ns: u128,
    letters: Letters,
}

/// Lengths of the letters that one comes with.
#[derive(Clone, Debug)]
enum Letters {
    ToAll(usize),
    /// By receiver.
    ToEach(Vec<usize>),
}

/// One of the processes.
#[derive(Debug)]
struct Process {
    own: usize,
    meeting: Arc<Meeting>,
    since: Mutex<Instant>,
    meetings: Mutex<Vec<Done>>,
}

impl Process {
    fn new(own: usize, meeting: &Arc<Meeting>) -> Process {
        Process {
            own,
            meeting: meeting.clone(),
            since: Mutex::new(Instant::now()),
            meetings: Mutex::default(),
        }
    }

    /// Waits until it is this one's turn for the so-manieth time.
    fn wait(&self, time: usize) {
        let turn = time * self.count() + self.own;
        let turns = self.meeting.turns.lock().unwrap();
        let turns = self.meeting.next.wait_while(turns, |turns| *turns < turn).unwrap();
        drop(turns);
        *self.since.lock().unwrap() = Instant::now();
    }

    /// It is the next one's turn.
    fn pass_on(&self) {
        *self.meeting.turns.lock().unwrap() += 1;
        self.meeting.next.notify_all();
    }

    /// All give letters, and get those of all.
    fn meet(&self, letters: Vec<Vec<u8>>, lengths: Letters) -> Vec<Vec<u8>> {
        let ns = self.since.lock().unwrap().elapsed().as_nanos();
        let time = {
            let mut meetings = self.meetings.lock().unwrap();
            meetings.push(Done { ns, letters: lengths });
            meetings.len()
        };
        for (to, letter) in letters.into_iter().enumerate() {
            self.meeting.letters[to][self.own].lock().unwrap().push_back(letter);
        }
        self.pass_on();
        self.wait(time);
        let mail = self.meeting.letters[self.own].iter();
        let letters = mail
            .map(|letters| letters.lock().unwrap().pop_front().expect("all have had their turn"))
            .collect();
        // What it takes to pass letters on here is not what it takes elsewhere.
        *self.since.lock().unwrap() = Instant::now();
        letters
    }
}

impl Processes for Process {
    fn own(&self) -> usize {
        self.own
    }

    fn count(&self) -> usize {
        self.meeting.letters.len()
    }

    fn exchange(&self, letters: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let lengths = Letters::ToEach(letters.iter().map(Vec::len).collect());
        self.meet(letters, lengths)
    }

    fn to_all(&self, letter: Vec<u8>) -> Vec<Vec<u8>> {
        let length = Letters::ToAll(letter.len());
        self.meet(vec![letter; self.count()], length)
    }
}

/// One walk by so many processes: what each did before each meeting.
fn walk(graph: &Graph, fit: &Fit, processes: usize) -> Vec<Vec<Done>> {
    let row = || (0..processes).map(|_| Mutex::default()).collect();
    let letters = (0..processes).map(|_| row()).collect();
    let meeting = Arc::new(Meeting { turns: Mutex::new(0), next: Condvar::new(), letters });
    let walk_one = |own: usize| {
        // Processes are there until the end of the program, of which this is a small part.
        let process: &'static Process = Box::leak(Box::new(Process::new(own, &meeting)));
        process.wait(0);
        replayed(graph, fit, Workers { threads: 1, processes: Some(process) });
        process.pass_on();
        process.meetings.lock().unwrap().clone()
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..processes).map(|own| scope.spawn(move || walk_one(own))).collect();
        all.into_iter().map(|one| one.join().expect("no process fails")).collect()
    })
}

/// As a report has it: on an ideal network, and as recorded with some calls different.
fn replayed(graph: &Graph, fit: &Fit, workers: Workers) -> End {
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let changed =
        Setting { network: Network::Changed { latency: 2.0, bandwidth: 0.5 }, ..Setting::default() };
    let recorded = Setting::default();
    let lanes = [&ideal, &changed, &recorded, &recorded, &recorded, &recorded, &recorded, &recorded];
    let end = || End([LaneMoment::NEVER; LANES]);
    let replayed = replay_by(graph, lanes, fit, workers, end, &|_| {});
    let ends = replayed.observers.iter().map(|end| end.0);
    End(ends
        .fold([LaneMoment::NEVER; LANES], |last, end| std::array::from_fn(|lane| last[lane].max(end[lane]))))
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let mut next = |otherwise| arguments.next().unwrap_or(otherwise);
    let (ranks, iterations, processes) = (next(1_024) as u32, next(100), next(16) as usize);
    let stencil = Stencil::new(ranks, iterations, Costs::default());
    let definitions = kizami_testing::definitions(&[(0..ranks).collect()]);
    let mut builder = Builder::new(&definitions, &[]);
    (0..ranks).for_each(|rank| stencil.rank(rank).for_each(|call| builder.call(&call)));
    let graph = builder.finish();
    let fit = learn(&graph, 1, || (), &|_| {}).learned;

    let alone = |_| {
        let start = Instant::now();
        replayed(&graph, &fit, 1.into());
        start.elapsed().as_nanos()
    };
    let alone_ns = (0..TIMES).map(alone).min().unwrap_or(0);
    let times: Vec<_> = (0..TIMES).map(|_| walk(&graph, &fit, processes)).collect();
    println!("{processes} {} {alone_ns}", times[0][0].len());
    (0..times[0][0].len()).for_each(|meeting| {
        let least_ns = |process: usize| times.iter().map(|time| time[process][meeting].ns).min();
        let ns = (0..processes).map(|process| least_ns(process).unwrap_or(0).to_string());
        let letters = times[0].iter().map(|process| &process[meeting].letters);
        println!("{}\n{}", ns.collect::<Vec<_>>().join(" "), listed(letters));
    });
}

/// The letters of a meeting, by sender.
fn listed<'a>(letters: impl Iterator<Item = &'a Letters>) -> String {
    let (mut to_all, mut to_each) = (Vec::new(), Vec::new());
    for (from, letters) in letters.enumerate() {
        match letters {
            Letters::ToAll(bytes) => to_all.push(bytes.to_string()),
            Letters::ToEach(bytes) => {
                let some = bytes.iter().enumerate().filter(|(to, bytes)| *to != from && **bytes > 0);
                to_each.extend(some.map(|(to, bytes)| format!("{from} {to} {bytes}")));
            }
        }
    }
    match to_all.is_empty() {
        true => format!("e {} {}", to_each.len(), to_each.join(" ")),
        false => format!("a {}", to_all.join(" ")),
    }
}

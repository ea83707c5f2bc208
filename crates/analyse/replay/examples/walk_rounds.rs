//! Records what processes that share a walk do between its meetings, for any number of processes on however few cores.
//!
//! ```text
//! cargo run --release -p kizami-replay --example walk_rounds -- RANKS ITERATIONS PROCESSES > rounds.txt
//! ```
//!
//! First each process is a thread, and their messages are kept. Then each walks again by itself, and gets the messages it
//! got, which shows what it takes with a core of its own. That is done three times, and the least counts.
//! Printed are how many processes and meetings there are, and the nanoseconds that one process alone takes; then of each meeting
//! the nanoseconds each process took before it, and the messages: of those for all (`a`) the bytes of each process's; of those for
//! each (`e`) how many there are, and sender, receiver and bytes. `bench/scaling.py` has a simulator put that together.

use kizami_graph::{Builder, Graph};
use kizami_network::Fit;
use kizami_process_group::ProcessGroup;
use kizami_replay::{
    EndedStep, LaneMoment, Network, Observer, SentObserver, Setting, Workers, learn, replay_by,
};
use kizami_testing::{Costs, Stencil};
use kizami_wire::Wire;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

const LANES: usize = 8;
const TIMES: usize = 3;

/// The end of the run in each lane.
#[derive(Debug, PartialEq)]
struct End([LaneMoment; LANES]);

impl Observer<LANES> for End {
    fn step(&mut self, seen: &EndedStep<'_, LANES>) {
        self.0.iter_mut().zip(seen.end).for_each(|(end, step)| *end = step.max(*end));
    }
}

impl SentObserver<LANES> for End {
    fn encode(&self, message: &mut Vec<u8>) {
        self.0.encode(message);
    }

    fn decode(&mut self, message: &mut &[u8]) -> Option<()> {
        self.0 = Wire::decode(message)?;
        Some(())
    }
}

/// What processes come to a meeting with.
#[derive(Clone, Debug)]
enum Messages {
    /// By sender.
    ToAll(Vec<Arc<Vec<u8>>>),
    /// By sender and receiver.
    ToEach(Vec<Vec<Vec<u8>>>),
}

impl Messages {
    /// What one gets.
    fn of(&self, own: usize) -> Vec<Vec<u8>> {
        match self {
            Messages::ToAll(messages) => messages.iter().map(|message| message.to_vec()).collect(),
            Messages::ToEach(messages) => messages.iter().map(|messages| messages[own].clone()).collect(),
        }
    }

    /// As it is printed.
    fn listed(&self) -> String {
        match self {
            Messages::ToAll(messages) => {
                let bytes = messages.iter().map(|message| message.len().to_string());
                format!("a {}", bytes.collect::<Vec<_>>().join(" "))
            }
            Messages::ToEach(messages) => {
                let all = messages.iter().enumerate().flat_map(|(from, messages)| {
                    let some = messages
                        .iter()
                        .enumerate()
                        .filter(move |(to, message)| *to != from && !message.is_empty());
                    some.map(move |(to, message)| format!("{from} {to} {}", message.len()))
                });
                let all: Vec<String> = all.collect();
                format!("e {} {}", all.len(), all.join(" "))
            }
        }
    }
}

/// The meetings of a walk, the last of which may not have all messages yet.
#[derive(Debug)]
struct Meetings {
    processes: usize,
    all: Mutex<Vec<Messages>>,
    come: Condvar,
}

impl Meetings {
    /// Passes the messages of one, and gets those of all.
    fn meet(&self, own: usize, number: usize, give: Messages) -> Vec<Vec<u8>> {
        let mut all = self.all.lock().unwrap();
        match (all.get_mut(number), give) {
            (None, give) => all.push(give),
            (Some(Messages::ToAll(known)), Messages::ToAll(mut give)) => known[own] = give.swap_remove(own),
            (Some(Messages::ToEach(known)), Messages::ToEach(mut give)) => known[own] = give.swap_remove(own),
            _ => panic!("processes do not do the same"),
        }
        self.come.notify_all();
        let are_here = |messages: &Messages| match messages {
            Messages::ToAll(messages) => messages.iter().all(|message| !message.is_empty()),
            Messages::ToEach(messages) => messages.iter().all(|messages| !messages.is_empty()),
        };
        let all = self.come.wait_while(all, |all| !are_here(&all[number])).unwrap();
        all[number].of(own)
    }
}

/// One of the processes, for the first time.
#[derive(Debug)]
struct First {
    own: usize,
    meetings: Arc<Meetings>,
    number: AtomicUsize,
}

impl First {
    fn meet(&self, give: Messages) -> Vec<Vec<u8>> {
        self.meetings.meet(self.own, self.number.fetch_add(1, Ordering::Relaxed), give)
    }
}

impl ProcessGroup for First {
    fn index(&self) -> usize {
        self.own
    }

    fn size(&self) -> usize {
        self.meetings.processes
    }

    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let mut give = vec![Vec::new(); self.size()];
        give[self.own] = messages;
        self.meet(Messages::ToEach(give))
    }

    fn all_gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        let mut give = vec![Arc::default(); self.size()];
        give[self.own] = Arc::new(message);
        self.meet(Messages::ToAll(give))
    }
}

/// One of the processes again, by itself: it gets the messages it got.
#[derive(Debug)]
struct Again {
    own: usize,
    count: usize,
    meetings: Arc<Vec<Messages>>,
    since: Mutex<Instant>,
    /// What it took before each meeting.
    ns: Mutex<Vec<u128>>,
}

impl Again {
    fn meet(&self) -> Vec<Vec<u8>> {
        let mut since = self.since.lock().unwrap();
        let mut ns = self.ns.lock().unwrap();
        ns.push(since.elapsed().as_nanos());
        let messages = self.meetings[ns.len() - 1].of(self.own);
        *since = Instant::now();
        messages
    }
}

impl ProcessGroup for Again {
    fn index(&self) -> usize {
        self.own
    }

    fn size(&self) -> usize {
        self.count
    }

    fn all_to_all(&self, _messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.meet()
    }

    fn all_gather(&self, _message: Vec<u8>) -> Vec<Vec<u8>> {
        self.meet()
    }
}

/// All messages of one walk by so many processes.
fn messages(graph: &Graph, fit: &Fit, processes: usize) -> Vec<Messages> {
    let meetings = Arc::new(Meetings { processes, all: Mutex::default(), come: Condvar::new() });
    std::thread::scope(|scope| {
        for own in 0..processes {
            let (meetings, number) = (meetings.clone(), AtomicUsize::new(0));
            // Processes are there until the end of the program, of which this is a small part.
            let process: &'static First = Box::leak(Box::new(First { own, meetings, number }));
            scope.spawn(move || replayed(graph, fit, Workers { threads: 1, processes: Some(process) }));
        }
    });
    std::mem::take(&mut *meetings.all.lock().unwrap())
}

/// What one of them takes before each meeting.
fn again(graph: &Graph, fit: &Fit, (own, count): (usize, usize), meetings: &Arc<Vec<Messages>>) -> Vec<u128> {
    let (meetings, since) = (meetings.clone(), Mutex::new(Instant::now()));
    let again = Again { own, count, meetings, since, ns: Mutex::default() };
    let process: &'static Again = Box::leak(Box::new(again));
    replayed(graph, fit, Workers { threads: 1, processes: Some(process) });
    process.ns.lock().unwrap().clone()
}

/// As a report has it: on an ideal network, and as recorded with some calls different.
fn replayed(graph: &Graph, fit: &Fit, workers: Workers) -> End {
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let changed =
        Setting { network: Network::Changed { latency: 2.0, bandwidth: 0.5 }, ..Setting::default() };
    let recorded = Setting::default();
    let lanes = [&ideal, &changed, &recorded, &recorded, &recorded, &recorded, &recorded, &recorded];
    let end = || End([LaneMoment::MINUS_INFINITY; LANES]);
    let replayed = replay_by(graph, lanes, fit, workers, end, &|_| {});
    let ends = replayed.observers.iter().map(|end| end.0);
    End(ends.fold([LaneMoment::MINUS_INFINITY; LANES], |last, end| {
        std::array::from_fn(|lane| last[lane].max(end[lane]))
    }))
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
    let meetings = Arc::new(messages(&graph, &fit, processes));
    let least_ns = |own: usize| {
        let times: Vec<_> = (0..TIMES).map(|_| again(&graph, &fit, (own, processes), &meetings)).collect();
        (0..meetings.len()).map(|meeting| times.iter().map(|time| time[meeting]).min()).collect()
    };
    let ns: Vec<Vec<Option<u128>>> = (0..processes).map(least_ns).collect();
    println!("{processes} {} {alone_ns}", meetings.len());
    for (meeting, messages) in meetings.iter().enumerate() {
        let ns = ns.iter().map(|process| process[meeting].unwrap_or(0).to_string());
        println!("{}\n{}", ns.collect::<Vec<_>>().join(" "), messages.listed());
    }
}

//! A program that makes no sense but is valid, and different for every seed.
//!
//! Ranks with several threads send and receive on several communicators in every way MPI has: waiting and not, in
//! both directions at once, by persistent requests, by wildcards, to null peers; they complete requests in any order, poll,
//! cancel, and take part in collectives. It is run while it is made up: the chosen rank does something that cannot
//! make it wait for ever, so times are consistent and whatever was begun is ended.
//!
//! Order among the threads of a rank is kept where MPI asks for it: each tag belongs to one sending and one
//! receiving thread of a rank, each communicator to one thread.

use crate::{Costs, call};
use kizami_model::{Call, Length, Moment, Peer, Rank, ThreadIndex};
use kizami_rng::SplitMix64;
use std::collections::BTreeMap;

/// How large the program is, and which.
#[derive(Clone, Copy, Debug)]
pub struct Jumble {
    /// How many ranks.
    pub ranks: u32,
    /// Threads of each rank.
    pub threads: u32,
    /// Things that happen, each of one or several calls.
    pub acts: u32,
    /// Whether large messages may leave before their receivers are ready, as if there were room for them.
    pub roomy: bool,
    /// Which of the programs of this size.
    pub seed: u64,
}

/// The program as it ran.
#[derive(Clone, Debug)]
pub struct Jumbled {
    /// Members of each communicator, in the order of their ranks in it. The first is the world.
    pub comms: Vec<Vec<u32>>,
    /// The rows, by rank and start.
    pub rows: Vec<Call>,
}

const TAGS: u64 = 5;
/// Around the border above which messages surely wait for their receivers.
const SIZES: [u64; 7] = [0, 8, 1_000, 40_000, 65_536, 65_537, 1_000_000];
const LARGE: u64 = 65_536;
const TOGETHER: [&str; 13] = [
    "Barrier",
    "Allreduce",
    "Allgather",
    "Alltoall",
    "Reduce_scatter",
    "Bcast",
    "Scatter",
    "Reduce",
    "Gather",
    "Scan",
    "Exscan",
    "Bcast",
    "Allreduce",
];

/// From one rank to another on a communicator with a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    comm: u32,
    from: u32,
    to: u32,
    tag: i32,
}

/// When messages of a way were sent, and their receives posted.
#[derive(Clone, Debug, Default)]
struct Ends {
    sent_ns: Vec<i64>,
    posted_ns: Vec<i64>,
}

/// What must have happened before a request is complete.
#[derive(Clone, Copy, Debug)]
enum Until {
    /// The message with this number was sent.
    Sent(Way, usize),
    /// The receive with this number was posted.
    Posted(Way, usize),
    /// It is this late.
    Time(i64),
}

#[derive(Clone, Debug)]
struct Open {
    rank: u32,
    request: u64,
    since_ns: i64,
    until: Vec<Until>,
}

struct Maker {
    random: SplitMix64,
    costs: Costs,
    threads: u32,
    roomy: bool,
    comms: Vec<Vec<u32>>,
    now_ns: Vec<Vec<i64>>,
    rows: Vec<Call>,
    requests: u64,
    ways: BTreeMap<Way, Ends>,
    open: Vec<Open>,
}

impl Jumble {
    /// Makes the program up and runs it.
    pub fn run(&self) -> Jumbled {
        let mut random = SplitMix64::new(self.seed);
        let comms = communicators(self.ranks, &mut random);
        let mut maker = Maker {
            random,
            costs: Costs::default(),
            threads: self.threads,
            roomy: self.roomy,
            comms,
            now_ns: vec![vec![0; self.threads as usize]; self.ranks as usize],
            rows: Vec::new(),
            requests: 0,
            ways: BTreeMap::new(),
            open: Vec::new(),
        };
        maker.begin_threads();
        (0..self.acts).for_each(|_| maker.act());
        maker.end();
        let (comms, mut rows) = (maker.comms, maker.rows);
        rows.sort_by_key(|row| (row.rank, row.start));
        Jumbled { comms, rows }
    }
}

/// The world, itself in another order, and two halves of it.
fn communicators(ranks: u32, random: &mut SplitMix64) -> Vec<Vec<u32>> {
    let mut mixed: Vec<u32> = (0..ranks).collect();
    for place in (1..mixed.len()).rev() {
        mixed.swap(place, random.index(place + 1));
    }
    let (one, other) = mixed.split_at(mixed.len() / 2);
    let halves = [one.to_vec(), other.to_vec()].into_iter().filter(|half| !half.is_empty());
    [(0..ranks).collect(), mixed.clone()].into_iter().chain(halves).collect()
}

impl Maker {
    /// All threads begin at once: one that began late may only have begun because of what came before.
    fn begin_threads(&mut self) {
        for rank in 0..self.now_ns.len() as u32 {
            for thread in (0..self.threads).map(ThreadIndex) {
                let row = call("MPI_Comm_rank", rank, 0, self.costs.call_ns);
                self.push(Call { thread, ..row });
            }
        }
    }

    fn act(&mut self) {
        match self.random.below(20) {
            0..4 => self.sends(),
            4..7 => self.receives(),
            7..9 => self.begins_to_receive(),
            9 => self.starts_all(),
            10 => self.exchanges(),
            11 => self.sends_and_receives(),
            12..16 => self.completes(),
            16 => self.null_peer(),
            17 => self.cancels(),
            _ => self.together(),
        }
    }

    /// Ends whatever was begun.
    fn end(&mut self) {
        for (way, ends) in self.ways.clone() {
            (ends.sent_ns.len()..ends.posted_ns.len()).for_each(|_| self.send(way, "MPI_Send"));
            (ends.posted_ns.len()..ends.sent_ns.len()).for_each(|_| self.receive(way));
        }
        for rank in 0..self.now_ns.len() as u32 {
            let requests: Vec<Open> = self.open.extract_if(.., |open| open.rank == rank).collect();
            self.completed(rank, 0, "MPI_Waitall", requests);
            let last_ns = self.now_ns[rank as usize].iter().copied().max().unwrap_or(0);
            self.now_ns[rank as usize][0] = last_ns;
        }
        let ranks = 0..self.now_ns.len() as u32;
        let rows: Vec<Call> = ranks.map(|rank| self.row("MPI_Finalize", rank, 0, 0)).collect();
        let last = rows.iter().map(|row| row.start).max().unwrap_or_default();
        for row in rows {
            self.push(Call { comm: None, end: Moment(last.0 + self.costs.collective_ns), ..row });
        }
    }

    fn sends(&mut self) {
        let way = self.way();
        let name = self.one_of(&["MPI_Send", "MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Isend", "MPI_Start"]);
        self.send(way, name);
    }

    fn receives(&mut self) {
        match self.arriving() {
            Some(way) => self.receive(way),
            None => self.sends(),
        }
    }

    fn begins_to_receive(&mut self) {
        let way = self.way();
        let name = self.one_of(&["MPI_Irecv", "MPI_Irecv", "MPI_Start"]);
        let mut row = self.row(name, way.to, self.receiver(way), i64::MIN);
        self.post(way, &mut row, true);
        self.push(row);
    }

    /// `MPI_Startall` of requests of one thread, of which each is a row of its own.
    fn starts_all(&mut self) {
        let first = self.way();
        let whole = Call { comm: None, ..self.row("MPI_Startall", first.to, self.receiver(first), i64::MIN) };
        let (rank, thread, start) = (first.to, whole.thread.0, whole.start);
        self.push(whole);
        for _ in 0..1 + self.random.below(4) {
            let mut part = Call { calls: 0, start, end: start, ..call("MPI_Start", rank, 0, 0) };
            part.thread = ThreadIndex(thread);
            let way = self.way();
            if (way.to, self.receiver(way)) == (rank, thread) {
                self.post(way, &mut part, true);
            } else if (way.from, self.sender(way)) == (rank, thread) {
                self.depart(way, &mut part, true);
            } else {
                self.post(first, &mut part, true);
            }
            self.push(part);
        }
    }

    /// Two ranks call `MPI_Sendrecv` with each other.
    fn exchanges(&mut self) {
        let there = self.way();
        let back = Way { from: there.to, to: there.from, ..there };
        let pending =
            |ends: Option<&Ends>| ends.is_some_and(|ends| ends.sent_ns.len() != ends.posted_ns.len());
        let one_thread =
            self.sender(there) == self.receiver(back) && self.sender(back) == self.receiver(there);
        if !one_thread || there == back || pending(self.ways.get(&there)) || pending(self.ways.get(&back)) {
            return self.sends();
        }
        let mut rows =
            [there, back].map(|way| self.row("MPI_Sendrecv", way.from, self.sender(way), i64::MIN));
        let starts = rows.each_ref().map(|row| row.start.0);
        self.depart(there, &mut rows[0], false);
        self.depart(back, &mut rows[1], false);
        self.post(back, &mut rows[0], false);
        self.post(there, &mut rows[1], false);
        let [one, other] = rows;
        for (mut row, sent_ns) in [(one, starts[1]), (other, starts[0])] {
            row.end = row.end.max(Moment(sent_ns + self.costs.message_ns));
            self.push(row);
        }
    }

    /// A send and a receive of something that is there in one call, or one that does not wait, with a null peer on
    /// either side at times.
    fn sends_and_receives(&mut self) {
        let Some(inward) = self.arriving() else { return self.sends() };
        let (rank, thread) = (inward.to, self.receiver(inward));
        let name = self.one_of(&["MPI_Sendrecv", "MPI_Isendrecv"]);
        let begins = name == "MPI_Isendrecv";
        let mut row = self.row(name, rank, thread, i64::MIN);
        row.comm = Some(inward.comm);
        let to = self.member(inward.comm);
        let outward = Way { from: rank, to, ..inward };
        row.peer = Peer::Null;
        let able = self.sender(outward) == thread && outward != inward && (begins || self.fits(outward));
        if able && self.random.below(2) == 0 {
            self.depart(outward, &mut row, begins);
        }
        row.recv_peer = Peer::Null;
        if row.peer == Peer::Null || self.random.below(3) > 0 {
            let there_ns = self.post(inward, &mut row, begins);
            row.end = if begins { row.end } else { row.end.max(Moment(there_ns)) };
        }
        self.push(row);
    }

    /// Somebody completes requests of its rank, after polling for them at times.
    fn completes(&mut self) {
        let Some(chosen) = self.open.get(self.random.index(self.open.len())) else {
            return self.sends();
        };
        let (rank, thread) = (chosen.rank, self.random.below(u64::from(self.threads)) as u32);
        let name = self.one_of(&["MPI_Wait", "MPI_Waitany", "MPI_Waitall", "MPI_Test", "MPI_Testsome"]);
        let most = if matches!(name, "MPI_Waitall" | "MPI_Testsome") { 5 } else { 1 };
        let mut requests = Vec::new();
        while requests.len() < most {
            let mut able = self.open.iter().enumerate().filter(|(_, open)| open.rank == rank);
            let Some((index, _)) = able.find(|(_, open)| self.done_ns(open).is_some()) else { break };
            let index = if self.random.below(2) == 0 { index } else { self.last_able(rank, index) };
            requests.push(self.open.remove(index));
        }
        if name.starts_with("MPI_Test") && self.random.below(3) > 0 {
            self.polls(rank, thread, name, &requests);
        }
        if !requests.is_empty() {
            self.completed(rank, thread, name, requests);
        }
    }

    fn last_able(&self, rank: u32, otherwise: usize) -> usize {
        let able = |open: &Open| open.rank == rank && self.done_ns(open).is_some();
        self.open.iter().rposition(able).unwrap_or(otherwise)
    }

    fn completed(&mut self, rank: u32, thread: u32, name: &str, requests: Vec<Open>) {
        self.not_before(rank, thread, &requests);
        let done_ns = requests.iter().filter_map(|open| self.done_ns(open)).max().unwrap_or(i64::MIN);
        let mut row = Call { comm: None, ..self.row(name, rank, thread, done_ns) };
        row.completes = requests.iter().map(|open| open.request).collect();
        self.push(row);
    }

    /// Nobody completes what was not begun.
    fn not_before(&mut self, rank: u32, thread: u32, requests: &[Open]) {
        let now_ns = &mut self.now_ns[rank as usize][thread as usize];
        *now_ns = requests.iter().map(|open| open.since_ns).fold(*now_ns, i64::max);
    }

    /// A row of failed polls, until what they look for is nearly there, or in vain.
    fn polls(&mut self, rank: u32, thread: u32, name: &str, requests: &[Open]) {
        self.not_before(rank, thread, requests);
        let done_ns = requests.iter().filter_map(|open| self.done_ns(open)).max().unwrap_or(0) - 300;
        let mut row = Call { comm: None, ..self.row(name, rank, thread, i64::MIN) };
        row.end = Moment(done_ns.max(row.end.0 + 100));
        row.calls = 2 + self.random.below(50) as u32;
        let length_ns = row.end.0 - row.start.0;
        row.inside = Some(Length(if self.random.below(3) == 0 { length_ns / 3 } else { length_ns }));
        self.push(row);
    }

    /// What has `MPI_PROC_NULL` on the other side.
    fn null_peer(&mut self) {
        let way = self.way();
        let name = self.one_of(&["MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Sendrecv"]);
        let mut row = self.row(name, way.from, self.sender(way), i64::MIN);
        (row.comm, row.peer, row.tag) = (Some(way.comm), Peer::Null, Some(way.tag));
        (row.recv_peer, row.recv_tag) = (Peer::Null, Some(way.tag));
        if name.starts_with("MPI_I") {
            self.begin(&mut row, Until::Time(0));
        }
        self.push(row);
    }

    /// A wildcard receive that gets nothing.
    fn cancels(&mut self) {
        let way = self.way();
        let mut row = self.row("MPI_Irecv", way.to, self.receiver(way), i64::MIN);
        (row.comm, row.peer, row.tag) = (Some(way.comm), Peer::Any, Some(way.tag));
        row.any_source = true;
        self.begin(&mut row, Until::Time(0));
        self.push(row);
        let cancel = Call { comm: None, ..self.row("MPI_Cancel", way.to, self.receiver(way), i64::MIN) };
        self.push(cancel);
    }

    /// A collective of all members of a communicator, that waits or not.
    fn together(&mut self) {
        let comm = self.random.below(self.comms.len() as u64) as u32;
        let (short, begins) = (self.one_of(&TOGETHER), self.random.below(3) == 0);
        let name = if begins { format!("MPI_I{}", short.to_lowercase()) } else { format!("MPI_{short}") };
        let root = self.member(comm);
        let thread = comm % self.threads;
        let members = self.comms[comm as usize].clone();
        let rows: Vec<Call> = members.iter().map(|rank| self.row(&name, *rank, thread, i64::MIN)).collect();
        let came_ns = |row: &Call| row.start.0;
        let all_ns = rows.iter().map(came_ns).max().unwrap_or(0);
        let root_ns = rows.iter().filter(|row| row.rank.0 == root).map(came_ns).max().unwrap_or(0);
        let mut lower_ns = i64::MIN;
        for mut row in rows {
            lower_ns = lower_ns.max(row.start.0);
            let at_root = row.rank.0 == root;
            let (rooted, after_ns) = match short {
                "Bcast" | "Scatter" => (true, (!at_root).then_some(root_ns)),
                "Reduce" | "Gather" => (true, at_root.then_some(all_ns)),
                "Scan" | "Exscan" => (false, Some(lower_ns)),
                _ => (false, Some(all_ns)),
            };
            row.comm = Some(comm);
            row.root = if rooted { Peer::Rank(Rank(root)) } else { Peer::None };
            (row.bytes_out, row.bytes_in) = (Some(8 * self.random.below(5)), Some(8));
            let done_ns = after_ns.map_or(0, |after_ns| after_ns + self.costs.collective_ns);
            if begins {
                self.begin(&mut row, Until::Time(done_ns));
            } else {
                row.end = row.end.max(Moment(done_ns));
            }
            self.push(row);
        }
    }

    /// Sends on a way; waits for a receive that is posted, and else does not.
    fn send(&mut self, way: Way, name: &'static str) {
        let posted_ns = self.ways.get(&way).and_then(|ends| ends.posted_ns.get(ends.sent_ns.len())).copied();
        let name = match name {
            "MPI_Send" | "MPI_Ssend" if posted_ns.is_none() && !self.fits(way) => "MPI_Bsend",
            "MPI_Ssend" if posted_ns.is_none() => "MPI_Send",
            _ => name,
        };
        let begins = matches!(name, "MPI_Isend" | "MPI_Start");
        let mut row = self.row(name, way.from, self.sender(way), i64::MIN);
        let large = self.depart(way, &mut row, begins) > LARGE;
        let waits = name == "MPI_Ssend" || large && name == "MPI_Send";
        if let (Some(posted_ns), true) = (posted_ns, waits) {
            row.end = row.end.max(Moment(posted_ns + self.costs.message_ns));
        }
        self.push(row);
    }

    /// Receives what was sent on a way, having looked for it at times.
    fn receive(&mut self, way: Way) {
        let thread = self.receiver(way);
        if self.random.below(4) == 0 {
            let ends = &self.ways[&way];
            let there_ns = ends.sent_ns[ends.posted_ns.len()] + self.costs.message_ns;
            let mut row = self.row("MPI_Probe", way.to, thread, there_ns);
            (row.comm, row.tag, row.peer) = (Some(way.comm), Some(way.tag), Peer::Rank(Rank(way.from)));
            self.push(row);
        }
        let mut row = self.row("MPI_Recv", way.to, thread, i64::MIN);
        row.end = row.end.max(Moment(self.post(way, &mut row, false)));
        self.push(row);
    }

    /// A message leaves with a row; returns its size.
    fn depart(&mut self, way: Way, row: &mut Call, begins: bool) -> u64 {
        let ends = self.ways.entry(way).or_default();
        ends.sent_ns.push(row.start.0);
        let number = ends.sent_ns.len() - 1;
        let bytes = size(way, number);
        (row.comm, row.tag, row.peer) = (Some(way.comm), Some(way.tag), Peer::Rank(Rank(way.to)));
        row.bytes_out = Some(bytes);
        if begins {
            let waits = bytes > LARGE && (!self.roomy || self.random.below(3) > 0);
            self.begin(row, if waits { Until::Posted(way, number) } else { Until::Time(0) });
        }
        bytes
    }

    /// A receive is posted with a row; returns when its message is there, if it was sent.
    fn post(&mut self, way: Way, row: &mut Call, begins: bool) -> i64 {
        let ends = self.ways.entry(way).or_default();
        ends.posted_ns.push(row.start.0);
        let number = ends.posted_ns.len() - 1;
        let there_ns = ends.sent_ns.get(number).map_or(0, |sent_ns| sent_ns + self.costs.message_ns);
        let (peer, tag) = (Peer::Rank(Rank(way.from)), Some(way.tag));
        if row.op.name().ends_with("endrecv") {
            (row.recv_peer, row.recv_tag) = (peer, tag);
        } else {
            (row.peer, row.tag) = (peer, tag);
        }
        (row.comm, row.bytes_in) = (Some(way.comm), Some(size(way, number)));
        (row.any_source, row.any_tag) = (self.random.below(4) == 0, self.random.below(4) == 0);
        if begins {
            self.begin(row, Until::Sent(way, number));
        }
        there_ns
    }

    /// The row begins something that a request stands for, besides what it stands for already.
    fn begin(&mut self, row: &mut Call, until: Until) {
        if let Some(request) = row.request {
            let open = self.open.iter_mut().rfind(|open| open.request == request);
            return open.into_iter().for_each(|open| open.until.push(until));
        }
        self.requests += 1;
        row.request = Some(self.requests);
        let (rank, since_ns) = (row.rank.0, row.end.0);
        self.open.push(Open { rank, request: self.requests, since_ns, until: vec![until] });
    }

    /// When a request is complete, if that can be said yet.
    fn done_ns(&self, open: &Open) -> Option<i64> {
        let mut times = open.until.iter().map(|until| match until {
            Until::Sent(way, number) => {
                self.ways[way].sent_ns.get(*number).map(|at| at + self.costs.message_ns)
            }
            Until::Posted(way, number) => {
                self.ways[way].posted_ns.get(*number).map(|at| at + self.costs.message_ns)
            }
            Until::Time(at) => Some(*at),
        });
        times.try_fold(0, |latest, time| Some(time?.max(latest)))
    }

    /// A call of a thread after some computation, that does not end before a moment.
    fn row(&mut self, name: &str, rank: u32, thread: u32, not_before_ns: i64) -> Call {
        let computes_ns = if self.random.below(3) == 0 { self.random.below(60_000) as i64 } else { 0 };
        let start_ns = self.now_ns[rank as usize][thread as usize] + computes_ns;
        let end_ns = (start_ns + self.costs.call_ns).max(not_before_ns);
        let mut row = call(name, rank, start_ns, end_ns);
        row.thread = ThreadIndex(thread);
        row.callsite = Some(u32::from(row.op.0) % 8);
        row
    }

    fn push(&mut self, row: Call) {
        let now_ns = &mut self.now_ns[row.rank.0 as usize][row.thread.0 as usize];
        *now_ns = row.end.0.max(*now_ns);
        self.rows.push(row);
    }

    /// Any way at all.
    fn way(&mut self) -> Way {
        let comm = self.random.below(self.comms.len() as u64) as u32;
        let (from, to) = (self.member(comm), self.member(comm));
        Way { comm, from, to, tag: self.random.below(TAGS) as i32 }
    }

    /// One on which something was sent that is not received.
    fn arriving(&mut self) -> Option<Way> {
        let arriving = self.ways.iter().filter(|(_, ends)| ends.sent_ns.len() > ends.posted_ns.len());
        let ways: Vec<Way> = arriving.map(|(way, _)| *way).collect();
        ways.get(self.random.index(ways.len())).copied()
    }

    fn member(&mut self, comm: u32) -> u32 {
        let members = &self.comms[comm as usize];
        members[self.random.index(members.len())]
    }

    /// Whether the next message of a way can leave before its receive is posted.
    fn fits(&self, way: Way) -> bool {
        self.roomy || size(way, self.ways.get(&way).map_or(0, |ends| ends.sent_ns.len())) <= LARGE
    }

    fn sender(&self, way: Way) -> u32 {
        way.tag as u32 % self.threads
    }

    fn receiver(&self, way: Way) -> u32 {
        way.tag as u32 / 2 % self.threads
    }

    fn one_of(&mut self, names: &[&'static str]) -> &'static str {
        names[self.random.index(names.len())]
    }
}

/// How large a message is; its receiver knows before it is sent.
fn size(way: Way, number: usize) -> u64 {
    let mixed = u64::from(way.comm) * 31 + u64::from(way.from) * 17 + u64::from(way.to) * 7 + way.tag as u64;
    SIZES[(mixed + number as u64 * 5) as usize % SIZES.len()]
}

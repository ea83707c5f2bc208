//! A small program, written down call by call, and run in an exactly known time.

mod windows;

use crate::{Costs, call};
use kizami_model::{Call, Moment, Peer, Rank};
use std::collections::HashMap;
use windows::Window;

pub use windows::OnWindow;

/// What a rank does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Computes for so long.
    Compute(i64),
    /// `MPI_Send` of so many bytes to a rank with a tag. It never waits.
    Send(u32, i32, u64),
    /// `MPI_Ssend`: waits until its receive is posted.
    SyncSend(u32, i32, u64),
    /// `MPI_Send` of a message that MPI has no room for: waits as `MPI_Ssend` does.
    UnbufferedSend(u32, i32, u64),
    /// `MPI_Recv` from a rank with a tag.
    Receive(u32, i32),
    /// `MPI_Isend`; the request is the number of the act.
    StartSend(u32, i32, u64),
    /// `MPI_Irecv`; the request is the number of the act.
    StartReceive(u32, i32),
    /// `MPI_Waitall` for the requests of these acts.
    Wait(Vec<usize>),
    /// A collective of all ranks that waits for all, by name.
    Together(&'static str),
    /// `MPI_Alltoallv`: so many bytes given, so many received, and how long it takes behind the last who comes.
    Exchange(u64, u64, i64),
    /// A collective with a root, by name: `MPI_Bcast` or `MPI_Reduce`.
    Rooted(&'static str, u32),
    /// `MPI_Scan`.
    Scan,
    /// An act on the window of all ranks.
    Window(OnWindow),
}

/// A program: the acts of each rank. Act `n` of a rank is made at call site `n` unless it says otherwise.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// By rank.
    pub acts: Vec<Vec<Act>>,
    /// What things take.
    pub costs: Costs,
}

/// One rank on its way.
struct Walker {
    next: usize,
    now_ns: i64,
    rows: Vec<Call>,
    collectives: usize,
}

type Way = (u32, u32, i32);

/// What is known of messages and collectives.
#[derive(Default)]
struct World {
    /// Starts and sizes of sends, by way.
    sent: HashMap<Way, Vec<(i64, u64)>>,
    /// When receives were posted, by way.
    posted: HashMap<Way, Vec<i64>>,
    /// Messages received so far.
    received: HashMap<Way, usize>,
    /// What each request stands for: the way, which message of it, and whether it is a receive.
    requests: HashMap<(u32, usize), (Way, usize, bool)>,
    /// When each rank entered each collective.
    came: HashMap<usize, HashMap<u32, i64>>,
    window: Window,
}

impl Script {
    /// Runs the program; returns the rows, by rank and start.
    ///
    /// # Panics
    /// If the ranks wait for each other for ever.
    pub fn run(&self) -> Vec<Call> {
        let mut world = World::default();
        let mut ranks: Vec<Walker> = self
            .acts
            .iter()
            .map(|_| Walker { next: 0, now_ns: 0, rows: Vec::new(), collectives: 0 })
            .collect();
        loop {
            let mut moved = false;
            for (rank, walker) in (0..).zip(&mut ranks) {
                while self.step(rank, walker, &mut world) {
                    moved = true;
                }
            }
            if ranks.iter().zip(&self.acts).all(|(rank, acts)| rank.next == acts.len()) {
                return ranks.into_iter().flat_map(|rank| rank.rows).collect();
            }
            assert!(moved, "the ranks of the script wait for each other for ever");
        }
    }

    /// One act, if no rank has to be waited for.
    fn step(&self, rank: u32, walker: &mut Walker, world: &mut World) -> bool {
        let Some(act) = self.acts[rank as usize].get(walker.next) else { return false };
        let start_ns = walker.now_ns;
        let quick_ns = start_ns + self.costs.call_ns;
        let request = walker.next;
        let mut row = match act {
            Act::Compute(length_ns) => {
                walker.now_ns += length_ns;
                walker.next += 1;
                return true;
            }
            Act::Window(act) => {
                let Some(rows) = self.on_window(rank, walker, act, &mut world.window) else { return false };
                walker.now_ns = Script::end(&rows).0;
                walker
                    .rows
                    .extend(rows.into_iter().map(|row| Call { callsite: Some(request as u32), ..row }));
                walker.next += 1;
                return true;
            }
            Act::Send(to, tag, bytes)
            | Act::StartSend(to, tag, bytes)
            | Act::SyncSend(to, tag, bytes)
            | Act::UnbufferedSend(to, tag, bytes) => {
                let way = (rank, *to, *tag);
                let sent = world.sent.entry(way).or_default();
                let number = match act {
                    // It may have been here before, and have found no partner.
                    Act::SyncSend(..) | Act::UnbufferedSend(..)
                        if sent.last().is_some_and(|(at, _)| *at == start_ns) =>
                    {
                        sent.len() - 1
                    }
                    _ => {
                        sent.push((start_ns, *bytes));
                        sent.len() - 1
                    }
                };
                let (name, end_ns) = match act {
                    Act::Send(..) => ("MPI_Send", quick_ns),
                    Act::StartSend(..) => ("MPI_Isend", quick_ns),
                    _ => {
                        let posted = world.posted.get(&way).and_then(|posted| posted.get(number));
                        let Some(posted_ns) = posted else { return false };
                        let name = if let Act::SyncSend(..) = act { "MPI_Ssend" } else { "MPI_Send" };
                        (name, quick_ns.max(posted_ns + self.costs.message_ns))
                    }
                };
                let mut row = call(name, rank, start_ns, end_ns);
                (row.peer, row.tag, row.bytes_out) = (Peer::Rank(Rank(*to)), Some(*tag), Some(*bytes));
                if let Act::StartSend(..) = act {
                    row.request = Some(request as u64 + 1);
                    world.requests.insert((rank, request), (way, number, false));
                }
                row
            }
            Act::Receive(from, tag) | Act::StartReceive(from, tag) => {
                let way = (*from, rank, *tag);
                let started = matches!(act, Act::StartReceive(..));
                let posted = world.posted.entry(way).or_default();
                let number = world.received.get(&way).copied().unwrap_or(0);
                if posted.len() == number {
                    posted.push(start_ns);
                }
                let message = world.sent.get(&way).and_then(|sent| sent.get(number)).copied();
                let (name, end_ns, bytes) = match (started, message) {
                    (true, message) => ("MPI_Irecv", quick_ns, message.map(|(_, bytes)| bytes)),
                    (false, Some((at, bytes))) => {
                        ("MPI_Recv", quick_ns.max(at + self.costs.message_ns), Some(bytes))
                    }
                    (false, None) => return false,
                };
                world.received.insert(way, number + 1);
                let mut row = call(name, rank, start_ns, end_ns);
                (row.peer, row.tag, row.bytes_in) = (Peer::Rank(Rank(*from)), Some(*tag), bytes);
                if started {
                    row.request = Some(request as u64 + 1);
                    world.requests.insert((rank, request), (way, number, true));
                }
                row
            }
            Act::Wait(acts) => {
                let mut end_ns = quick_ns;
                for act in acts {
                    let (way, number, receives) = world.requests[&(rank, *act)];
                    if receives {
                        let Some((at, bytes)) = world.sent.get(&way).and_then(|sent| sent.get(number)) else {
                            return false;
                        };
                        end_ns = end_ns.max(at + self.costs.message_ns);
                        // The size was not known when the receive was posted.
                        let posted = walker.rows.iter_mut().find(|row| row.request == Some(*act as u64 + 1));
                        posted.into_iter().for_each(|row| row.bytes_in = Some(*bytes));
                    }
                }
                let mut row = call("MPI_Waitall", rank, start_ns, end_ns);
                row.comm = None;
                row.completes = acts.iter().map(|act| *act as u64 + 1).collect();
                row
            }
            Act::Together(_) | Act::Exchange(..) | Act::Rooted(..) | Act::Scan => {
                let came = world.came.entry(walker.collectives).or_default();
                came.insert(rank, start_ns);
                let all = came.len() == self.acts.len();
                let last_ns = came.values().copied().max().unwrap_or(start_ns);
                let lower = came.iter().filter(|(other, _)| **other <= rank);
                let lower_ns = lower.clone().map(|(_, at)| *at).max().unwrap_or(start_ns);
                let (name, root, end_ns) = match act {
                    Act::Together(name) if all => (*name, Peer::None, last_ns + self.costs.collective_ns),
                    Act::Exchange(.., takes_ns) if all => ("MPI_Alltoallv", Peer::None, last_ns + takes_ns),
                    Act::Scan if lower.count() == rank as usize + 1 => {
                        ("MPI_Scan", Peer::None, lower_ns + self.costs.collective_ns)
                    }
                    Act::Rooted(name, root) => {
                        let end_ns = match (*name == "MPI_Bcast", *root == rank) {
                            (true, true) | (false, false) => quick_ns,
                            (true, false) => match came.get(root) {
                                Some(at) => quick_ns.max(at + self.costs.collective_ns),
                                None => return false,
                            },
                            (false, true) if all => last_ns + self.costs.collective_ns,
                            (false, true) => return false,
                        };
                        (*name, Peer::Rank(Rank(*root)), end_ns)
                    }
                    _ => return false,
                };
                walker.collectives += 1;
                let mut row = call(name, rank, start_ns, end_ns);
                let (gives, gets) =
                    if let Act::Exchange(gives, gets, _) = act { (*gives, *gets) } else { (8, 8) };
                (row.root, row.bytes_out, row.bytes_in) = (root, Some(gives), Some(gets));
                row
            }
        };
        row.callsite = Some(walker.next as u32);
        walker.now_ns = row.end.0;
        walker.next += 1;
        walker.rows.push(row);
        true
    }

    /// When the run is over.
    pub fn end(rows: &[Call]) -> Moment {
        rows.iter().map(|row| row.end).max().unwrap_or_default()
    }
}

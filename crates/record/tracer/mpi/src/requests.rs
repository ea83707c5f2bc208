//! Requests: from a handle back to the call that started it.
//!
//! Handles are not unique: libraries hand out the same one for every small send that is done at once. So
//! each start gets a number of our own, and starts that share a handle are completed in the order they were
//! made: each distinct handle has one place in an open-addressed table, and a queue behind it. The table is
//! locked only where several threads use it: the first needs no lock until another comes ([`Biased`]).

use crate::arch;
use kizami_parallel::{Biased, Inside, ThreadKey};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What was posted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posted {
    /// Our number: of the request, or of the persistent request.
    pub number: u32,
    pub kind: Kind,
    pub peer: i32,
    pub tag: i32,
    pub bytes: u64,
    /// For persistent requests: the number of the round that is under way, 0 if none.
    pub round: u32,
}

/// What kind of operation a request stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing about it can change between posting and completion.
    Plain,
    /// A communicator that is being duplicated.
    Duplicate,
    /// What arrives may differ from what was posted.
    Receive,
    PersistentPlain,
    PersistentReceive,
}

impl Kind {
    pub fn is_persistent(self) -> bool {
        matches!(self, Kind::PersistentPlain | Kind::PersistentReceive)
    }

    pub fn receives(self) -> bool {
        matches!(self, Kind::Receive | Kind::PersistentReceive)
    }
}

/// One start, in the queue of its handle.
#[derive(Clone, Copy)]
struct Node {
    posted: Posted,
    /// The next start under the same handle, or the next unused node; [`NONE`] at the end.
    next: u32,
}

/// A handle and the queue of its starts.
#[derive(Clone, Copy)]
struct Place {
    handle: usize,
    /// [`NONE`] in a place that is not used.
    first: u32,
    last: u32,
}

const NONE: u32 = u32::MAX;
const EMPTY: Place = Place { handle: 0, first: NONE, last: NONE };

struct Table {
    places: Vec<Place>,
    /// Places in use.
    used: usize,
    nodes: Vec<Node>,
    unused: u32,
}

static TABLE: Biased<Table> =
    Biased::new(Table { places: Vec::new(), used: 0, nodes: Vec::new(), unused: NONE });
static SEVERAL_THREADS: AtomicBool = AtomicBool::new(false);
static NEXT_NUMBER: AtomicU32 = AtomicU32::new(1);

const FIRST_CAPACITY: usize = 4096;

/// From now on several threads may call MPI at the same time.
pub fn expect_several_threads() {
    SEVERAL_THREADS.store(true, Ordering::SeqCst);
    TABLE.share();
}

/// Whether several threads may call MPI at the same time.
pub fn several_threads() -> bool {
    SEVERAL_THREADS.load(Ordering::Relaxed)
}

/// This thread will start and complete nothing any more.
pub fn give_up() {
    TABLE.give_up(this_thread());
}

/// Takes `count` numbers in a row; the first is returned.
#[inline(always)]
pub fn take_numbers(count: u32) -> u32 {
    if SEVERAL_THREADS.load(Ordering::Relaxed) {
        return NEXT_NUMBER.fetch_add(count, Ordering::Relaxed);
    }
    let number = NEXT_NUMBER.load(Ordering::Relaxed);
    NEXT_NUMBER.store(number.wrapping_add(count), Ordering::Relaxed);
    number
}

/// Remembers what was posted under a handle.
#[inline(always)]
pub fn add(handle: usize, posted: Posted) {
    table().add(handle, posted);
}

/// A request has been completed: gives what was posted and forgets it, or ends a persistent one's round.
#[inline(always)]
pub fn complete(handle: usize) -> Option<Posted> {
    let mut table = table();
    let index = table.find(handle)?;
    let first = table.places[index].first as usize;
    let posted = &mut table.nodes[first].posted;
    if posted.kind.is_persistent() {
        // Waiting for a persistent request that is not under way completes nothing.
        let round = std::mem::take(&mut posted.round);
        return (round != 0).then_some(Posted { number: round, ..*posted });
    }
    Some(table.take_first(index))
}

/// Begins a round of the persistent request that had the handle `before` and has `now`; returns its number.
pub fn start(before: usize, now: usize, round: u32) -> Option<u32> {
    let mut table = table();
    let index = table.find(before)?;
    let first = table.places[index].first as usize;
    table.nodes[first].posted.round = round;
    let number = table.nodes[first].posted.number;
    if now != before {
        let posted = table.take_first(index);
        table.add(now, posted);
    }
    Some(number)
}

/// Forgets a request that the program freed.
pub fn forget(handle: usize) {
    let mut table = table();
    if let Some(index) = table.find(handle) {
        table.take_first(index);
    }
}

#[inline(always)]
fn table() -> Inside<'static, Table> {
    TABLE.enter(this_thread())
}

#[inline(always)]
fn this_thread() -> ThreadKey {
    // SAFETY: part of the thread's own block, which is there until the thread has ended; before that it gives up.
    unsafe { ThreadKey::of_own(&raw mut (*arch::thread_local()).presence) }
}

impl Table {
    #[inline(always)]
    fn home(&self, handle: usize) -> usize {
        // Handles are aligned pointers or counted numbers: the multiplication spreads both.
        (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) & (self.places.len() - 1)
    }

    /// Index of the place of a handle, or of the empty place where it would be.
    #[inline(always)]
    fn search(&self, handle: usize) -> usize {
        let mask = self.places.len() - 1;
        let mut index = self.home(handle);
        while self.places[index].first != NONE && self.places[index].handle != handle {
            index = (index + 1) & mask;
        }
        index
    }

    #[inline(always)]
    fn find(&self, handle: usize) -> Option<usize> {
        if self.used == 0 {
            return None;
        }
        let index = self.search(handle);
        (self.places[index].first != NONE).then_some(index)
    }

    #[inline(always)]
    fn add(&mut self, handle: usize, posted: Posted) {
        if self.used * 2 >= self.places.len() {
            self.enlarge();
        }
        let node = self.new_node(posted);
        let index = self.search(handle);
        let place = &mut self.places[index];
        if place.first == NONE {
            *place = Place { handle, first: node, last: node };
            self.used += 1;
        } else {
            let last = std::mem::replace(&mut place.last, node);
            self.nodes[last as usize].next = node;
        }
    }

    #[inline(always)]
    fn new_node(&mut self, posted: Posted) -> u32 {
        if self.unused == NONE {
            self.nodes.push(Node { posted, next: NONE });
            return self.nodes.len() as u32 - 1;
        }
        let node = self.unused;
        self.unused = self.nodes[node as usize].next;
        self.nodes[node as usize] = Node { posted, next: NONE };
        node
    }

    /// Takes the oldest start off the queue at this place.
    #[inline(always)]
    fn take_first(&mut self, index: usize) -> Posted {
        let node = self.places[index].first;
        let Node { posted, next } = self.nodes[node as usize];
        self.nodes[node as usize].next = self.unused;
        self.unused = node;
        self.places[index].first = next;
        if next == NONE {
            self.close_gap(index);
        }
        posted
    }

    /// Moves the places behind an emptied one up, so that no search breaks off too early.
    #[inline(always)]
    fn close_gap(&mut self, index: usize) {
        let mask = self.places.len() - 1;
        self.used -= 1;
        let mut hole = index;
        let mut next = (index + 1) & mask;
        while self.places[next].first != NONE {
            let home = self.home(self.places[next].handle);
            // A place may move up if its home does not lie between the hole and where it is.
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(hole) & mask) {
                self.places[hole] = std::mem::replace(&mut self.places[next], EMPTY);
                hole = next;
            }
            next = (next + 1) & mask;
        }
    }

    #[cold]
    fn enlarge(&mut self) {
        let capacity = (self.places.len() * 2).max(FIRST_CAPACITY);
        let old = std::mem::replace(&mut self.places, vec![EMPTY; capacity]);
        for place in old.into_iter().filter(|place| place.first != NONE) {
            let index = self.search(place.handle);
            self.places[index] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table { places: Vec::new(), used: 0, nodes: Vec::new(), unused: NONE }
    }

    fn posted(number: u32) -> Posted {
        Posted { number, kind: Kind::Plain, peer: 1, tag: 2, bytes: 3, round: 0 }
    }

    #[test]
    fn starts_that_share_a_handle_are_taken_in_their_order() {
        let mut table = table();
        assert_eq!(table.find(8), None);
        (1..=3).for_each(|number| table.add(8, posted(number)));
        for number in 1..=3 {
            let index = table.find(8).expect("known");
            assert_eq!(table.take_first(index).number, number);
        }
        assert_eq!((table.find(8), table.used), (None, 0));
    }

    #[test]
    fn every_handle_is_found_while_others_come_and_go() {
        let mut table = table();
        // Handles of Open MPI are pointers to objects of one size, those of MPICH numbers in a row.
        let handles: Vec<usize> = (0..3000).map(|i| if i % 2 == 0 { 0x7f00 + i * 192 } else { i }).collect();
        for (number, handle) in handles.iter().enumerate() {
            table.add(*handle, posted(number as u32));
            if number % 3 == 2 {
                let gone = table.find(handles[number - 1]).expect("known");
                assert_eq!(table.take_first(gone).number, number as u32 - 1);
            }
        }
        for (number, handle) in handles.iter().enumerate() {
            let expected = (number % 3 != 1).then_some(number as u32);
            let found = table.find(*handle).map(|index| table.take_first(index).number);
            assert_eq!(found, expected, "handle {handle:#x}");
        }
        assert_eq!(table.used, 0);
    }
}

//! Requests: from a handle back to the call that started it.
//!
//! Handles are not unique: libraries hand out the same one for every small send that is done at once. So
//! each start gets a number of our own, and starts that share a handle are completed in the order they were
//! made. The table is open-addressed with linear probing, and removal shifts entries back, which keeps equal
//! handles in order. It is locked only when the program asked for `MPI_THREAD_MULTIPLE`.

use std::cell::UnsafeCell;
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
    /// Where a communicator that is being duplicated will appear, and how it is called.
    pub duplicate: Option<(usize, (u64, u64))>,
}

/// What kind of operation a request stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing about it can change between posting and completion.
    Plain,
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

#[derive(Clone, Copy)]
struct Entry {
    handle: usize,
    posted: Posted,
}

const EMPTY: Option<Entry> = None;

struct Table {
    entries: Vec<Option<Entry>>,
    used: usize,
}

struct Shared(UnsafeCell<Table>);

// SAFETY: reached only through `with`, which locks where several threads may call MPI at once.
unsafe impl Sync for Shared {}

static TABLE: Shared = Shared(UnsafeCell::new(Table { entries: Vec::new(), used: 0 }));
static LOCKED: AtomicBool = AtomicBool::new(false);
static SEVERAL_THREADS: AtomicBool = AtomicBool::new(false);
static NEXT_NUMBER: AtomicU32 = AtomicU32::new(1);

const FIRST_CAPACITY: usize = 4096;

/// From now on several threads may call MPI at the same time.
pub fn expect_several_threads() {
    SEVERAL_THREADS.store(true, Ordering::SeqCst);
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
    with(|table| table.add(Entry { handle, posted }));
}

/// A request has been completed: gives what was posted and forgets it, or ends a persistent one's round.
#[inline(always)]
pub fn complete(handle: usize) -> Option<Posted> {
    with(|table| {
        let index = table.find(handle)?;
        let posted = &mut table.entries[index].as_mut()?.posted;
        if posted.kind.is_persistent() {
            // Waiting for a persistent request that is not under way completes nothing.
            let round = std::mem::take(&mut posted.round);
            return (round != 0).then_some(Posted { number: round, ..*posted });
        }
        Some(table.remove(index).posted)
    })
}

/// Begins a round of a persistent request: gives (number of the persistent request, number of the round).
pub fn start(handle: usize, round: u32) -> Option<u32> {
    with(|table| {
        let index = table.find(handle)?;
        let posted = &mut table.entries[index].as_mut()?.posted;
        posted.round = round;
        Some(posted.number)
    })
}

/// Forgets a request that the program freed.
pub fn forget(handle: usize) {
    with(|table| {
        if let Some(index) = table.find(handle) {
            table.remove(index);
        }
    });
}

#[inline(always)]
fn with<T>(act: impl FnOnce(&mut Table) -> T) -> T {
    let several = SEVERAL_THREADS.load(Ordering::Relaxed);
    if several {
        while LOCKED.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
    // SAFETY: either the lock is held, or MPI allows only one thread at a time to be here.
    let result = act(unsafe { &mut *TABLE.0.get() });
    if several {
        LOCKED.store(false, Ordering::Release);
    }
    result
}

impl Table {
    #[inline(always)]
    fn home(&self, handle: usize) -> usize {
        // Handles are aligned pointers or counted numbers: the multiplication spreads both.
        (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) & (self.entries.len() - 1)
    }

    #[inline(always)]
    fn add(&mut self, entry: Entry) {
        if self.used * 2 >= self.entries.len() {
            self.enlarge();
        }
        let mask = self.entries.len() - 1;
        let mut index = self.home(entry.handle);
        while self.entries[index].is_some() {
            index = (index + 1) & mask;
        }
        self.entries[index] = Some(entry);
        self.used += 1;
    }

    #[inline(always)]
    fn find(&self, handle: usize) -> Option<usize> {
        if self.used == 0 {
            return None;
        }
        let mask = self.entries.len() - 1;
        let mut index = self.home(handle);
        loop {
            match &self.entries[index] {
                None => return None,
                Some(entry) if entry.handle == handle => return Some(index),
                Some(_) => index = (index + 1) & mask,
            }
        }
    }

    /// Takes an entry out and moves those behind it up, so that no search breaks off too early.
    #[inline(always)]
    fn remove(&mut self, index: usize) -> Entry {
        let mask = self.entries.len() - 1;
        let removed = self.entries[index].take();
        self.used -= 1;
        let mut hole = index;
        let mut next = (index + 1) & mask;
        while let Some(entry) = &self.entries[next] {
            let home = self.home(entry.handle);
            // The entry may move up if its home does not lie between the hole and where it is.
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(hole) & mask) {
                self.entries[hole] = self.entries[next].take();
                hole = next;
            }
            next = (next + 1) & mask;
        }
        removed.expect("only entries that are there are removed")
    }

    #[cold]
    fn enlarge(&mut self) {
        let capacity = (self.entries.len() * 2).max(FIRST_CAPACITY);
        let old = std::mem::replace(&mut self.entries, vec![EMPTY; capacity]);
        self.used = 0;
        // From the beginning of a cluster on, so that equal handles keep their order across the wrap.
        let start = old.iter().position(Option::is_none).unwrap_or(0);
        let (head, tail) = old.split_at(start);
        for entry in tail.iter().chain(head).flatten() {
            self.add(*entry);
        }
    }
}

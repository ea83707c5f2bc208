//! MPI's functions as a program calls them: arguments in the order of the table of functions, wherever they came from.
//!
//! Every function of the table has an entry ([`Entry`]); those without a handler end the rank and say so. A handler notes the
//! call in the rank's stream as a recording would have it.

pub mod collective;
mod communicator;
mod completion;
mod datatype;
mod environment;
mod group;
mod message;
mod topology;

use crate::process::{Process, Stop, current};
use kizami_model::Op;

/// What a handler gives: the function's result.
pub type Outcome = Result<i64, Stop>;
/// Does what a function does.
pub type Handler = fn(&mut Process, &Arguments) -> Outcome;

/// One function of a program's, as the linker finds it.
pub struct Entry {
    /// Which.
    pub op: Op,
    /// Its full name.
    pub name: String,
    pub(crate) handler: Option<Handler>,
    /// Counts in arrays are 64 bits wide.
    pub(crate) wide: bool,
    /// What the arguments of a collective are.
    pub(crate) roles: Vec<collective::Role>,
}

impl Entry {
    /// Whether calls of it can be answered.
    pub fn is_known(&self) -> bool {
        self.handler.is_some()
    }
}

/// The arguments of one call.
pub struct Arguments {
    words: *const u64,
    pub op: Op,
    pub wide: bool,
    entry: *const Entry,
}

impl Arguments {
    /// What they are, if the function is a collective.
    pub fn roles(&self) -> &[collective::Role] {
        // SAFETY: the entry that was called, which lives as long as the program.
        unsafe { &(*self.entry).roles }
    }

    /// As a word.
    #[inline(always)]
    pub fn word(&self, index: usize) -> u64 {
        // SAFETY: the program's stub stored as many words as the table gives the function arguments.
        unsafe { *self.words.add(index) }
    }

    /// As an `int`.
    #[inline(always)]
    pub fn int(&self, index: usize) -> i32 {
        self.word(index) as i32
    }

    /// As a number, whatever its width.
    #[inline(always)]
    pub fn number(&self, index: usize) -> i64 {
        self.word(index) as i64
    }

    /// As an address.
    #[inline(always)]
    pub fn address(&self, index: usize) -> usize {
        self.word(index) as usize
    }

    /// Stores an `int` where an argument points to.
    #[inline(always)]
    pub fn give(&self, index: usize, value: i32) {
        let place = self.address(index) as *mut i32;
        if !place.is_null() {
            // SAFETY: the function stores an `int` there, as MPI says.
            unsafe { place.write_unaligned(value) };
        }
    }

    /// Stores a 64-bit number where an argument points to.
    pub fn give_wide(&self, index: usize, value: i64) {
        let place = self.address(index) as *mut i64;
        if !place.is_null() {
            // SAFETY: the function stores an `MPI_Aint` there, as MPI says.
            unsafe { place.write_unaligned(value) };
        }
    }

    /// The `int`s, or wider numbers, that an argument points to.
    pub fn list(&self, index: usize, count: usize) -> Vec<i64> {
        (0..count).map(|place| read_count(self.address(index), self.wide, place)).collect()
    }

    /// The `int`s that an argument points to.
    pub fn ints(&self, index: usize, count: usize) -> Vec<i32> {
        (0..count).map(|place| read_count(self.address(index), false, place) as i32).collect()
    }

    /// The `MPI_Aint`s that an argument points to.
    pub fn wides(&self, index: usize, count: usize) -> Vec<i64> {
        (0..count).map(|place| read_count(self.address(index), true, place)).collect()
    }
}

/// One of the numbers at an address.
#[inline]
pub fn read_count(address: usize, wide: bool, place: usize) -> i64 {
    if address == 0 {
        return 0;
    }
    // SAFETY: MPI asks for an array of that many numbers there.
    unsafe {
        if wide {
            (address as *const i64).add(place).read_unaligned()
        } else {
            i64::from((address as *const i32).add(place).read_unaligned())
        }
    }
}

/// What every stub of the program calls.
///
/// # Safety
/// Only from a program that runs as a rank of this thread, with the words its function takes.
pub unsafe extern "C" fn enter(entry: *const Entry, words: *const u64) -> i64 {
    // SAFETY: by contract; entries live as long as the program.
    let (process, entry) = unsafe { (current(), &*entry) };
    let arguments = Arguments { words, op: entry.op, wide: entry.wide, entry };
    let outcome = match entry.handler {
        Some(handler) => handler(process, &arguments),
        None => Err(Stop::Refused("is not supported by the MPI stub".to_owned())),
    };
    match outcome {
        Ok(result) => result,
        Err(stop) => {
            let name = &entry.name;
            let stop = match stop {
                Stop::Refused(why) => Stop::Refused(format!("{name} {why}{}", place(process))),
                Stop::NeedsOthers(why) => Stop::NeedsOthers(format!("{name}: {why}{}", place(process))),
                other => other,
            };
            process.end(stop)
        }
    }
}

/// Where the call was made, for messages: the caller puts names for numbers.
fn place(process: &Process) -> String {
    match process.site {
        kizami_mpi_stub::event::NO_SITE => String::new(),
        site => format!(" (call site {site})"),
    }
}

/// The entry of a function, by its full name, such as `MPI_Send`.
pub fn entry(name: &str) -> Entry {
    let plain = name.strip_prefix('P').unwrap_or(name);
    let op = Op::by_name(plain);
    let wide = plain.ends_with("_c");
    let short = plain.strip_prefix("MPI_").unwrap_or(plain);
    let handler = op.and_then(|op| handler(short.strip_suffix("_c").unwrap_or(short), op));
    let roles = op.map_or_else(Vec::new, collective::roles);
    Entry { op: op.unwrap_or(Op(0)), name: plain.to_owned(), handler, wide, roles }
}

fn handler(name: &str, op: Op) -> Option<Handler> {
    environment::handler(name)
        .or_else(|| message::handler(name))
        .or_else(|| completion::handler(name))
        .or_else(|| communicator::handler(name))
        .or_else(|| topology::handler(name))
        .or_else(|| group::handler(name))
        .or_else(|| datatype::handler(name))
        .or_else(|| collective::handler(op))
}

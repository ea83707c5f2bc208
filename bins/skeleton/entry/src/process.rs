//! One rank while it runs: its MPI state, its memory, and what it did.

use crate::convention::{Convention, Object};
use crate::coroutine;
use crate::heap::Heap;
use crate::observed::OracleValues;
use crate::requests::Requests;
use kizami_model::Op;
use kizami_mpi_stub::communicator::Communicator;
use kizami_mpi_stub::datatype::{Basic, Datatypes, TypeId};
use kizami_mpi_stub::event::{NO_SITE, Partner, Stream, flag};
use kizami_mpi_stub::group::Group;
use kizami_mpi_stub::process_group::ProcessGroup;
use std::cell::Cell;

/// Why a rank does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It returned from `main`, or called `exit`.
    Ended(i32),
    /// It called `MPI_Abort`.
    Aborted(i32),
    /// It did what the stand-in cannot answer.
    Refused(String),
    /// It asked for something that only other ranks know, and ran alone.
    NeedsOthers(String),
    /// It crashed by this signal.
    Crashed(i32),
}

/// Where a rank is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs, or can go on.
    Ready,
    /// It waits for others.
    Waiting,
    /// It is over.
    Over(Stop),
}

/// A user's reduction.
#[derive(Clone, Copy, Debug)]
pub struct UserOperation {
    /// The C function.
    pub function: usize,
    /// Whether the order of ranks matters.
    pub commutes: bool,
}

/// What an attribute key was made with.
#[derive(Clone, Copy, Debug)]
pub struct Keyval {
    pub copy: usize,
    pub extra: usize,
}

/// What a rank begins with.
pub struct Beginning {
    /// Ranks of the run.
    pub size: u32,
    /// How its program's headers spell things.
    pub convention: Convention,
    /// What others are to it; must live longer than the rank.
    pub process_group: *mut ProcessGroup,
    /// Values of places that depend on data.
    pub oracles: OracleValues,
    /// Its memory.
    pub heap: Heap,
    /// The top of its stack.
    pub stack_top: usize,
    /// Ranks of a node.
    pub ranks_per_node: u32,
    /// Its `main`.
    pub main: usize,
    /// What runs before that, or 0.
    pub constructors: usize,
    /// How many arguments there are.
    pub argc: i32,
    /// Where they are; must live longer than the rank.
    pub argv: usize,
}

/// One rank.
pub struct Process {
    /// Which.
    pub rank: u32,
    pub(crate) size: u32,
    pub(crate) convention: Convention,
    pub(crate) process_group: *mut ProcessGroup,
    /// Its communicators: the world, itself, and those it made.
    pub comms: Vec<Option<Communicator>>,
    pub(crate) groups: Vec<Option<Group>>,
    pub(crate) types: Datatypes,
    pub(crate) requests: Requests,
    pub(crate) operations: Vec<UserOperation>,
    pub(crate) infos: Vec<Vec<(String, String)>>,
    pub(crate) keyvals: Vec<Keyval>,
    pub(crate) messages: Vec<Option<(kizami_mpi_stub::process_group::Message, u32)>>,
    /// What it did.
    pub stream: Stream,
    pub(crate) site: u16,
    pub(crate) trips: Vec<(u32, i64)>,
    /// Numbers of the requests that a call completes, kept for the next call's.
    pub(crate) completed: Vec<(u32, u32)>,
    pub(crate) oracles: OracleValues,
    pub(crate) heap: Heap,
    /// Where it is.
    pub state: State,
    pub(crate) initialised: bool,
    pub(crate) finalised: bool,
    pub(crate) clock: f64,
    pub(crate) ranks_per_node: u32,
    pub(crate) buffer_attached: (usize, i64),
    /// Constants that the program may be given the address of.
    pub(crate) constants: Box<[i32; 4]>,
    /// Where this rank was left, and where whoever runs it was left.
    pub(crate) stack: usize,
    pub(crate) stack_top: usize,
    pub(crate) runner: usize,
    /// What begins it.
    pub(crate) main: usize,
    pub(crate) constructors: usize,
    pub(crate) argc: i32,
    pub(crate) argv: usize,
}

thread_local! {
    /// The rank that runs on this thread.
    pub static CURRENT: Cell<*mut Process> = const { Cell::new(std::ptr::null_mut()) };
}

/// The rank that calls us.
///
/// # Safety
/// Only from functions that a program calls while it runs as a rank of this thread.
#[inline(always)]
pub unsafe fn current() -> &'static mut Process {
    // SAFETY: the runner sets it before it switches to the rank, and a rank runs on one thread.
    unsafe { &mut *CURRENT.get() }
}

unsafe extern "C" {
    /// Where `getopt` is in the command line.
    static mut optind: std::ffi::c_int;
}

/// Begins the rank that is current; ends it when `main` returns.
pub extern "C" fn begin() -> ! {
    // SAFETY: the runner has just switched to this rank.
    let process = unsafe { current() };
    type Main = extern "C" fn(i32, usize, usize) -> i32;
    // Every rank reads its command line from the start; where `getopt` is, the C library keeps for the whole process.
    // SAFETY: glibc's own variable, which ranks of this process use one at a time; 0 makes it begin anew.
    unsafe { optind = 0 };
    if process.constructors != 0 {
        // SAFETY: the function that was made of the program's constructors.
        let constructors: extern "C" fn() = unsafe { std::mem::transmute(process.constructors) };
        constructors();
    }
    // SAFETY: the program's `main`; it takes fewer arguments than it is given, if any.
    let main: Main = unsafe { std::mem::transmute(process.main) };
    let code = main(process.argc, process.argv, 0);
    process.end(Stop::Ended(code))
}

impl Process {
    /// Rank 0, before it runs.
    pub fn new(with: Beginning) -> Box<Process> {
        let mut process = Box::new(Process {
            rank: 0,
            size: with.size,
            convention: with.convention,
            process_group: with.process_group,
            comms: Vec::new(),
            groups: Vec::new(),
            types: Datatypes::default(),
            requests: Requests::default(),
            operations: Vec::new(),
            infos: Vec::new(),
            keyvals: Vec::new(),
            messages: Vec::new(),
            stream: Stream::default(),
            site: NO_SITE,
            trips: Vec::new(),
            completed: Vec::new(),
            oracles: with.oracles,
            heap: with.heap,
            state: State::Ready,
            initialised: false,
            finalised: false,
            clock: 0.0,
            ranks_per_node: with.ranks_per_node.max(1),
            buffer_attached: (0, 0),
            constants: Box::new([i32::MAX, 0, 0, 0]),
            stack: 0,
            stack_top: with.stack_top,
            runner: 0,
            main: with.main,
            constructors: with.constructors,
            argc: with.argc,
            argv: with.argv,
        });
        process.reset(0);
        process
    }

    /// Makes it what it was before it ran, as another rank.
    pub fn reset(&mut self, rank: u32) {
        self.rank = rank;
        self.comms.clear();
        self.comms.push(Some(Communicator::world(rank, self.size)));
        self.comms.push(Some(Communicator::of_self(rank)));
        self.groups.clear();
        self.groups.push(Some(Group::of(Vec::new())));
        self.types.reset();
        self.requests.reset();
        self.operations.clear();
        self.infos.clear();
        self.infos.push(Vec::new());
        self.keyvals.clear();
        self.messages.clear();
        self.messages.push(None);
        self.stream.clear();
        self.site = NO_SITE;
        self.trips.clear();
        self.oracles.rewind(rank);
        self.heap.reset();
        self.state = State::Ready;
        self.initialised = false;
        self.finalised = false;
        self.clock = 0.0;
        // SAFETY: the stack is this rank's own, and nobody is on it.
        self.stack = unsafe { coroutine::prepare(self.stack_top, begin) };
    }

    /// Lets it go on until it waits or is over.
    pub fn resume(&mut self) {
        let before = CURRENT.replace(self);
        // SAFETY: `stack` is where it was left, or where it begins.
        unsafe { coroutine::switch(&raw mut self.runner, self.stack) };
        CURRENT.set(before);
    }

    /// Leaves it; comes back when it is resumed.
    pub fn wait(&mut self) {
        self.state = State::Waiting;
        // SAFETY: `runner` is where whoever resumed us was left.
        unsafe { coroutine::switch(&raw mut self.stack, self.runner) };
    }

    /// Leaves it for good.
    pub fn end(&mut self, stop: Stop) -> ! {
        self.state = State::Over(stop);
        // SAFETY: as for `wait`.
        unsafe { coroutine::switch(&raw mut self.stack, self.runner) };
        unreachable!("a rank that is over is not resumed")
    }

    /// What others are to this rank.
    #[inline]
    pub fn process_group(&self) -> &'static mut ProcessGroup {
        // SAFETY: the runner keeps it longer than its ranks, and ranks of a thread run one at a time.
        unsafe { &mut *self.process_group }
    }

    /// Whether this rank runs alone.
    #[inline]
    pub fn is_alone(&self) -> bool {
        matches!(self.process_group(), ProcessGroup::Alone(_))
    }

    /// The communicator with this number.
    #[inline]
    pub fn comm(&self, id: u32) -> Result<&Communicator, Stop> {
        self.comms
            .get(id as usize)
            .and_then(Option::as_ref)
            .ok_or_else(|| Stop::Refused("uses an invalid communicator".to_owned()))
    }

    /// The number of a communicator by its handle.
    #[inline(always)]
    pub fn comm_id(&self, word: u64) -> Result<u32, Stop> {
        let id = self.convention.decode(Object::Comm, word);
        id.ok_or_else(|| Stop::Refused("uses an invalid communicator".to_owned()))
    }

    /// The number of a datatype by its handle.
    #[inline(always)]
    pub fn type_id(&self, word: u64) -> Result<TypeId, Stop> {
        let id = self.convention.decode(Object::Datatype, word);
        id.ok_or_else(|| Stop::Refused(format!("uses an unknown datatype (handle {word:#x})")))
    }

    /// Bytes of so many elements.
    #[inline(always)]
    pub fn bytes(&self, datatype: TypeId, count: i64) -> u64 {
        self.types.bytes(datatype, count).unwrap_or(0)
    }

    /// The other side, as a stream tells it, of a place in a communicator.
    #[inline(always)]
    pub fn partner(&self, comm: u32, place: i32) -> Result<Partner, Stop> {
        if place == self.convention.proc_null {
            return Ok(Partner::Null);
        }
        if place == self.convention.any_source {
            return Ok(Partner::Any);
        }
        match self.comm(comm)?.world_rank(place as u32) {
            Some(world) => Ok(Partner::of(world, self.rank, self.size)),
            None => Err(Stop::Refused(format!("names rank {place}, which is not in the communicator"))),
        }
    }

    /// Begins to note a call; what was counted before it is noted first.
    #[inline(always)]
    pub fn note(&mut self, op: Op, flags: u16, comm: u32) {
        if !self.trips.is_empty() {
            self.stream.trips(&self.trips);
            self.trips.clear();
        }
        self.stream.call(op, flags, comm as u16, self.site);
        self.site = NO_SITE;
    }

    /// Notes a call of which only that it happened is told.
    #[inline]
    pub fn note_plain(&mut self, op: Op, comm: Option<u32>) {
        match comm {
            Some(comm) => self.note(op, 0, comm),
            None => self.note(op, flag::NO_COMM, 0),
        }
    }

    /// Adds a communicator; gives its number.
    pub fn add_comm(&mut self, comm: Communicator) -> Result<u32, Stop> {
        if self.comms.len() >= usize::from(u16::MAX) {
            return Err(Stop::Refused("creates more than 65,535 communicators".to_owned()));
        }
        self.comms.push(Some(comm));
        Ok(self.comms.len() as u32 - 1)
    }

    /// Packs data of the program.
    ///
    /// # Safety
    /// There must be that much data at the address, unless it is 0.
    pub unsafe fn pack(&self, address: usize, count: i64, datatype: TypeId) -> Option<Vec<u8>> {
        if address == 0 {
            return (self.bytes(datatype, count) == 0).then(Vec::new);
        }
        let mut data = Vec::with_capacity(self.bytes(datatype, count) as usize);
        self.types.blocks(datatype, count, &mut |block| {
            let bytes = bytes_of(block.basic, block.count);
            // SAFETY: the datatype says that there is data of the program.
            let from =
                unsafe { std::slice::from_raw_parts((address as i64 + block.offset) as *const u8, bytes) };
            data.extend_from_slice(from);
        });
        Some(data)
    }

    /// Unpacks as much as there is into memory of the program.
    ///
    /// # Safety
    /// There must be that much room at the address, unless it is 0.
    pub unsafe fn unpack(&self, address: usize, count: i64, datatype: TypeId, data: &[u8]) {
        if address == 0 {
            return;
        }
        let mut left = data;
        self.types.blocks(datatype, count, &mut |block| {
            let bytes = bytes_of(block.basic, block.count).min(left.len());
            let (now, later) = left.split_at(bytes);
            left = later;
            // SAFETY: the datatype says that there is room of the program.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    now.as_ptr(),
                    (address as i64 + block.offset) as *mut u8,
                    bytes,
                );
            }
        });
    }
}

fn bytes_of(basic: Basic, count: u64) -> usize {
    basic.traits().0 as usize * count as usize
}

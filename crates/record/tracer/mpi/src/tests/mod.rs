//! All the way of a call, from the exported stub to the record in the segment, without an MPI.
//!
//! Behind the stubs stands a made-up library ([`library`]) that follows the conventions of Open MPI (handles are addresses)
//! or MPICH (handles are 32-bit numbers). A process has one library, so each test runs its script in a process
//! of its own: the test's own program, started again for that test alone. What the script recorded is read back
//! with the crates that readers use.

mod collectives;
mod every_function;
mod library;
mod messages;
mod requests;

use crate::abi::{self, Kind};
use crate::wrappers::STUBS;
use kizami_model::{Op, StopReason};
use kizami_records::{CallRecord, Completion, Record, Records, Started};
use kizami_segment::Segment;
use library::{MOST_ARGUMENTS, store_handle, store_status};
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::process::Command;

/// A record, without what differs from run to run.
#[derive(Debug, PartialEq)]
enum Recorded {
    Call(CallRecord),
    Completion(CallRecord, Vec<Completion>),
    Start(CallRecord, Vec<Started>),
    /// Polls that found nothing, and how many.
    Fold(CallRecord, u64),
    /// An amount, recorded under the number of its name.
    Count(u32, u64),
}

/// Makes a test of a script and what it is to leave, with both conventions.
macro_rules! scripts {
    ($($name:ident: $script:expr => $expected:expr;)+) => {
        $(
            mod $name {
                use super::*;
                use crate::tests::recorded;

                #[test]
                fn open_mpi() {
                    let name = concat!(module_path!(), "::open_mpi");
                    if let Some(recorded) = recorded(name, Kind::OpenMpi, $script) {
                        assert_eq!(recorded, $expected);
                    }
                }

                #[test]
                fn mpich() {
                    let name = concat!(module_path!(), "::mpich");
                    if let Some(recorded) = recorded(name, Kind::Mpich, $script) {
                        assert_eq!(recorded, $expected);
                    }
                }
            }
        )+
    };
}
use scripts;

/// What a script leaves between `MPI_Init` and `MPI_Finalize`; `None` in the process that runs it.
fn recorded(test: &str, kind: Kind, script: fn(&Mpi)) -> Option<Vec<Recorded>> {
    if std::env::var_os("KIZAMI_RAW").is_some() {
        library::take_place(kind);
        let mpi = Mpi;
        mpi.call("MPI_Init", &[0, 0], |_| 0);
        script(&mpi);
        mpi.call("MPI_Finalize", &[], |_| 0);
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // The crate's name is no part of a test's.
    let (_, test) = test.split_once("::").expect("a path");
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env("KIZAMI_RAW", folder.path())
        .env("KIZAMI_TRACER_TALK", "never")
        .output()
        .expect("this program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "{}", text(&output.stdout));
    let files =
        std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("a file").path());
    let calls: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "calls")).collect();
    let [path] = calls.as_slice() else { panic!("one thread has called: {calls:?}") };
    let mut recorded = read(&std::fs::read(path).expect("a segment"));
    for name in ["MPI_Init", "MPI_Finalize"] {
        let own = Recorded::Call(record(name, |_| ()));
        let index = recorded.iter().position(|recorded| *recorded == own).expect(name);
        recorded.remove(index);
    }
    Some(recorded)
}

fn read(bytes: &[u8]) -> Vec<Recorded> {
    let segment = Segment::parse(bytes).expect("a segment");
    assert_eq!(segment.header.lost_calls, 0);
    let mut records = Records::of(&segment);
    let alike = |call: CallRecord| {
        assert_ne!(call.site, 0);
        CallRecord { start_ticks: 0, duration_ticks: 0, site: 0, ..call }
    };
    let mut recorded = Vec::new();
    for record in records.by_ref() {
        recorded.push(match record {
            Record::Call(call) => Recorded::Call(alike(call)),
            Record::Completion(call, completed) => Recorded::Completion(alike(call), completed),
            Record::Start(call, started) => Recorded::Start(alike(call), started),
            Record::Fold { call, count, .. } => Recorded::Fold(alike(call), count),
            Record::Count { name, amount, .. } => Recorded::Count(name, amount),
            // The machine decides when there is a core.
            Record::OffCore { .. } => continue,
            Record::Stop { reason: StopReason::ChunkWait | StopReason::Calibration, .. } => continue,
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(records.damage(), []);
    recorded
}

/// A call of this name of which nothing else is known than what `fill` adds.
fn record(name: &str, fill: impl FnOnce(&mut CallRecord)) -> CallRecord {
    let mut record = CallRecord::new(Op::by_name(name).expect("a function"), 0, 0);
    fill(&mut record);
    record
}

fn call(name: &str, fill: impl FnOnce(&mut CallRecord)) -> Recorded {
    Recorded::Call(record(name, fill))
}

fn completion(name: &str, completed: &[Completion]) -> Recorded {
    Recorded::Completion(record(name, |_| ()), completed.to_vec())
}

/// `count` requests from this one on ended as they were posted.
fn as_posted(request: u32, count: u32) -> Completion {
    Completion::AsPosted { request, count }
}

/// The program's side of the made-up MPI.
struct Mpi;

impl Mpi {
    /// Calls a function as programs do, by its stub; `act` is what MPI does then, and gets its first arguments.
    fn call(&self, name: &str, arguments: &[usize], act: impl FnOnce([usize; 4]) -> c_int + Send + 'static) {
        library::expect(Box::new(act));
        let row = usize::from(Op::by_name(name).expect("a function").0) - 1;
        let mut all = [0; MOST_ARGUMENTS];
        all[..arguments.len()].copy_from_slice(arguments);
        call_stub(STUBS[row][0], all);
        assert!(library::was_called(), "{name} was not called");
    }

    fn world(&self) -> usize {
        abi::get().comm_world
    }

    /// Starts something under a handle, which MPI stores as the last argument says.
    fn start(&self, name: &str, arguments: &[usize], handle: usize) {
        let place = handles(&[0]);
        let address = place.address();
        self.call(name, &[arguments, &[address]].concat(), move |_| {
            store_handle(address, handle);
            0
        });
    }
}

/// The one call site of all scripts: polls are folded only if they come from one.
#[inline(never)]
fn call_stub(stub: unsafe extern "C" fn(), arguments: [usize; MOST_ARGUMENTS]) {
    type N = usize;
    type Stub = unsafe extern "C" fn(N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N) -> c_int;
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = arguments;
    // SAFETY: what a function does not take lies in registers and on the stack, and is not read there; what it takes are
    // places that tests have.
    unsafe {
        let stub: Stub = std::mem::transmute(stub);
        stub(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    }
}

/// Memory of the program's that MPI reads and writes.
struct Memory(Vec<UnsafeCell<u64>>);

impl Memory {
    fn of(bytes: usize) -> Memory {
        Memory((0..bytes.div_ceil(8).max(1)).map(|_| UnsafeCell::new(0)).collect())
    }

    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

/// An array of handles as MPI has it.
fn handles(handles: &[usize]) -> Memory {
    let bytes = abi::get().handle_bytes;
    let array = Memory::of(handles.len() * bytes);
    for (index, handle) in handles.iter().enumerate() {
        store_handle(array.address() + index * bytes, *handle);
    }
    array
}

/// Room for so many statuses.
fn statuses(count: usize) -> Memory {
    Memory::of(count * abi::get().status_bytes)
}

/// An array of numbers.
fn numbers<T: Copy>(numbers: &[T]) -> Memory {
    let array = Memory::of(size_of_val(numbers));
    for (index, number) in numbers.iter().enumerate() {
        // SAFETY: there is room for all of them.
        unsafe { *(array.address() as *mut T).add(index) = *number };
    }
    array
}

/// Stores the `index`th number of an array.
fn set(numbers: usize, index: usize, number: c_int) {
    // SAFETY: tests pass places of numbers.
    unsafe { *(numbers as *mut c_int).add(index) = number };
}

/// Fills in the `index`th status of an array.
fn arrive(statuses: usize, index: usize, source: i32, tag: i32, bytes: u64) {
    store_status(statuses + index * abi::get().status_bytes, source, tag, bytes, false);
}

//! A made-up MPI: this process is rank 1 of 4, and what a function of the program's does is said call by call.
//!
//! What the tracer asks for itself is answered by functions of their own; everything else leads to [`answer`].

use crate::abi::{self, Abi, Kind};
use crate::real;
use kizami_model::Op;
use kizami_model::function::mpi_functions;
use std::ffi::{CStr, c_int, c_void};
use std::sync::Mutex;

pub const RANK: i32 = 1;
pub const SIZE: i32 = 4;
/// More than any function has.
pub const MOST_ARGUMENTS: usize = 16;
/// The size of a made-up datatype stands in its second byte, as in MPICH's.
pub const DOUBLE: usize = 0x4c00_080b;

/// What the function that is called next does: gets its arguments, gives its result.
pub type Answer = Box<dyn FnOnce([usize; 4]) -> c_int + Send>;
static ANSWER: Mutex<Option<Answer>> = Mutex::new(None);

/// Has the function that is called next do this.
pub fn expect(answer: Answer) {
    assert!(ANSWER.lock().unwrap().replace(answer).is_none(), "the call before never came");
}

/// Whether the function that was expected has been called.
pub fn was_called() -> bool {
    ANSWER.lock().unwrap().is_none()
}

extern "C" fn answer(a: usize, b: usize, c: usize, d: usize) -> c_int {
    let answer = ANSWER.lock().unwrap().take().expect("a call that was expected");
    answer([a, b, c, d])
}

/// Takes the place of MPI in this process.
pub fn take_place(kind: Kind) {
    abi::make_up(match kind {
        Kind::OpenMpi => Abi::open_mpi(|name| address(name) as usize),
        _ => Abi::mpich(),
    });
    for function in mpi_functions() {
        let answer: *mut c_void = answer as *mut c_void;
        let own = OWN.iter().find(|(name, _)| *name == function.name);
        real::make_up(function.op, answer, own.map_or(asked_for_nothing as *mut c_void, |(_, own)| own.0));
    }
    assert!(OWN.iter().all(|(name, _)| Op::by_name(name).is_some()));
}

/// Open MPI's objects are known by their addresses.
fn address(name: &CStr) -> u64 {
    let objects = [
        c"ompi_mpi_comm_world",
        c"ompi_mpi_comm_self",
        c"ompi_mpi_comm_null",
        c"ompi_request_null",
        c"ompi_mpi_byte",
    ];
    let index = objects.iter().position(|object| *object == name).expect("an object that MPI has");
    0x7f5a_0000_0100 + 0x1_0000 * index as u64
}

struct Function(*mut c_void);
// SAFETY: the address of a function.
unsafe impl Sync for Function {}

static OWN: [(&str, Function); 15] = [
    ("MPI_Query_thread", Function(query_thread as *mut c_void)),
    ("MPI_Get_library_version", Function(library_version as *mut c_void)),
    ("MPI_Comm_get_parent", Function(no_parent as *mut c_void)),
    ("MPI_Comm_rank", Function(comm_rank as *mut c_void)),
    ("MPI_Comm_size", Function(size as *mut c_void)),
    ("MPI_Comm_test_inter", Function(zero as *mut c_void)),
    ("MPI_Comm_group", Function(group as *mut c_void)),
    ("MPI_Win_get_group", Function(window_group as *mut c_void)),
    ("MPI_Group_size", Function(size as *mut c_void)),
    ("MPI_Group_translate_ranks", Function(translate as *mut c_void)),
    ("MPI_Group_free", Function(nothing as *mut c_void)),
    ("MPI_Topo_test", Function(zero as *mut c_void)),
    ("MPI_Type_size_x", Function(type_size as *mut c_void)),
    ("MPI_Status_set_elements_x", Function(set_elements as *mut c_void)),
    ("MPI_Get_elements_x", Function(get_elements as *mut c_void)),
];

/// The tracer calls nothing else while a program runs on one host.
extern "C" fn asked_for_nothing() -> c_int {
    panic!("the tracer has called a function that it does not need")
}

extern "C" fn nothing() -> c_int {
    0
}

extern "C" fn query_thread(level: *mut c_int) -> c_int {
    zero(0, level)
}

extern "C" fn zero(_handle: usize, place: *mut c_int) -> c_int {
    // SAFETY: the caller has a place for a number.
    unsafe { *place = 0 };
    0
}

extern "C" fn library_version(text: *mut u8, length: *mut c_int) -> c_int {
    // SAFETY: the caller has places for text and number.
    unsafe {
        text.copy_from(c"Made-up MPI".as_ptr().cast(), 12);
        *length = 11;
    }
    0
}

extern "C" fn no_parent(place: usize) -> c_int {
    store_handle(place, abi::get().comm_null);
    0
}

fn is_self(handle: usize) -> bool {
    abi::get().handle(handle) == abi::get().comm_self
}

extern "C" fn comm_rank(comm: usize, rank: *mut c_int) -> c_int {
    // SAFETY: as above.
    unsafe { *rank = if is_self(comm) { 0 } else { RANK } };
    0
}

/// Of a communicator, or of its group: that has the same handle.
extern "C" fn size(handle: usize, size: *mut c_int) -> c_int {
    // SAFETY: as above.
    unsafe { *size = if is_self(handle) { 1 } else { SIZE } };
    0
}

extern "C" fn group(comm: usize, place: usize) -> c_int {
    store_handle(place, comm);
    0
}

extern "C" fn window_group(_window: usize, place: usize) -> c_int {
    store_handle(place, abi::get().comm_world);
    0
}

extern "C" fn translate(from: usize, count: c_int, ranks: *const i32, _to: usize, out: *mut i32) -> c_int {
    for index in 0..count as usize {
        // SAFETY: as above.
        unsafe { *out.add(index) = if is_self(from) { RANK } else { *ranks.add(index) } };
    }
    0
}

extern "C" fn type_size(datatype: usize, size: *mut i64) -> c_int {
    // SAFETY: as above.
    unsafe { *size = (datatype >> 8 & 0xff) as i64 };
    0
}

extern "C" fn set_elements(status: usize, _datatype: usize, count: i64) -> c_int {
    store_status(status, 0, 0, count as u64, false);
    0
}

extern "C" fn get_elements(_status: usize, _datatype: usize, _count: *mut i64) -> c_int {
    panic!("bytes are read off a status whose layout is known")
}

/// Stores a handle as MPI does: not one byte more.
pub fn store_handle(place: usize, handle: usize) {
    // SAFETY: tests pass places for a handle.
    unsafe {
        match abi::get().kind {
            Kind::OpenMpi => *(place as *mut usize) = handle,
            _ => *(place as *mut u32) = handle as u32,
        }
    }
}

/// Fills in a status as MPI does.
pub fn store_status(place: usize, source: i32, tag: i32, bytes: u64, cancelled: bool) {
    #[repr(C)]
    struct OpenMpi {
        source: i32,
        tag: i32,
        error: i32,
        cancelled: i32,
        bytes: u64,
    }
    #[repr(C)]
    struct Mpich {
        low: u32,
        high_and_cancelled: u32,
        source: i32,
        tag: i32,
        error: i32,
    }
    // SAFETY: tests pass places for a status.
    unsafe {
        match abi::get().kind {
            Kind::OpenMpi => {
                let cancelled = cancelled.into();
                *(place as *mut OpenMpi) = OpenMpi { source, tag, error: 0, cancelled, bytes };
            }
            _ => {
                let high_and_cancelled = ((bytes >> 32) as u32) << 1 | u32::from(cancelled);
                let low = bytes as u32;
                *(place as *mut Mpich) = Mpich { low, high_and_cancelled, source, tag, error: 0 };
            }
        }
    }
}

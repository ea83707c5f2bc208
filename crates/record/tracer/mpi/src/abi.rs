//! What differs between MPI libraries when seen from outside: sizes, layouts and constants.
//!
//! Four conventions cover all libraries we know: Open MPI (handles are pointers to its own objects), MPICH
//! and its relatives (handles are 32-bit integers), the standard ABI of MPI 5, and SimGrid's simulator.

use crate::{real, simulator};
use std::ffi::CStr;
use std::sync::OnceLock;

/// Which convention a library follows; the number is what segment headers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    OpenMpi = 1,
    Mpich = 2,
    Standard = 3,
    Smpi = 4,
}

/// The constants of one convention.
#[derive(Debug)]
pub struct Abi {
    pub kind: Kind,
    pub handle_bytes: usize,
    pub status_bytes: usize,
    source_offset: usize,
    tag_offset: usize,
    /// Where a status says that its operation was cancelled, if not beside the count.
    cancelled_offset: Option<usize>,
    count: CountField,
    pub comm_world: usize,
    pub comm_self: usize,
    pub comm_null: usize,
    pub request_null: usize,
    pub byte: usize,
    pub status_ignore: usize,
    pub in_place: usize,
    pub any_source: i32,
    pub any_tag: i32,
    pub root: i32,
    pub undefined: i32,
    pub thread_multiple: i32,
    pub cart: i32,
    pub graph: i32,
    pub dist_graph: i32,
    pub lock_exclusive: i32,
}

/// Where a status keeps the number of bytes received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountField {
    /// A 64-bit number at this offset.
    Whole(usize),
    /// Low and high half at this offset, the high half shifted by one (its lowest bit means "cancelled").
    Split(usize),
    /// A 32-bit number at this offset.
    Half(usize),
}

static ABI: OnceLock<Abi> = OnceLock::new();

/// The convention of the MPI library in this process.
pub fn get() -> &'static Abi {
    ABI.get_or_init(detect)
}

/// Has the process follow a convention, before it is queried.
#[cfg(test)]
pub fn make_up(abi: Abi) {
    ABI.set(abi).expect("nobody has asked");
}

fn detect() -> Abi {
    let variable = |name: &CStr| real::variable(name).map_or(0, |address| address as usize);
    if real::variable(c"ompi_mpi_comm_world").is_some() {
        return Abi::open_mpi(variable);
    }
    if let Some(simulator) = simulator::get() {
        return Abi {
            kind: Kind::Smpi,
            handle_bytes: 8,
            status_bytes: 20,
            source_offset: 0,
            tag_offset: 4,
            cancelled_offset: Some(16),
            count: CountField::Half(12),
            // A variable: the handle is what it holds.
            // SAFETY: the simulator's own variable of this name is a pointer.
            comm_world: real::variable(c"MPI_COMM_WORLD")
                .map_or(0, |place| unsafe { *place.cast::<usize>() }),
            comm_self: simulator.comm_self(),
            comm_null: 0,
            request_null: 0,
            byte: variable(c"smpi_MPI_BYTE"),
            status_ignore: 0,
            in_place: -222isize as usize,
            any_source: -555,
            any_tag: -444,
            // As the root of a collective it is never seen: it is a rank, too.
            root: 0,
            undefined: -333,
            thread_multiple: 3,
            cart: 2,
            graph: 1,
            dist_graph: 3,
            lock_exclusive: 1,
        };
    }
    let standard = real::library_path().is_some_and(|path| path.contains("libmpi_abi"));
    if standard {
        return Abi {
            kind: Kind::Standard,
            handle_bytes: 8,
            status_bytes: 32,
            source_offset: 0,
            tag_offset: 4,
            cancelled_offset: None,
            count: CountField::Split(12),
            comm_world: 0x101,
            comm_self: 0x102,
            comm_null: 0x100,
            request_null: 0x180,
            byte: 0x247,
            status_ignore: 0,
            in_place: 1,
            any_source: -1,
            any_tag: -2,
            root: -4,
            undefined: -32766,
            thread_multiple: 4096,
            cart: 211,
            graph: 212,
            dist_graph: 213,
            lock_exclusive: 301,
        };
    }
    Abi::mpich()
}

impl Abi {
    /// Open MPI's, with the addresses of its objects.
    pub fn open_mpi(variable: impl Fn(&CStr) -> usize) -> Abi {
        Abi {
            kind: Kind::OpenMpi,
            handle_bytes: 8,
            status_bytes: 24,
            source_offset: 0,
            tag_offset: 4,
            cancelled_offset: Some(12),
            count: CountField::Whole(16),
            comm_world: variable(c"ompi_mpi_comm_world"),
            comm_self: variable(c"ompi_mpi_comm_self"),
            comm_null: variable(c"ompi_mpi_comm_null"),
            request_null: variable(c"ompi_request_null"),
            byte: variable(c"ompi_mpi_byte"),
            status_ignore: 0,
            in_place: 1,
            any_source: -1,
            any_tag: -1,
            root: -4,
            undefined: -32766,
            thread_multiple: 3,
            cart: 1,
            graph: 2,
            dist_graph: 3,
            lock_exclusive: 1,
        }
    }

    /// That of MPICH and its relatives.
    pub fn mpich() -> Abi {
        Abi {
            kind: Kind::Mpich,
            handle_bytes: 4,
            status_bytes: 20,
            source_offset: 8,
            tag_offset: 12,
            cancelled_offset: None,
            count: CountField::Split(0),
            comm_world: 0x4400_0000,
            comm_self: 0x4400_0001,
            comm_null: 0x0400_0000,
            request_null: 0x2c00_0000,
            byte: 0x4c00_010d,
            status_ignore: 1,
            in_place: usize::MAX,
            any_source: -2,
            any_tag: -1,
            root: -3,
            undefined: -32766,
            thread_multiple: 3,
            cart: 2,
            graph: 1,
            dist_graph: 3,
            lock_exclusive: 234,
        }
    }

    /// A handle as it travels in a register: the upper half of the register is noise where handles are
    /// 32-bit numbers.
    #[inline(always)]
    pub fn handle(&self, word: usize) -> usize {
        if self.handle_bytes == 4 { word as u32 as usize } else { word }
    }

    /// The handle at an address, or the `index`th of an array there.
    ///
    /// # Safety
    /// The address must be what MPI asks for: a handle, or an array of more than `index`.
    #[inline(always)]
    pub unsafe fn load_handle(&self, address: usize, index: usize) -> usize {
        if self.handle_bytes == 4 {
            // SAFETY: by contract.
            unsafe { *(address as *const u32).add(index) as usize }
        } else {
            // SAFETY: by contract.
            unsafe { *(address as *const usize).add(index) }
        }
    }

    /// Source, tag, bytes and cancellation in a status.
    ///
    /// # Safety
    /// The address must be that of a status that MPI has filled in.
    #[inline(always)]
    pub unsafe fn load_status(&self, address: usize) -> (i32, i32, u64, bool) {
        // SAFETY: by contract, and the offsets lie inside the status.
        unsafe {
            let base = address as *const u8;
            let source = base.add(self.source_offset).cast::<i32>().read_unaligned();
            let tag = base.add(self.tag_offset).cast::<i32>().read_unaligned();
            let (bytes, cancelled) = match self.count {
                CountField::Whole(offset) => {
                    let flag = self
                        .cancelled_offset
                        .is_some_and(|at| base.add(at).cast::<i32>().read_unaligned() != 0);
                    (base.add(offset).cast::<u64>().read_unaligned(), flag)
                }
                CountField::Half(offset) => {
                    let flag = self
                        .cancelled_offset
                        .is_some_and(|at| base.add(at).cast::<i32>().read_unaligned() != 0);
                    (u64::from(base.add(offset).cast::<u32>().read_unaligned()), flag)
                }
                CountField::Split(offset) => {
                    let low = base.add(offset).cast::<u32>().read_unaligned();
                    let high = base.add(offset + 4).cast::<u32>().read_unaligned();
                    (u64::from(high >> 1) << 32 | u64::from(low), high & 1 != 0)
                }
            };
            (source, tag, bytes, cancelled)
        }
    }
}

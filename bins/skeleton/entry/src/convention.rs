//! How a program's MPI headers spell handles, constants and statuses.
//!
//! Open MPI and SMPI name objects by their addresses: a stretch of memory that nobody touches has a place for every object of
//! every kind, and the names of predefined ones are defined there. MPICH's handles are numbers of its header. Inside, objects
//! are numbered from 0 for each kind.

use kizami_mpi_stub::datatype::Basic;
use std::ptr;

/// Whose headers the program was compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Library {
    /// Open MPI.
    OpenMpi,
    /// MPICH and its relatives.
    Mpich,
    /// SimGrid's.
    Smpi,
}

/// What a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum Object {
    Comm,
    Datatype,
    Op,
    Group,
    Request,
    Errhandler,
    Info,
    Win,
    Message,
    File,
}

const KINDS: usize = 10;
/// Bytes for the objects of one kind, and for one of them.
const ROOM: usize = 64 << 20;
const SLOT: usize = 16;

/// One way of spelling.
#[derive(Clone, Copy, Debug)]
pub struct Convention {
    /// Whose.
    pub library: Library,
    /// In Fortran, handles are numbers in every library.
    pub fortran: bool,
    slots: usize,
    /// `MPI_IN_PLACE`.
    pub in_place: usize,
    /// `MPI_STATUS_IGNORE`, in C; Fortran has places of its own, which are added.
    pub status_ignore: [usize; 3],
    /// `MPI_PROC_NULL`.
    pub proc_null: i32,
    /// `MPI_ANY_SOURCE`.
    pub any_source: i32,
    /// `MPI_ANY_TAG`.
    pub any_tag: i32,
    /// `MPI_UNDEFINED`.
    pub undefined: i32,
    /// What `MPI_Topo_test` says of a grid, a graph, a distributed graph.
    pub topologies: [i32; 3],
    /// `MPI_ORDER_FORTRAN`.
    pub order_fortran: i32,
    /// `MPI_TAG_UB` and others that `MPI_Comm_get_attr` knows: key, and which.
    pub tag_upper_bound: i32,
    /// `MPI_KEYVAL_INVALID`.
    pub no_keyval: i32,
}

impl Convention {
    /// Of a library.
    pub fn new(library: Library) -> std::io::Result<Convention> {
        let mut slots = 0;
        if library != Library::Mpich {
            // SAFETY: a new mapping, which touches nothing that exists.
            let mapped = unsafe {
                libc::mmap(
                    ptr::null_mut(),
                    ROOM * KINDS,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            if mapped == libc::MAP_FAILED {
                return Err(std::io::Error::last_os_error());
            }
            slots = mapped as usize;
        }
        let common = Convention {
            library,
            fortran: false,
            slots,
            in_place: 1,
            status_ignore: [0; 3],
            proc_null: -2,
            any_source: -1,
            any_tag: -1,
            undefined: -32766,
            topologies: [1, 2, 3],
            order_fortran: 1,
            tag_upper_bound: 0,
            no_keyval: -1,
        };
        Ok(match library {
            Library::OpenMpi => common,
            Library::Mpich => Convention {
                in_place: usize::MAX,
                status_ignore: [1; 3],
                proc_null: -1,
                any_source: -2,
                topologies: [2, 1, 3],
                order_fortran: 57,
                tag_upper_bound: 0x6440_0001,
                no_keyval: 0x2400_0000,
                ..common
            },
            Library::Smpi => Convention {
                in_place: -222isize as usize,
                proc_null: -666,
                any_source: -555,
                any_tag: -444,
                undefined: -333,
                topologies: [2, 1, 3],
                ..common
            },
        })
    }

    /// The number of the object that a handle names; nothing for a null handle or one that names nothing.
    #[inline]
    pub fn decode(&self, kind: Object, word: u64) -> Option<u32> {
        if self.fortran && self.library == Library::OpenMpi {
            return crate::fortran::decode(kind, word as u32 as i32);
        }
        if self.library == Library::Mpich {
            return mpich_decode(kind, word as u32);
        }
        let offset = (word as usize).wrapping_sub(self.slots + kind as usize * ROOM);
        if offset >= ROOM { None } else { (offset / SLOT).checked_sub(1).map(|id| id as u32) }
    }

    /// The handle of an object; the null handle for nothing.
    #[inline]
    pub fn encode(&self, kind: Object, id: Option<u32>) -> u64 {
        if self.fortran && self.library == Library::OpenMpi {
            return crate::fortran::encode(kind, id) as u32 as u64;
        }
        match (self.library, id) {
            (Library::Mpich, id) => u64::from(mpich_encode(kind, id)),
            (Library::Smpi, None) => 0,
            (_, id) => {
                let place = id.map_or(0, |id| id as usize + 1);
                (self.slots + kind as usize * ROOM + place * SLOT) as u64
            }
        }
    }

    /// Bytes of a handle in memory.
    #[inline]
    pub fn handle_bytes(&self) -> usize {
        if self.library == Library::Mpich || self.fortran { 4 } else { 8 }
    }

    /// The object that the `index`th handle at an address names.
    ///
    /// # Safety
    /// There must be that many handles.
    #[inline]
    pub unsafe fn load(&self, kind: Object, address: usize, index: usize) -> Option<u32> {
        // SAFETY: by contract.
        let word = unsafe {
            match self.handle_bytes() {
                4 => u64::from((address as *const u32).add(index).read_unaligned()),
                _ => (address as *const u64).add(index).read_unaligned(),
            }
        };
        self.decode(kind, word)
    }

    /// Stores a handle as the `index`th at an address.
    ///
    /// # Safety
    /// There must be room for that many handles.
    #[inline]
    pub unsafe fn store(&self, kind: Object, address: usize, index: usize, id: Option<u32>) {
        let word = self.encode(kind, id);
        // SAFETY: by contract.
        unsafe {
            match self.handle_bytes() {
                4 => (address as *mut u32).add(index).write_unaligned(word as u32),
                _ => (address as *mut u64).add(index).write_unaligned(word),
            }
        }
    }

    /// Fills in the `index`th status at an address, unless the program does not want it.
    ///
    /// # Safety
    /// It must be a status, or one of the values that mean none.
    #[inline]
    pub unsafe fn store_status(&self, address: usize, index: usize, source: i32, tag: i32, bytes: u64) {
        if address == 0 || self.status_ignore.contains(&address) {
            return;
        }
        // SAFETY: by contract; the words lie inside the status of each library.
        unsafe {
            match self.library {
                Library::OpenMpi => {
                    let words = (address + index * 24) as *mut i32;
                    words.write_unaligned(source);
                    words.add(1).write_unaligned(tag);
                    words.add(3).write_unaligned(0);
                    words.add(4).cast::<u64>().write_unaligned(bytes);
                }
                Library::Mpich => {
                    let words = (address + index * 20) as *mut i32;
                    words.write_unaligned(bytes as i32);
                    words.add(1).write_unaligned(((bytes >> 32) as i32) << 1);
                    words.add(2).write_unaligned(source);
                    words.add(3).write_unaligned(tag);
                }
                Library::Smpi => {
                    let words = (address + index * 20) as *mut i32;
                    words.write_unaligned(source);
                    words.add(1).write_unaligned(tag);
                    words.add(3).write_unaligned(bytes as i32);
                    words.add(4).write_unaligned(0);
                }
            }
        }
    }

    /// The bytes a status tells of.
    ///
    /// # Safety
    /// It must be a status that was filled in.
    pub unsafe fn status_bytes(&self, address: usize) -> u64 {
        // SAFETY: by contract.
        unsafe {
            match self.library {
                Library::OpenMpi => (address as *const i32).add(4).cast::<u64>().read_unaligned(),
                Library::Mpich => {
                    let words = address as *const u32;
                    u64::from(words.read_unaligned()) | u64::from(words.add(1).read_unaligned() >> 1) << 32
                }
                Library::Smpi => u64::from((address as *const u32).add(3).read_unaligned()),
            }
        }
    }

    /// Names of predefined objects and where they are, for whoever links the program.
    pub fn symbols(&self) -> Vec<(String, u64)> {
        let mut symbols = Vec::new();
        let mut add = |name: &str, kind: Object, id: Option<u32>| {
            symbols.push((name.to_owned(), self.encode(kind, id)));
        };
        match self.library {
            Library::Mpich => {}
            Library::OpenMpi => {
                for (name, kind) in [
                    ("ompi_mpi_comm_null", Object::Comm),
                    ("ompi_mpi_datatype_null", Object::Datatype),
                    ("ompi_mpi_op_null", Object::Op),
                    ("ompi_mpi_group_null", Object::Group),
                    ("ompi_request_null", Object::Request),
                    ("ompi_message_null", Object::Message),
                    ("ompi_mpi_errhandler_null", Object::Errhandler),
                    ("ompi_mpi_info_null", Object::Info),
                    ("ompi_mpi_win_null", Object::Win),
                    ("ompi_mpi_file_null", Object::File),
                ] {
                    add(name, kind, None);
                }
                add("ompi_mpi_comm_world", Object::Comm, Some(0));
                add("ompi_mpi_comm_self", Object::Comm, Some(1));
                add("ompi_mpi_group_empty", Object::Group, Some(0));
                add("ompi_mpi_info_env", Object::Info, Some(0));
                add("ompi_mpi_errors_are_fatal", Object::Errhandler, Some(0));
                add("ompi_mpi_errors_return", Object::Errhandler, Some(1));
                add("ompi_message_no_proc", Object::Message, Some(0));
                for (id, name) in (0..).zip(OPERATIONS) {
                    add(&format!("ompi_mpi_op_{name}"), Object::Op, Some(id));
                }
                for (name, basic) in OPEN_MPI_TYPES {
                    add(&format!("ompi_mpi_{name}"), Object::Datatype, Some(*basic as u32));
                }
            }
            Library::Smpi => {
                add("smpi_MPI_GROUP_EMPTY", Object::Group, Some(0));
                add("smpi_MPI_ERRORS_ARE_FATAL", Object::Errhandler, Some(0));
                add("smpi_MPI_ERRORS_RETURN", Object::Errhandler, Some(1));
                for (id, name) in (0..).zip(OPERATIONS) {
                    add(&format!("smpi_MPI_{}", name.to_uppercase()), Object::Op, Some(id));
                }
                for (name, basic) in SMPI_TYPES {
                    add(&format!("smpi_MPI_{name}"), Object::Datatype, Some(*basic as u32));
                }
            }
        }
        symbols
    }
}

/// In the order of their numbers, as Open MPI's objects are named.
const OPERATIONS: [&str; 14] = [
    "max", "min", "sum", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "minloc", "maxloc", "replace",
    "no_op",
];

fn mpich_decode(kind: Object, handle: u32) -> Option<u32> {
    let created = 0x8000_0000 | mpich_null(kind);
    if handle & 0xff00_0000 == created && kind != Object::Datatype {
        return Some(handle & 0x00ff_ffff);
    }
    match kind {
        Object::Datatype => match handle >> 24 {
            0x4c => Some(u32::from(MPICH_TYPE[(handle & 0xff) as usize])).filter(|id| *id != 255),
            0x8c => MPICH_PAIRS.get((handle & 0xff) as usize).map(|basic| *basic as u32),
            0xcc => Some(handle & 0x00ff_ffff),
            _ => None,
        },
        Object::Comm => (handle >> 24 == 0x44).then_some(handle & 1),
        Object::Op => (handle >> 24 == 0x58).then(|| (handle & 0xff).wrapping_sub(1)),
        Object::Group => (handle == 0x4800_0000).then_some(0),
        Object::Errhandler => (handle >> 24 == 0x54).then_some(handle & 0xff),
        Object::Info => (handle == 0x5c00_0001).then_some(0),
        Object::Message => (handle == 0x6c00_0000).then_some(0),
        Object::Request | Object::Win | Object::File => None,
    }
}

fn mpich_null(kind: Object) -> u32 {
    match kind {
        Object::Comm => 0x0400_0000,
        Object::Datatype => 0x0c00_0000,
        Object::Op => 0x1800_0000,
        Object::Group => 0x0800_0000,
        Object::Request | Object::Message => 0x2c00_0000,
        Object::Errhandler => 0x1400_0000,
        Object::Info => 0x1c00_0000,
        Object::Win => 0x2000_0000,
        Object::File => 0,
    }
}

fn mpich_encode(kind: Object, id: Option<u32>) -> u32 {
    let null = mpich_null(kind);
    let Some(id) = id else { return null };
    match (kind, id) {
        (Object::Comm, 0 | 1) => 0x4400_0000 | id,
        (Object::Datatype, id) if (id as usize) < Basic::ALL.len() => {
            let basic = Basic::ALL[id as usize];
            let pair =
                MPICH_PAIRS.iter().position(|pair| *pair == basic).map(|place| 0x8c00_0000 | place as u32);
            let plain = MPICH_TYPES.iter().find(|(_, of)| *of == basic).map(|(number, _)| *number);
            pair.or(plain).unwrap_or(null)
        }
        (Object::Datatype, id) => 0xcc00_0000 | id,
        (Object::Op, id) if id < 14 => 0x5800_0001 + id,
        (Object::Group, 0) => 0x4800_0000,
        (Object::Errhandler, id) if id < 4 => 0x5400_0000 | id,
        (Object::Info, 0) => 0x5c00_0001,
        (Object::Message, 0) => 0x6c00_0000,
        (_, id) => 0x8000_0000 | null | id,
    }
}

const MPICH_PAIRS: [Basic; 5] =
    [Basic::FloatInt, Basic::DoubleInt, Basic::LongInt, Basic::ShortInt, Basic::LongDoubleInt];

/// The lowest byte of a basic type's handle is different for each.
static MPICH_TYPE: [u8; 256] = {
    let mut table = [255; 256];
    let mut index = 0;
    while index < MPICH_TYPES.len() {
        table[(MPICH_TYPES[index].0 & 0xff) as usize] = MPICH_TYPES[index].1 as u8;
        index += 1;
    }
    table
};

const MPICH_TYPES: &[(u32, Basic)] = &[
    (0x4c00_0101, Basic::Char),
    (0x4c00_0118, Basic::SignedChar),
    (0x4c00_0102, Basic::UnsignedChar),
    (0x4c00_010d, Basic::Byte),
    (0x4c00_040e, Basic::Wchar),
    (0x4c00_0203, Basic::Short),
    (0x4c00_0204, Basic::UnsignedShort),
    (0x4c00_0405, Basic::Int),
    (0x4c00_0406, Basic::Unsigned),
    (0x4c00_0807, Basic::Long),
    (0x4c00_0808, Basic::UnsignedLong),
    (0x4c00_040a, Basic::Float),
    (0x4c00_080b, Basic::Double),
    (0x4c00_100c, Basic::LongDouble),
    (0x4c00_0809, Basic::LongLong),
    (0x4c00_0819, Basic::UnsignedLongLong),
    (0x4c00_010f, Basic::Packed),
    (0x4c00_0010, Basic::LowerBound),
    (0x4c00_0011, Basic::UpperBound),
    (0x4c00_0816, Basic::TwoInt),
    (0x4c00_081e, Basic::Complex),
    (0x4c00_1022, Basic::DoubleComplex),
    (0x4c00_041d, Basic::Logical),
    (0x4c00_041c, Basic::Real),
    (0x4c00_081f, Basic::DoublePrecision),
    (0x4c00_041b, Basic::Integer),
    (0x4c00_0820, Basic::TwoInteger),
    (0x4c00_0821, Basic::TwoReal),
    (0x4c00_1023, Basic::TwoDoublePrecision),
    (0x4c00_011a, Basic::Character),
    (0x4c00_0427, Basic::Real4),
    (0x4c00_0829, Basic::Real8),
    (0x4c00_102b, Basic::Real16),
    (0x4c00_0828, Basic::Complex8),
    (0x4c00_102a, Basic::Complex16),
    (0x4c00_202c, Basic::Complex32),
    (0x4c00_012d, Basic::Integer1),
    (0x4c00_022f, Basic::Integer2),
    (0x4c00_0430, Basic::Integer4),
    (0x4c00_0831, Basic::Integer8),
    (0x4c00_0137, Basic::Int8),
    (0x4c00_0238, Basic::Int16),
    (0x4c00_0439, Basic::Int32),
    (0x4c00_083a, Basic::Int64),
    (0x4c00_013b, Basic::Uint8),
    (0x4c00_023c, Basic::Uint16),
    (0x4c00_043d, Basic::Uint32),
    (0x4c00_083e, Basic::Uint64),
    (0x4c00_013f, Basic::CBool),
    (0x4c00_0840, Basic::CFloatComplex),
    (0x4c00_1041, Basic::CDoubleComplex),
    (0x4c00_2042, Basic::CLongDoubleComplex),
    (0x4c00_0843, Basic::Aint),
    (0x4c00_0844, Basic::Offset),
    (0x4c00_0845, Basic::Count),
    (0x4c00_0133, Basic::CxxBool),
    (0x4c00_0834, Basic::CxxFloatComplex),
    (0x4c00_1035, Basic::CxxDoubleComplex),
    (0x4c00_2036, Basic::CxxLongDoubleComplex),
];

/// Names of Open MPI's objects, without `ompi_mpi_`.
pub(crate) const OPEN_MPI_TYPES: &[(&str, Basic)] = &[
    ("byte", Basic::Byte),
    ("packed", Basic::Packed),
    ("char", Basic::Char),
    ("short", Basic::Short),
    ("int", Basic::Int),
    ("long", Basic::Long),
    ("float", Basic::Float),
    ("double", Basic::Double),
    ("long_double", Basic::LongDouble),
    ("unsigned_char", Basic::UnsignedChar),
    ("signed_char", Basic::SignedChar),
    ("unsigned_short", Basic::UnsignedShort),
    ("unsigned_long", Basic::UnsignedLong),
    ("unsigned", Basic::Unsigned),
    ("float_int", Basic::FloatInt),
    ("double_int", Basic::DoubleInt),
    ("longdbl_int", Basic::LongDoubleInt),
    ("long_int", Basic::LongInt),
    ("short_int", Basic::ShortInt),
    ("2int", Basic::TwoInt),
    ("wchar", Basic::Wchar),
    ("long_long_int", Basic::LongLong),
    ("unsigned_long_long", Basic::UnsignedLongLong),
    ("ub", Basic::UpperBound),
    ("lb", Basic::LowerBound),
    ("character", Basic::Character),
    ("logical", Basic::Logical),
    ("logical1", Basic::Logical1),
    ("logical2", Basic::Logical2),
    ("logical4", Basic::Logical4),
    ("logical8", Basic::Logical8),
    ("integer", Basic::Integer),
    ("integer1", Basic::Integer1),
    ("integer2", Basic::Integer2),
    ("integer4", Basic::Integer4),
    ("integer8", Basic::Integer8),
    ("real", Basic::Real),
    ("real4", Basic::Real4),
    ("real8", Basic::Real8),
    ("real16", Basic::Real16),
    ("dblprec", Basic::DoublePrecision),
    ("cplex", Basic::Complex),
    ("complex8", Basic::Complex8),
    ("complex16", Basic::Complex16),
    ("complex32", Basic::Complex32),
    ("dblcplex", Basic::DoubleComplex),
    ("2real", Basic::TwoReal),
    ("2dblprec", Basic::TwoDoublePrecision),
    ("2integer", Basic::TwoInteger),
    ("int8_t", Basic::Int8),
    ("uint8_t", Basic::Uint8),
    ("int16_t", Basic::Int16),
    ("uint16_t", Basic::Uint16),
    ("int32_t", Basic::Int32),
    ("uint32_t", Basic::Uint32),
    ("int64_t", Basic::Int64),
    ("uint64_t", Basic::Uint64),
    ("aint", Basic::Aint),
    ("offset", Basic::Offset),
    ("count", Basic::Count),
    ("c_bool", Basic::CBool),
    ("c_float_complex", Basic::CFloatComplex),
    ("c_double_complex", Basic::CDoubleComplex),
    ("c_long_double_complex", Basic::CLongDoubleComplex),
    ("cxx_bool", Basic::CxxBool),
    ("cxx_cplex", Basic::CxxFloatComplex),
    ("cxx_dblcplex", Basic::CxxDoubleComplex),
    ("cxx_ldblcplex", Basic::CxxLongDoubleComplex),
];

/// Names of SMPI's objects, without `smpi_MPI_`.
const SMPI_TYPES: &[(&str, Basic)] = &[
    ("CHAR", Basic::Char),
    ("SHORT", Basic::Short),
    ("INT", Basic::Int),
    ("LONG", Basic::Long),
    ("LONG_LONG", Basic::LongLong),
    ("SIGNED_CHAR", Basic::SignedChar),
    ("UNSIGNED_CHAR", Basic::UnsignedChar),
    ("UNSIGNED_SHORT", Basic::UnsignedShort),
    ("UNSIGNED", Basic::Unsigned),
    ("UNSIGNED_LONG", Basic::UnsignedLong),
    ("UNSIGNED_LONG_LONG", Basic::UnsignedLongLong),
    ("FLOAT", Basic::Float),
    ("DOUBLE", Basic::Double),
    ("LONG_DOUBLE", Basic::LongDouble),
    ("WCHAR", Basic::Wchar),
    ("C_BOOL", Basic::CBool),
    ("BYTE", Basic::Byte),
    ("PACKED", Basic::Packed),
    ("INT8_T", Basic::Int8),
    ("INT16_T", Basic::Int16),
    ("INT32_T", Basic::Int32),
    ("INT64_T", Basic::Int64),
    ("UINT8_T", Basic::Uint8),
    ("UINT16_T", Basic::Uint16),
    ("UINT32_T", Basic::Uint32),
    ("UINT64_T", Basic::Uint64),
    ("C_FLOAT_COMPLEX", Basic::CFloatComplex),
    ("C_DOUBLE_COMPLEX", Basic::CDoubleComplex),
    ("AINT", Basic::Aint),
    ("OFFSET", Basic::Offset),
    ("COUNT", Basic::Count),
    ("FLOAT_INT", Basic::FloatInt),
    ("LONG_INT", Basic::LongInt),
    ("DOUBLE_INT", Basic::DoubleInt),
    ("SHORT_INT", Basic::ShortInt),
    ("2INT", Basic::TwoInt),
];

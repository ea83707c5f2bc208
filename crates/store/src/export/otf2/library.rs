//! The OTF2 library as this exporter uses it: found when it is needed, and no more of it than that.
//!
//! Kizami links no OTF2: it is opened by its name when an export asks for it, so only those who export need
//! it installed. What is declared here is copied by hand from the headers of version 3 (`otf2/OTF2_*.h`), the
//! first with inter-communicators and non-blocking collectives. One level of safety is added above, in
//! `archive`.

use crate::StoreError;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

/// Names to try, the versioned ones first: upstream's, then Debian's. Version 3 of OTF2 has number 10.
const NAMES: [&str; 4] =
    ["libotf2.so.10", "libopen-trace-format2.so.10", "libotf2.so", "libopen-trace-format2.so"];

/// What nearly every function returns: 0 for success.
pub(super) type Code = c_int;
/// A callback that decides whether a full buffer is written.
pub(super) type PreFlush = extern "C" fn(*mut c_void, u8, u64, *mut c_void, bool) -> u8;
/// A callback that tells the time after a buffer was written.
pub(super) type PostFlush = extern "C" fn(*mut c_void, u8, u64) -> u64;
/// A callback that gives memory for one more chunk.
pub(super) type Allocate =
    unsafe extern "C" fn(*mut c_void, u8, u64, per_buffer: *mut *mut c_void, bytes: u64) -> *mut c_void;
/// A callback that takes all chunks of a buffer back.
pub(super) type FreeAll = unsafe extern "C" fn(*mut c_void, u8, u64, per_buffer: *mut *mut c_void, bool);

/// `OTF2_FlushCallbacks`.
#[repr(C)]
pub(super) struct FlushCallbacks {
    pub pre_flush: PreFlush,
    pub post_flush: Option<PostFlush>,
}

/// `OTF2_MemoryCallbacks`.
#[repr(C)]
pub(super) struct MemoryCallbacks {
    pub allocate: Allocate,
    pub free_all: FreeAll,
}

macro_rules! opaque {
    ($($name:ident),+) => { $(
        /// A thing only the library knows from inside.
        #[repr(C)]
        pub(super) struct $name { _private: [u8; 0] }
    )+ };
}
opaque!(RawArchive, RawEventWriter, RawLocalWriter, RawGlobalWriter, RawAttributes);

macro_rules! functions {
    ($($field:ident = $symbol:literal ( $($argument:ty),* ) -> $result:ty;)+) => {
        /// The functions, and the library that must stay loaded as long as they are used.
        pub(super) struct Library {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> $result,)+
            _loaded: libloading::Library,
        }

        impl Library {
            fn resolve(loaded: libloading::Library) -> Result<Library, libloading::Error> {
                Ok(Library {
                    // SAFETY: each type is copied from the header of the version this symbol belongs to,
                    // and the pointer does not outlive `_loaded`, which is dropped with it.
                    $($field: unsafe { *loaded.get(concat!($symbol, "\0").as_bytes())? },)+
                    _loaded: loaded,
                })
            }
        }
    };
}

functions! {
    error_name = "OTF2_Error_GetName"(Code) -> *const c_char;
    error_description = "OTF2_Error_GetDescription"(Code) -> *const c_char;

    archive_open = "OTF2_Archive_Open"(*const c_char, *const c_char, u8, u64, u64, u8, u8) -> *mut RawArchive;
    archive_close = "OTF2_Archive_Close"(*mut RawArchive) -> Code;
    set_flush_callbacks = "OTF2_Archive_SetFlushCallbacks"(*mut RawArchive, *const FlushCallbacks, *mut c_void) -> Code;
    set_memory_callbacks = "OTF2_Archive_SetMemoryCallbacks"(*mut RawArchive, *const MemoryCallbacks, *mut c_void) -> Code;
    set_serial = "OTF2_Archive_SetSerialCollectiveCallbacks"(*mut RawArchive) -> Code;
    set_creator = "OTF2_Archive_SetCreator"(*mut RawArchive, *const c_char) -> Code;
    set_description = "OTF2_Archive_SetDescription"(*mut RawArchive, *const c_char) -> Code;
    open_event_files = "OTF2_Archive_OpenEvtFiles"(*mut RawArchive) -> Code;
    close_event_files = "OTF2_Archive_CloseEvtFiles"(*mut RawArchive) -> Code;
    open_local_files = "OTF2_Archive_OpenDefFiles"(*mut RawArchive) -> Code;
    close_local_files = "OTF2_Archive_CloseDefFiles"(*mut RawArchive) -> Code;
    event_writer = "OTF2_Archive_GetEvtWriter"(*mut RawArchive, u64) -> *mut RawEventWriter;
    close_event_writer = "OTF2_Archive_CloseEvtWriter"(*mut RawArchive, *mut RawEventWriter) -> Code;
    local_writer = "OTF2_Archive_GetDefWriter"(*mut RawArchive, u64) -> *mut RawLocalWriter;
    close_local_writer = "OTF2_Archive_CloseDefWriter"(*mut RawArchive, *mut RawLocalWriter) -> Code;
    global_writer = "OTF2_Archive_GetGlobalDefWriter"(*mut RawArchive) -> *mut RawGlobalWriter;
    close_global_writer = "OTF2_Archive_CloseGlobalDefWriter"(*mut RawArchive, *mut RawGlobalWriter) -> Code;

    new_attributes = "OTF2_AttributeList_New"() -> *mut RawAttributes;
    delete_attributes = "OTF2_AttributeList_Delete"(*mut RawAttributes) -> Code;
    add_string = "OTF2_AttributeList_AddStringRef"(*mut RawAttributes, u32, u32) -> Code;
    add_u32 = "OTF2_AttributeList_AddUint32"(*mut RawAttributes, u32, u32) -> Code;
    add_f64 = "OTF2_AttributeList_AddDouble"(*mut RawAttributes, u32, f64) -> Code;

    number_of_events = "OTF2_EvtWriter_GetNumberOfEvents"(*mut RawEventWriter, *mut u64) -> Code;
    enter = "OTF2_EvtWriter_Enter"(*mut RawEventWriter, *mut RawAttributes, u64, u32) -> Code;
    leave = "OTF2_EvtWriter_Leave"(*mut RawEventWriter, *mut RawAttributes, u64, u32) -> Code;
    mpi_send = "OTF2_EvtWriter_MpiSend"(*mut RawEventWriter, *mut RawAttributes, u64, u32, u32, u32, u64) -> Code;
    mpi_isend = "OTF2_EvtWriter_MpiIsend"(*mut RawEventWriter, *mut RawAttributes, u64, u32, u32, u32, u64, u64) -> Code;
    mpi_isend_complete = "OTF2_EvtWriter_MpiIsendComplete"(*mut RawEventWriter, *mut RawAttributes, u64, u64) -> Code;
    mpi_irecv_request = "OTF2_EvtWriter_MpiIrecvRequest"(*mut RawEventWriter, *mut RawAttributes, u64, u64) -> Code;
    mpi_recv = "OTF2_EvtWriter_MpiRecv"(*mut RawEventWriter, *mut RawAttributes, u64, u32, u32, u32, u64) -> Code;
    mpi_irecv = "OTF2_EvtWriter_MpiIrecv"(*mut RawEventWriter, *mut RawAttributes, u64, u32, u32, u32, u64, u64) -> Code;
    mpi_request_cancelled = "OTF2_EvtWriter_MpiRequestCancelled"(*mut RawEventWriter, *mut RawAttributes, u64, u64) -> Code;
    mpi_collective_begin = "OTF2_EvtWriter_MpiCollectiveBegin"(*mut RawEventWriter, *mut RawAttributes, u64) -> Code;
    mpi_collective_end = "OTF2_EvtWriter_MpiCollectiveEnd"(*mut RawEventWriter, *mut RawAttributes, u64, u8, u32, u32, u64, u64) -> Code;
    collective_request = "OTF2_EvtWriter_NonBlockingCollectiveRequest"(*mut RawEventWriter, *mut RawAttributes, u64, u64) -> Code;
    collective_complete = "OTF2_EvtWriter_NonBlockingCollectiveComplete"(*mut RawEventWriter, *mut RawAttributes, u64, u8, u32, u32, u64, u64, u64) -> Code;

    write_clock = "OTF2_GlobalDefWriter_WriteClockProperties"(*mut RawGlobalWriter, u64, u64, u64, u64) -> Code;
    write_paradigm = "OTF2_GlobalDefWriter_WriteParadigm"(*mut RawGlobalWriter, u8, u32, u8) -> Code;
    write_string = "OTF2_GlobalDefWriter_WriteString"(*mut RawGlobalWriter, u32, *const c_char) -> Code;
    write_attribute = "OTF2_GlobalDefWriter_WriteAttribute"(*mut RawGlobalWriter, u32, u32, u32, u8) -> Code;
    write_tree_node = "OTF2_GlobalDefWriter_WriteSystemTreeNode"(*mut RawGlobalWriter, u32, u32, u32, u32) -> Code;
    write_tree_domain = "OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain"(*mut RawGlobalWriter, u32, u8) -> Code;
    write_location_group = "OTF2_GlobalDefWriter_WriteLocationGroup"(*mut RawGlobalWriter, u32, u32, u8, u32, u32) -> Code;
    write_location = "OTF2_GlobalDefWriter_WriteLocation"(*mut RawGlobalWriter, u64, u32, u8, u64, u32) -> Code;
    write_region = "OTF2_GlobalDefWriter_WriteRegion"(*mut RawGlobalWriter, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> Code;
    write_group = "OTF2_GlobalDefWriter_WriteGroup"(*mut RawGlobalWriter, u32, u32, u8, u8, u32, u32, *const u64) -> Code;
    write_comm = "OTF2_GlobalDefWriter_WriteComm"(*mut RawGlobalWriter, u32, u32, u32, u32, u32) -> Code;
    write_inter_comm = "OTF2_GlobalDefWriter_WriteInterComm"(*mut RawGlobalWriter, u32, u32, u32, u32, u32, u32) -> Code;
}

impl Library {
    /// Opens the library; `out` is where the export was to go, for errors.
    pub fn open(out: &Path) -> Result<Library, StoreError> {
        let error = |what: String| StoreError::Export { path: out.to_path_buf(), what };
        let Some((name, loaded)) = NAMES.iter().find_map(|name| {
            // SAFETY: loading OTF2 runs no code of its own; its only dependency is the C library.
            unsafe { libloading::Library::new(*name) }.ok().map(|loaded| (name, loaded))
        }) else {
            return Err(error(
                "the OTF2 library is not installed; install Debian's libopen-trace-format2-10 (or \
                 libotf2-trace-dev, which brings it), or any OTF2 of version 3 in the library path"
                    .to_owned(),
            ));
        };
        Library::resolve(loaded).map_err(|reason| {
            error(format!("{name} is not OTF2 of version 3 or later ({reason}); install a newer one"))
        })
    }

    /// An error code in words.
    pub fn say(&self, code: Code) -> String {
        // SAFETY: both functions take any number and return a pointer to a constant text.
        unsafe {
            let name = CStr::from_ptr((self.error_name)(code)).to_string_lossy();
            let description = CStr::from_ptr((self.error_description)(code)).to_string_lossy();
            format!("{description} ({name})")
        }
    }
}

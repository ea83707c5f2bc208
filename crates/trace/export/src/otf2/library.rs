//! The OTF2 library as this exporter uses it: found when it is needed, and no more of it than that.
//!
//! Kizami links no OTF2: it is opened by its name when an export asks for it, so only those who export need
//! it installed. What is declared here is copied by hand from the headers of version 3 (`otf2/OTF2_*.h`), the
//! first with inter-communicators and non-blocking collectives. One level of safety is added above, in
//! `archive`.

use crate::ExportError;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

/// Names to try, the versioned ones first: upstream's, then Debian's. Version 3 of OTF2 has number 10.
const NAMES: [&str; 4] =
    ["libotf2.so.10", "libopen-trace-format2.so.10", "libotf2.so", "libopen-trace-format2.so"];

/// What nearly every function returns: 0 for success.
pub(super) type Code = c_int;
/// A callback that decides whether a full buffer is written.
pub(super) type PreFlush = extern "C" fn(*mut c_void, u8, u64, *mut c_void, bool) -> u8;
/// A callback that returns the time after a buffer was written.
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

type Text = *const c_char;
type ArchivePointer = *mut RawArchive;
type EventsPointer = *mut RawEventWriter;
type LocalPointer = *mut RawLocalWriter;
type GlobalPointer = *mut RawGlobalWriter;
type ListPointer = *mut RawAttributes;

functions! {
    error_name = "OTF2_Error_GetName"(Code) -> Text;
    error_description = "OTF2_Error_GetDescription"(Code) -> Text;

    archive_open = "OTF2_Archive_Open"(Text, Text, u8, u64, u64, u8, u8) -> ArchivePointer;
    archive_close = "OTF2_Archive_Close"(ArchivePointer) -> Code;
    set_flush_callbacks = "OTF2_Archive_SetFlushCallbacks"
        (ArchivePointer, *const FlushCallbacks, *mut c_void) -> Code;
    set_memory_callbacks = "OTF2_Archive_SetMemoryCallbacks"
        (ArchivePointer, *const MemoryCallbacks, *mut c_void) -> Code;
    set_serial = "OTF2_Archive_SetSerialCollectiveCallbacks"(ArchivePointer) -> Code;
    set_creator = "OTF2_Archive_SetCreator"(ArchivePointer, Text) -> Code;
    set_description = "OTF2_Archive_SetDescription"(ArchivePointer, Text) -> Code;
    open_event_files = "OTF2_Archive_OpenEvtFiles"(ArchivePointer) -> Code;
    close_event_files = "OTF2_Archive_CloseEvtFiles"(ArchivePointer) -> Code;
    open_local_files = "OTF2_Archive_OpenDefFiles"(ArchivePointer) -> Code;
    close_local_files = "OTF2_Archive_CloseDefFiles"(ArchivePointer) -> Code;
    event_writer = "OTF2_Archive_GetEvtWriter"(ArchivePointer, u64) -> EventsPointer;
    close_event_writer = "OTF2_Archive_CloseEvtWriter"(ArchivePointer, EventsPointer) -> Code;
    local_writer = "OTF2_Archive_GetDefWriter"(ArchivePointer, u64) -> LocalPointer;
    close_local_writer = "OTF2_Archive_CloseDefWriter"(ArchivePointer, LocalPointer) -> Code;
    global_writer = "OTF2_Archive_GetGlobalDefWriter"(ArchivePointer) -> GlobalPointer;
    close_global_writer = "OTF2_Archive_CloseGlobalDefWriter"(ArchivePointer, GlobalPointer) -> Code;

    new_attributes = "OTF2_AttributeList_New"() -> ListPointer;
    delete_attributes = "OTF2_AttributeList_Delete"(ListPointer) -> Code;
    add_string = "OTF2_AttributeList_AddStringRef"(ListPointer, u32, u32) -> Code;
    add_u32 = "OTF2_AttributeList_AddUint32"(ListPointer, u32, u32) -> Code;
    add_f64 = "OTF2_AttributeList_AddDouble"(ListPointer, u32, f64) -> Code;

    number_of_events = "OTF2_EvtWriter_GetNumberOfEvents"(EventsPointer, *mut u64) -> Code;
    enter = "OTF2_EvtWriter_Enter"(EventsPointer, ListPointer, u64, u32) -> Code;
    leave = "OTF2_EvtWriter_Leave"(EventsPointer, ListPointer, u64, u32) -> Code;
    mpi_send = "OTF2_EvtWriter_MpiSend"(EventsPointer, ListPointer, u64, u32, u32, u32, u64) -> Code;
    mpi_isend = "OTF2_EvtWriter_MpiIsend"(EventsPointer, ListPointer, u64, u32, u32, u32, u64, u64) -> Code;
    mpi_isend_complete = "OTF2_EvtWriter_MpiIsendComplete"(EventsPointer, ListPointer, u64, u64) -> Code;
    mpi_irecv_request = "OTF2_EvtWriter_MpiIrecvRequest"(EventsPointer, ListPointer, u64, u64) -> Code;
    mpi_recv = "OTF2_EvtWriter_MpiRecv"(EventsPointer, ListPointer, u64, u32, u32, u32, u64) -> Code;
    mpi_irecv = "OTF2_EvtWriter_MpiIrecv"(EventsPointer, ListPointer, u64, u32, u32, u32, u64, u64) -> Code;
    mpi_request_cancelled = "OTF2_EvtWriter_MpiRequestCancelled"
        (EventsPointer, ListPointer, u64, u64) -> Code;
    mpi_collective_begin = "OTF2_EvtWriter_MpiCollectiveBegin"(EventsPointer, ListPointer, u64) -> Code;
    mpi_collective_end = "OTF2_EvtWriter_MpiCollectiveEnd"
        (EventsPointer, ListPointer, u64, u8, u32, u32, u64, u64) -> Code;
    collective_request = "OTF2_EvtWriter_NonBlockingCollectiveRequest"
        (EventsPointer, ListPointer, u64, u64) -> Code;
    collective_complete = "OTF2_EvtWriter_NonBlockingCollectiveComplete"
        (EventsPointer, ListPointer, u64, u8, u32, u32, u64, u64, u64) -> Code;

    write_clock = "OTF2_GlobalDefWriter_WriteClockProperties"(GlobalPointer, u64, u64, u64, u64) -> Code;
    write_paradigm = "OTF2_GlobalDefWriter_WriteParadigm"(GlobalPointer, u8, u32, u8) -> Code;
    write_string = "OTF2_GlobalDefWriter_WriteString"(GlobalPointer, u32, Text) -> Code;
    write_attribute = "OTF2_GlobalDefWriter_WriteAttribute"(GlobalPointer, u32, u32, u32, u8) -> Code;
    write_tree_node = "OTF2_GlobalDefWriter_WriteSystemTreeNode"(GlobalPointer, u32, u32, u32, u32) -> Code;
    write_tree_domain = "OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain"(GlobalPointer, u32, u8) -> Code;
    write_location_group = "OTF2_GlobalDefWriter_WriteLocationGroup"
        (GlobalPointer, u32, u32, u8, u32, u32) -> Code;
    write_location = "OTF2_GlobalDefWriter_WriteLocation"(GlobalPointer, u64, u32, u8, u64, u32) -> Code;
    write_region = "OTF2_GlobalDefWriter_WriteRegion"
        (GlobalPointer, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> Code;
    write_group = "OTF2_GlobalDefWriter_WriteGroup"
        (GlobalPointer, u32, u32, u8, u8, u32, u32, *const u64) -> Code;
    write_comm = "OTF2_GlobalDefWriter_WriteComm"(GlobalPointer, u32, u32, u32, u32, u32) -> Code;
    write_inter_comm = "OTF2_GlobalDefWriter_WriteInterComm"
        (GlobalPointer, u32, u32, u32, u32, u32, u32) -> Code;
}

impl Library {
    /// Opens the library; `out` is where the export was to go, for errors.
    pub fn open(out: &Path) -> Result<Library, ExportError> {
        let error = |what: String| ExportError::Export { path: out.to_path_buf(), what };
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

//! An OTF2 archive being written: the library's functions with lifetimes and errors added.
//!
//! The archive is written by one thread. Each event writer holds a few chunks of memory at most and writes
//! them out when they are full, so memory is bounded by the number of threads of one rank.

use super::library::{
    Code, FlushCallbacks, Library, MemoryCallbacks, RawArchive, RawAttributes, RawEventWriter,
    RawGlobalWriter,
};
use crate::ExportError;
use std::alloc::Layout;
use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null_mut};

const WRITE: u8 = 0;
const POSIX_FILES: u8 = 1;
const NO_COMPRESSION: u8 = 1;
const FLUSH: u8 = 1;
const EVENT_CHUNK_BYTES: u64 = 1 << 20;
const DEFINITION_CHUNK_BYTES: u64 = 4 << 20;
const LARGEST_CHUNK_BYTES: u64 = 16 << 20;
/// A definition must fit into a chunk, and the largest lists all ranks: ten bytes each, as OTF2 advises.
const BYTES_PER_RANK: u64 = 10;
/// Chunks a writer may fill before it has to write them out.
const CHUNKS_IN_MEMORY: usize = 4;
const CHUNK_ALIGNMENT: usize = 16;

static FLUSH_CALLBACKS: FlushCallbacks = FlushCallbacks { pre_flush: always_flush, post_flush: None };
static MEMORY_CALLBACKS: MemoryCallbacks = MemoryCallbacks { allocate: new_chunk, free_all: free_chunks };

/// Writing out is always right here. There is no callback for afterwards: it would put a record of the
/// exporter's own pauses into the trace of an application.
extern "C" fn always_flush(_: *mut c_void, _: u8, _: u64, _: *mut c_void, _: bool) -> u8 {
    FLUSH
}

/// The chunks of one writer.
type Chunks = Vec<(NonNull<u8>, Layout)>;

/// Returns one more chunk, or none once there are enough: then the library writes out what it has.
unsafe extern "C" fn new_chunk(
    _: *mut c_void,
    _: u8,
    _: u64,
    per_buffer: *mut *mut c_void,
    bytes: u64,
) -> *mut c_void {
    // SAFETY: the library passes a pointer to a slot that it keeps for the writer. It is null at first and
    // afterwards holds what was stored here: a leaked box that only these two functions use.
    let chunks = unsafe {
        if (*per_buffer).is_null() {
            *per_buffer = Box::into_raw(Box::<Chunks>::default()).cast();
        }
        &mut *(*per_buffer).cast::<Chunks>()
    };
    if chunks.len() == CHUNKS_IN_MEMORY {
        return null_mut();
    }
    let Ok(layout) = Layout::from_size_align(bytes as usize, CHUNK_ALIGNMENT) else { return null_mut() };
    // SAFETY: the archive asks for chunks of the sizes it was opened with, none of which is zero.
    match NonNull::new(unsafe { std::alloc::alloc(layout) }) {
        Some(chunk) => {
            chunks.push((chunk, layout));
            chunk.as_ptr().cast()
        }
        None => null_mut(),
    }
}

/// Takes all chunks of a writer back, and its list of chunks too when the writer closes.
unsafe extern "C" fn free_chunks(_: *mut c_void, _: u8, _: u64, per_buffer: *mut *mut c_void, closing: bool) {
    // SAFETY: the slot is the one of `new_chunk`, and still null if that was never called for this writer.
    unsafe {
        let list = (*per_buffer).cast::<Chunks>();
        if list.is_null() {
            return;
        }
        for (chunk, layout) in (*list).drain(..) {
            std::alloc::dealloc(chunk.as_ptr(), layout);
        }
        if closing {
            drop(Box::from_raw(list));
            *per_buffer = null_mut();
        }
    }
}

/// An archive that is being written.
pub(super) struct Archive {
    library: Library,
    raw: *mut RawArchive,
    attributes: *mut RawAttributes,
    path: PathBuf,
}

/// One attribute of the next entry into a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Attribute {
    /// Number of the attribute, number of a string.
    Text(u32, u32),
    /// Number of the attribute, value.
    Count(u32, u32),
    /// Number of the attribute, value.
    Real(u32, f64),
}

impl Archive {
    /// Creates an archive in the directory `path` for a trace of so many ranks.
    pub fn create(path: &Path, ranks: usize, description: &str) -> Result<Archive, ExportError> {
        let library = Library::open(path)?;
        let directory = text(path.as_os_str().as_bytes());
        let definition_chunk =
            (ranks as u64 * BYTES_PER_RANK).clamp(DEFINITION_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
        // SAFETY: the texts live through the call, which copies them; the numbers are those of the header.
        let (raw, attributes) = unsafe {
            let raw = (library.archive_open)(
                directory.as_ptr(),
                c"traces".as_ptr(),
                WRITE,
                EVENT_CHUNK_BYTES,
                definition_chunk,
                POSIX_FILES,
                NO_COMPRESSION,
            );
            (raw, (library.new_attributes)())
        };
        let archive = Archive { library, raw, attributes, path: path.to_path_buf() };
        if archive.raw.is_null() || archive.attributes.is_null() {
            return Err(archive.error("OTF2 could not create the archive; is the directory writable?"));
        }
        let library = &archive.library;
        // SAFETY: the archive is open; the callbacks are static and the texts are copied.
        unsafe {
            archive.check((library.set_flush_callbacks)(raw, &FLUSH_CALLBACKS, null_mut()))?;
            archive.check((library.set_memory_callbacks)(raw, &MEMORY_CALLBACKS, null_mut()))?;
            archive.check((library.set_serial)(raw))?;
            let creator = concat!("Kizami ", env!("CARGO_PKG_VERSION"));
            archive.check((library.set_creator)(raw, text(creator.as_bytes()).as_ptr()))?;
            archive.check((library.set_description)(raw, text(description.as_bytes()).as_ptr()))?;
            archive.check((library.open_event_files)(raw))?;
        }
        Ok(archive)
    }

    /// An error about this archive.
    pub fn error(&self, what: impl Into<String>) -> ExportError {
        ExportError::Export { path: self.path.clone(), what: what.into() }
    }

    fn check(&self, code: Code) -> Result<(), ExportError> {
        match code {
            0 => Ok(()),
            code => Err(self.error(format!("OTF2 says: {}; is the disk full?", self.library.say(code)))),
        }
    }

    /// Opens the event file of a location.
    pub fn event_writer(&self, location: u64) -> Result<EventWriter, ExportError> {
        // SAFETY: the archive is open.
        let raw = unsafe { (self.library.event_writer)(self.raw, location) };
        match raw.is_null() {
            false => Ok(EventWriter { raw }),
            true => Err(self.error(format!("OTF2 could not open the event file of location {location}"))),
        }
    }

    /// Closes an event file; returns the number of its events.
    pub fn close_event_writer(&self, writer: EventWriter) -> Result<u64, ExportError> {
        let mut events = 0;
        // SAFETY: the writer belongs to this archive and is given up here.
        unsafe {
            self.check((self.library.number_of_events)(writer.raw, &mut events))?;
            self.check((self.library.close_event_writer)(self.raw, writer.raw))?;
        }
        Ok(events)
    }

    /// Closes the event files and writes the empty file of local definitions each reader looks for.
    pub fn finish_events(&self, locations: impl Iterator<Item = u64>) -> Result<(), ExportError> {
        let library = &self.library;
        // SAFETY: the archive is open, and each writer is closed once.
        unsafe {
            self.check((library.close_event_files)(self.raw))?;
            self.check((library.open_local_files)(self.raw))?;
            for location in locations {
                let writer = (library.local_writer)(self.raw, location);
                self.check((library.close_local_writer)(self.raw, writer))?;
            }
            self.check((library.close_local_files)(self.raw))
        }
    }

    /// Writes the global definitions, then the anchor file that makes the archive complete.
    pub fn finish(
        mut self,
        define: impl FnOnce(&GlobalDefinitions) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        // SAFETY: the archive is open, and the writer is closed before it.
        unsafe {
            let raw = (self.library.global_writer)(self.raw);
            if raw.is_null() {
                return Err(self.error("OTF2 could not create the file of global definitions"));
            }
            define(&GlobalDefinitions { archive: &self, raw })?;
            self.check((self.library.close_global_writer)(self.raw, raw))?;
            let archive = std::mem::replace(&mut self.raw, null_mut());
            self.check((self.library.archive_close)(archive))
        }
    }

    fn set(&self, attribute: Attribute) -> Result<(), ExportError> {
        let (library, list) = (&self.library, self.attributes);
        // SAFETY: the list lives as long as the archive.
        self.check(unsafe {
            match attribute {
                Attribute::Text(number, string) => (library.add_string)(list, number, string),
                Attribute::Count(number, value) => (library.add_u32)(list, number, value),
                Attribute::Real(number, value) => (library.add_f64)(list, number, value),
            }
        })
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        // SAFETY: both were made by this library and are used no more. Closing frees open writers too.
        unsafe {
            if !self.attributes.is_null() {
                (self.library.delete_attributes)(self.attributes);
            }
            if !self.raw.is_null() {
                (self.library.archive_close)(self.raw);
            }
        }
    }
}

/// The event file of one location. It must be closed by the archive it came from.
pub(super) struct EventWriter {
    raw: *mut RawEventWriter,
}

/// A message in an event, with the peer's rank in the communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageRecord {
    pub peer: u32,
    pub comm: u32,
    pub tag: u32,
    pub bytes: u64,
}

/// A collective in an event, with the root's rank in the communicator or one of OTF2's constants for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CollectiveRecord {
    pub op: u8,
    pub comm: u32,
    pub root: u32,
    pub bytes_out: u64,
    pub bytes_in: u64,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Leave { region: u32 },
    Send(MessageRecord),
    Isend(MessageRecord, u64),
    IsendComplete(u64),
    IrecvRequest(u64),
    Recv(MessageRecord),
    Irecv(MessageRecord, u64),
    Cancelled(u64),
    CollectiveBegin,
    CollectiveEnd(CollectiveRecord),
    CollectiveRequest(u64),
    CollectiveComplete(CollectiveRecord, u64),
}

impl EventWriter {
    /// Writes the entry into a region, with its attributes.
    pub fn enter(
        &mut self,
        archive: &Archive,
        at: u64,
        region: u32,
        attributes: &[Attribute],
    ) -> Result<(), ExportError> {
        for attribute in attributes {
            archive.set(*attribute)?;
        }
        // SAFETY: the writer is open; the list is emptied by the call.
        archive.check(unsafe { (archive.library.enter)(self.raw, archive.attributes, at, region) })
    }

    /// Writes any other event.
    pub fn write(&mut self, archive: &Archive, at: u64, event: Event) -> Result<(), ExportError> {
        let (otf2, writer, none) = (&archive.library, self.raw, null_mut());
        // SAFETY: the writer is open, and no attributes are allowed everywhere.
        archive.check(unsafe {
            match event {
                Event::Leave { region } => (otf2.leave)(writer, none, at, region),
                Event::Send(m) => (otf2.mpi_send)(writer, none, at, m.peer, m.comm, m.tag, m.bytes),
                Event::Isend(m, request) => {
                    (otf2.mpi_isend)(writer, none, at, m.peer, m.comm, m.tag, m.bytes, request)
                }
                Event::IsendComplete(request) => (otf2.mpi_isend_complete)(writer, none, at, request),
                Event::IrecvRequest(request) => (otf2.mpi_irecv_request)(writer, none, at, request),
                Event::Recv(m) => (otf2.mpi_recv)(writer, none, at, m.peer, m.comm, m.tag, m.bytes),
                Event::Irecv(m, request) => {
                    (otf2.mpi_irecv)(writer, none, at, m.peer, m.comm, m.tag, m.bytes, request)
                }
                Event::Cancelled(request) => (otf2.mpi_request_cancelled)(writer, none, at, request),
                Event::CollectiveBegin => (otf2.mpi_collective_begin)(writer, none, at),
                Event::CollectiveEnd(c) => {
                    (otf2.mpi_collective_end)(writer, none, at, c.op, c.comm, c.root, c.bytes_out, c.bytes_in)
                }
                Event::CollectiveRequest(request) => (otf2.collective_request)(writer, none, at, request),
                Event::CollectiveComplete(c, request) => (otf2.collective_complete)(
                    writer,
                    none,
                    at,
                    c.op,
                    c.comm,
                    c.root,
                    c.bytes_out,
                    c.bytes_in,
                    request,
                ),
            }
        })
    }
}

/// The file of global definitions.
pub(super) struct GlobalDefinitions<'a> {
    archive: &'a Archive,
    raw: *mut RawGlobalWriter,
}

/// One global definition; references are numbers given in earlier ones.
#[derive(Clone, Copy, Debug)]
pub(super) enum Global<'a> {
    Clock { length: u64, started_unix_ns: u64 },
    Paradigm { paradigm: u8, name: u32, class: u8 },
    String { number: u32, text: &'a str },
    Attribute { number: u32, name: u32, description: u32, kind: u8 },
    TreeNode { number: u32, name: u32, class: u32, parent: u32, domain: u8 },
    LocationGroup { number: u32, name: u32, kind: u8, node: u32 },
    Location { number: u64, name: u32, kind: u8, events: u64, group: u32 },
    Region { number: u32, name: u32, role: u8, paradigm: u8 },
    Group { number: u32, name: u32, kind: u8, paradigm: u8, flags: u32, members: &'a [u64] },
    Comm { number: u32, name: u32, group: u32, parent: u32 },
    InterComm { number: u32, name: u32, groups: [u32; 2], common: u32 },
}

/// Reference to nothing.
pub(super) const UNDEFINED: u32 = u32::MAX;
const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

impl GlobalDefinitions<'_> {
    /// Writes one definition.
    pub fn write(&self, definition: Global) -> Result<(), ExportError> {
        let (otf2, writer) = (&self.archive.library, self.raw);
        // SAFETY: the writer is open; texts and lists live through the call, which copies them.
        self.archive.check(unsafe {
            match definition {
                Global::Clock { length, started_unix_ns } => {
                    (otf2.write_clock)(writer, NANOSECONDS_PER_SECOND, 0, length, started_unix_ns)
                }
                Global::Paradigm { paradigm, name, class } => {
                    (otf2.write_paradigm)(writer, paradigm, name, class)
                }
                Global::String { number, text: string } => {
                    (otf2.write_string)(writer, number, text(string.as_bytes()).as_ptr())
                }
                Global::Attribute { number, name, description, kind } => {
                    (otf2.write_attribute)(writer, number, name, description, kind)
                }
                Global::TreeNode { number, name, class, parent, domain } => {
                    match (otf2.write_tree_node)(writer, number, name, class, parent) {
                        0 => (otf2.write_tree_domain)(writer, number, domain),
                        code => code,
                    }
                }
                Global::LocationGroup { number, name, kind, node } => {
                    (otf2.write_location_group)(writer, number, name, kind, node, UNDEFINED)
                }
                Global::Location { number, name, kind, events, group } => {
                    (otf2.write_location)(writer, number, name, kind, events, group)
                }
                Global::Region { number, name, role, paradigm } => {
                    (otf2.write_region)(writer, number, name, name, 0, role, paradigm, 0, UNDEFINED, 0, 0)
                }
                Global::Group { number, name, kind, paradigm, flags, members } => {
                    let count = members.len() as u32;
                    (otf2.write_group)(writer, number, name, kind, paradigm, flags, count, members.as_ptr())
                }
                Global::Comm { number, name, group, parent } => {
                    (otf2.write_comm)(writer, number, name, group, parent, 0)
                }
                Global::InterComm { number, name, groups, common } => {
                    (otf2.write_inter_comm)(writer, number, name, groups[0], groups[1], common, 0)
                }
            }
        })
    }
}

/// Bytes as a C text; what follows a zero byte is cut off.
fn text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("there is no zero byte left")
}

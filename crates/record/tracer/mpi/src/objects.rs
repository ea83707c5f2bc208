//! Windows, files, datatypes and matched messages: from a handle to the number they have in the trace.

use crate::process;
use crate::stream::lock;
use kizami_model::ObjectKind;
use kizami_records::{Definition, NO_COMM};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What is known of an object.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Its number in this process, 0 if unknown.
    pub local: u32,
    /// Its communicator's number.
    pub comm: u32,
}

const UNKNOWN: Object = Object { local: 0, comm: NO_COMM };

struct Table {
    /// A program may have many thousand datatypes.
    known: BTreeMap<(ObjectKind, usize), Object>,
    made: u32,
    /// Messages taken off the queue by a matched probe: (handle, communicator).
    messages: Vec<(usize, u32)>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { known: BTreeMap::new(), made: 0, messages: Vec::new() });

/// The object with this handle.
pub fn of(kind: ObjectKind, handle: usize) -> Object {
    lock(&TABLE).known.get(&(kind, handle)).copied().unwrap_or(UNKNOWN)
}

/// Enters a new object.
pub fn add(kind: ObjectKind, handle: usize, comm: u32, name: String, bytes: u64) -> Object {
    let object = {
        let mut table = lock(&TABLE);
        table.made += 1;
        let object = Object { local: table.made, comm };
        table.known.insert((kind, handle), object);
        object
    };
    if let Some(process) = process::existing() {
        process.define(&Definition::Object { local: object.local, kind, comm, name, bytes });
        if kind != ObjectKind::Datatype {
            process.define(&Definition::ObjectHandle { local: object.local, handle: handle as u64 });
        }
    }
    object
}

/// Numbers a file that is not MPI's: its opener knows it by that number.
pub fn add_file(name: String) -> u32 {
    let local = {
        let mut table = lock(&TABLE);
        table.made += 1;
        table.made
    };
    if let Some(process) = process::existing() {
        let (kind, comm) = (ObjectKind::File, NO_COMM);
        process.define(&Definition::Object { local, kind, comm, name, bytes: 0 });
    }
    local
}

/// Remembers an object whose freeing failed.
pub fn remember(kind: ObjectKind, handle: usize, object: Object) {
    lock(&TABLE).known.insert((kind, handle), object);
}

/// Forgets an object that is about to be freed: once it is, another thread may be given its handle.
pub fn forget(kind: ObjectKind, handle: usize) -> Object {
    lock(&TABLE).known.remove(&(kind, handle)).unwrap_or(UNKNOWN)
}

/// A matched probe took a message off the queue of this communicator.
pub fn add_message(handle: usize, comm: u32) {
    lock(&TABLE).messages.push((handle, comm));
}

/// A matched message is being received; returns its communicator.
pub fn take_message(handle: usize) -> u32 {
    let mut table = lock(&TABLE);
    let position = table.messages.iter().position(|(known, _)| *known == handle);
    position.map_or(NO_COMM, |index| table.messages.swap_remove(index).1)
}

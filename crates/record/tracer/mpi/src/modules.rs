//! Which executable or library an address lies in.

use crate::loader::objects::{self, Object};
use crate::process::Process;
use crate::simulator;
use crate::stream::lock;
use kizami_records::Definition;
use std::ops::Range;
use std::sync::Mutex;

/// A loaded object with executable code.
#[derive(Clone)]
struct Module {
    code: Vec<Range<usize>>,
    bias: usize,
    path: String,
    build_id: Vec<u8>,
    /// Its number in the trace, 0 until a call site lies in it.
    local: u32,
}

/// What a call site needs to know of its module.
#[derive(Clone, Copy)]
pub struct Place {
    /// Number of the module in the trace.
    pub module: u32,
    /// It is a part of MPI: language bindings that call the C functions on behalf of the program.
    pub belongs_to_mpi: bool,
    /// It is a language's library, which reads and writes files on behalf of the program.
    pub is_runtime: bool,
    /// It is the C library, which starts the program and its threads.
    pub is_c_library: bool,
    /// It is Python's interpreter.
    pub is_interpreter: bool,
}

const OF_MPI: [&str; 4] = ["libmpi", "libmpich", "libfmpich", "libpmpi"];
/// Of GNU, LLVM, Intel and NVIDIA.
const RUNTIMES: [&str; 10] = [
    "libstdc++",
    "libc++",
    "libgfortran",
    "libflang",
    "libFortran",
    "libifcore",
    "libifport",
    "libnvf",
    "libpgf90",
    "libpgc",
];

const INTERPRETERS: [&str; 2] = ["python", "libpython"];
const C_LIBRARIES: [&str; 4] = ["libc.so", "libc-2", "libpthread", "ld-"];

static MODULES: Mutex<Vec<Module>> = Mutex::new(Vec::new());

/// The module that holds an address; `None` if no loaded object does.
pub fn place(process: &Process, address: usize) -> Option<Place> {
    let mut modules = lock(&MODULES);
    let holds = |module: &Module| module.code.iter().any(|code| code.contains(&address));
    if !modules.iter().any(holds) {
        // Loaded since we last looked. Those that have numbers keep them.
        for module in loaded() {
            if !modules.iter().any(|known| known.bias == module.bias && known.path == module.path) {
                modules.push(module);
            }
        }
    }
    let used = modules.iter().filter(|module| module.local != 0).count() as u32;
    // The latest first: an object may have been unloaded and another put in its place.
    let module = modules.iter_mut().rev().find(|module| holds(module))?;
    if module.local == 0 {
        module.local = used + 1;
        process.define(&Definition::Module {
            local: module.local,
            bias: module.bias as u64,
            path: module.path.clone(),
            build_id: module.build_id.clone(),
        });
    }
    let file = module.path.rsplit('/').next().unwrap_or_default();
    let is_of = |names: &[&str]| names.iter().any(|name| file.starts_with(name));
    Some(Place {
        module: module.local,
        belongs_to_mpi: is_of(&OF_MPI),
        is_runtime: is_of(&RUNTIMES),
        is_c_library: is_of(&C_LIBRARIES),
        is_interpreter: is_of(&INTERPRETERS),
    })
}

fn loaded() -> Vec<Module> {
    // SAFETY: the loader shows it with its own headers.
    objects::map(|object| unsafe { module(object) })
}

/// # Safety
/// The object must be one that is loaded.
unsafe fn module(object: &Object) -> Module {
    let is_code = |header: &&libc::Elf64_Phdr| header.p_flags & libc::PF_X != 0;
    let code = object.segments(libc::PT_LOAD).filter(is_code).map(|header| object.range(header)).collect();
    let note = object.segments(libc::PT_NOTE).find_map(|header| {
        let notes = object.range(header);
        // SAFETY: the note segment of a loaded object is mapped.
        build_id(unsafe { std::slice::from_raw_parts(notes.start as *const u8, notes.len()) })
    });
    let (bias, name) = (object.bias, object.path.to_string_lossy());
    // The executable itself has no name here.
    let path = if name.is_empty() {
        std::env::current_exe().map_or_else(|_| String::new(), |path| path.display().to_string())
    } else {
        simulator::copies::original(&name).unwrap_or_else(|| name.into_owned())
    };
    Module { code, bias, path, build_id: note.unwrap_or_default(), local: 0 }
}

/// The build id among ELF notes.
fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    const NT_GNU_BUILD_ID: u32 = 3;
    let number = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    loop {
        let (name_length, length, kind) =
            (number(notes, 0)? as usize, number(notes, 4)? as usize, number(notes, 8)?);
        let start = 12 + name_length.next_multiple_of(4);
        let content = notes.get(start..start + length)?;
        if kind == NT_GNU_BUILD_ID && notes.get(12..16) == Some(b"GNU\0") {
            return Some(content.to_vec());
        }
        notes = notes.get(start + length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(kind: u32, name: &[u8], content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [name.len() as u32, content.len() as u32, kind] {
            bytes.extend(number.to_ne_bytes());
        }
        for part in [name, content] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn the_build_id_is_found_behind_other_notes() {
        let id = [1, 2, 3, 4, 5];
        let notes = [note(1, b"GNU\0", &[0; 16]), note(3, b"GNU\0", &id)].concat();
        assert_eq!(build_id(&notes), Some(id.to_vec()));
        assert_eq!(build_id(&note(3, b"Go\0\0", &id)), None);
        assert_eq!(build_id(&notes[..notes.len() - 4]), None);
    }
}

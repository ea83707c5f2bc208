//! What is loaded into the process, as the loader lists it.

use std::ffi::{CStr, c_int, c_void};
use std::ops::{ControlFlow, Range};

/// One loaded object, while the loader shows it.
pub struct Object<'a> {
    /// What is to be added to addresses in its file.
    pub bias: usize,
    /// Its program headers.
    pub headers: &'a [libc::Elf64_Phdr],
    /// Its path, empty for the program itself.
    pub path: &'a CStr,
    /// Objects that were loaded since the process began.
    pub loads: u64,
    /// Objects that were unloaded since.
    pub unloads: u64,
}

impl Object<'_> {
    /// Where a segment lies in memory.
    pub fn range(&self, header: &libc::Elf64_Phdr) -> Range<usize> {
        let start = self.bias.wrapping_add(header.p_vaddr as usize);
        start..start + header.p_memsz as usize
    }

    /// Segments of this kind.
    pub fn segments(&self, kind: u32) -> impl Iterator<Item = &libc::Elf64_Phdr> {
        self.headers.iter().filter(move |header| header.p_type == kind)
    }

    /// Whether it holds an address.
    pub fn holds(&self, address: usize) -> bool {
        self.segments(libc::PT_LOAD).any(|header| self.range(header).contains(&address))
    }

    /// Its dynamic section.
    pub fn dynamic(&self) -> Option<*const [usize; 2]> {
        let header = self.segments(libc::PT_DYNAMIC).next()?;
        Some(self.range(header).start as *const [usize; 2])
    }
}

/// Shows all objects, the program first, until `act` has what it wants. The loader is locked meanwhile.
pub fn find<T>(mut act: impl FnMut(&Object) -> ControlFlow<T>) -> Option<T> {
    struct Search<'a, T> {
        act: &'a mut dyn FnMut(&Object) -> ControlFlow<T>,
        found: Option<T>,
    }
    extern "C" fn visit<T>(info: *mut libc::dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid object with its headers, and `search` is the struct below.
        unsafe {
            let (info, search) = (&*info, &mut *search.cast::<Search<T>>());
            let object = Object {
                bias: info.dlpi_addr as usize,
                headers: std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)),
                path: if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) },
                loads: info.dlpi_adds,
                unloads: info.dlpi_subs,
            };
            match (search.act)(&object) {
                ControlFlow::Continue(()) => 0,
                ControlFlow::Break(found) => {
                    search.found = Some(found);
                    1
                }
            }
        }
    }
    let mut search = Search { act: &mut act, found: None };
    // SAFETY: the callback takes exactly this struct.
    unsafe { libc::dl_iterate_phdr(Some(visit::<T>), (&raw mut search).cast()) };
    search.found
}

/// Something of each object.
pub fn map<T>(mut act: impl FnMut(&Object) -> T) -> Vec<T> {
    let mut list = Vec::new();
    find(|object| {
        list.push(act(object));
        ControlFlow::<()>::Continue(())
    });
    list
}

/// How many objects were loaded and unloaded since the process began.
pub fn changes() -> (u64, u64) {
    find(|object| ControlFlow::Break((object.loads, object.unloads))).unwrap_or_default()
}

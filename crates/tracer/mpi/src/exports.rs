//! When our exported names may be seen.
//!
//! Programs find out at run time which MPI they have, and our names must not answer for an MPI that is not
//! there. mpi4py first asks whether MPI is loaded already, and believes us; then it asks by weak references
//! which of some three hundred functions exist, and calls whatever it finds. So the names of functions that
//! the loaded MPI lacks are taken out of our symbol table in memory; as long as no MPI is loaded at all,
//! that means every name. Nothing tells a library that another was loaded, so we stand before `dlopen`: when
//! MPI has been loaded since, or is about to be because the object to be loaded needs it, the names come
//! back in time for the new object to be bound to them.

use crate::simulator::copies;
use crate::{loader, real};
use kizami_model::function::mpi_functions;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether all our names are hidden, waiting for MPI to be loaded.
static WAITING: AtomicBool = AtomicBool::new(false);

/// Entries of our symbol table that are hidden, and what they were.
static HIDDEN: Mutex<Vec<(usize, libc::Elf64_Sym)>> = Mutex::new(Vec::new());

/// Decides what is visible when the process starts.
pub fn on_load() {
    if real::is_loaded() {
        hide_names(|name| !real::defines(name));
    } else {
        hide_names(|_| true);
        WAITING.store(true, Ordering::Relaxed);
    }
}

/// The program's `dlopen`: looks at what is to be loaded, then goes on to the real one with everything
/// untouched, also the return address, by which the loader knows whose search path to use.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        before = sym before_dlopen,
    )
}

/// Shows our names if it is time; gives the address of the real `dlopen`.
extern "C" fn before_dlopen(file: *const c_char) -> *mut c_void {
    // SAFETY: the program passes a C string or null.
    let file = (!file.is_null()).then(|| unsafe { CStr::from_ptr(file) });
    if file.is_some_and(copies::is_program_of_rank) {
        return copies::load as *mut c_void;
    }
    if WAITING.load(Ordering::Relaxed) {
        if real::is_loaded() {
            WAITING.store(false, Ordering::Relaxed);
            show_names();
            hide_names(|name| !real::defines(name));
        } else if file.is_some_and(needs_mpi) {
            WAITING.store(false, Ordering::Relaxed);
            show_names();
        }
    }
    loader::address()
}

/// Whether an object file names an MPI library among those it needs. The names stand in the file as they
/// are, and a file that merely mentions one makes our names visible a little early.
fn needs_mpi(file: &CStr) -> bool {
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(file.to_bytes()));
    // Without a slash it is searched for in the system's directories; MPI's own libraries are found by name.
    let name = path.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
    if name.starts_with(b"libmpi") {
        return false;
    }
    let Some(file) = MappedFile::open(path) else { return false };
    let bytes = file.bytes();
    bytes.starts_with(b"\x7fELF")
        && needed(bytes).is_some_and(|names| names.iter().any(|n| n.starts_with("libmpi")))
}

/// A file mapped for a look: only the pages that are looked at are read.
struct MappedFile {
    base: *mut c_void,
    length: usize,
}

impl MappedFile {
    fn open(path: &std::path::Path) -> Option<MappedFile> {
        let file = std::fs::File::open(path).ok()?;
        let length = usize::try_from(file.metadata().ok()?.len()).ok().filter(|length| *length > 0)?;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
        // SAFETY: a private mapping of a file that was just opened.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, descriptor, 0)
        };
        (base != libc::MAP_FAILED).then_some(MappedFile { base, length })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped in `open`, unmapped only by `drop`.
        unsafe { std::slice::from_raw_parts(self.base.cast(), self.length) }
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: our own mapping.
        unsafe { libc::munmap(self.base, self.length) };
    }
}

/// The libraries an ELF file needs.
fn needed(bytes: &[u8]) -> Option<Vec<String>> {
    const PT_LOAD: u64 = 1;
    const PT_DYNAMIC: u64 = 2;
    let word = |at: u64, length: usize| {
        let at = usize::try_from(at).ok()?;
        let field = bytes.get(at..at.checked_add(length)?)?;
        Some(field.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte)))
    };
    let (table, size, count) = (word(32, 8)?, word(54, 2)?, word(56, 2)?);
    let headers: Vec<[u64; 4]> = (0..count)
        .map(|index| {
            let at = table.checked_add(index * size)?;
            Some([word(at, 4)?, word(at + 8, 8)?, word(at + 16, 8)?, word(at + 32, 8)?])
        })
        .collect::<Option<_>>()?;
    let file_offset = |address: u64| {
        let load = headers.iter().find(|h| h[0] == PT_LOAD && h[2] <= address && address - h[2] < h[3])?;
        load[1].checked_add(address - load[2])
    };
    let dynamic = headers.iter().find(|header| header[0] == PT_DYNAMIC)?;
    let entries: Vec<(u64, u64)> = (0..dynamic[3] / 16)
        .map_while(|index| Some((word(dynamic[1] + index * 16, 8)?, word(dynamic[1] + index * 16 + 8, 8)?)))
        .collect();
    const DT_NEEDED: u64 = 1;
    let strings = file_offset(entries.iter().find(|(tag, _)| *tag == DT_STRTAB as u64)?.1)?;
    let text = |offset: u64| {
        let start = usize::try_from(strings.checked_add(offset)?).ok()?;
        Some(CStr::from_bytes_until_nul(bytes.get(start..)?).ok()?.to_string_lossy().into_owned())
    };
    Some(entries.iter().filter(|(tag, _)| *tag == DT_NEEDED).filter_map(|(_, value)| text(*value)).collect())
}

/// Takes those of our MPI names for which `which` is true out of the symbol table.
fn hide_names(which: impl Fn(&CStr) -> bool) {
    let Some(table) = SymbolTable::own() else { return };
    let mut hidden = crate::stream::lock(&HIDDEN);
    table.change(|symbols, name_of| {
        let mut names: std::collections::HashMap<CString, usize> = std::collections::HashMap::new();
        for (index, symbol) in symbols.iter().enumerate() {
            let name = name_of(symbol);
            if name.to_bytes().starts_with(b"MPI_") || name.to_bytes().starts_with(b"PMPI_") {
                names.insert(name.to_owned(), index);
            }
        }
        for function in mpi_functions() {
            let Ok(plain) = CString::new(function.name) else { continue };
            let Ok(profiling) = CString::new(format!("P{}", function.name)) else { continue };
            if which(&profiling) {
                for index in [names.get(&plain), names.get(&profiling)].into_iter().flatten() {
                    hidden.push((*index, symbols[*index]));
                    // An entry without section and value is no definition to the loader.
                    symbols[*index].st_shndx = 0;
                    symbols[*index].st_value = 0;
                }
            }
        }
    });
}

/// Puts everything back that was hidden.
fn show_names() {
    let Some(table) = SymbolTable::own() else { return };
    let mut hidden = crate::stream::lock(&HIDDEN);
    table.change(|symbols, _| {
        for (index, symbol) in hidden.drain(..) {
            symbols[index] = symbol;
        }
    });
}

const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_GNU_HASH: i64 = 0x6fff_fef5;
const DT_NULL: i64 = 0;

/// Our own dynamic symbol table, as the loader reads it.
struct SymbolTable {
    symbols: *mut libc::Elf64_Sym,
    count: usize,
    strings: *const c_char,
}

impl SymbolTable {
    fn own() -> Option<SymbolTable> {
        let dynamic = own_dynamic_section()?;
        let find = |wanted: i64| {
            let mut entry = dynamic;
            // SAFETY: the dynamic section ends with DT_NULL; the loader has made its pointers absolute.
            unsafe {
                while (*entry)[0] != DT_NULL {
                    if (*entry)[0] == wanted {
                        return Some((*entry)[1] as usize);
                    }
                    entry = entry.add(1);
                }
            }
            None
        };
        Some(SymbolTable {
            symbols: find(DT_SYMTAB)? as *mut libc::Elf64_Sym,
            // SAFETY: the loader relies on the same hash table.
            count: unsafe { hashed_symbols(find(DT_GNU_HASH)? as *const u32) },
            strings: find(DT_STRTAB)? as *const c_char,
        })
    }

    /// Lets `act` change the entries; the pages become private copies of this process.
    fn change(&self, act: impl FnOnce(&mut [libc::Elf64_Sym], &dyn Fn(&libc::Elf64_Sym) -> &'static CStr)) {
        const PAGE: usize = 4096;
        let start = self.symbols as usize & !(PAGE - 1);
        let end = self.symbols as usize + self.count * size_of::<libc::Elf64_Sym>();
        // SAFETY: our own pages. The string and hash tables are not changed.
        unsafe {
            let length = (end - start).next_multiple_of(PAGE);
            if libc::mprotect(start as *mut c_void, length, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return;
            }
            let strings = self.strings;
            act(std::slice::from_raw_parts_mut(self.symbols, self.count), &|symbol| {
                CStr::from_ptr(strings.add(symbol.st_name as usize))
            });
            libc::mprotect(start as *mut c_void, length, libc::PROT_READ);
        }
    }
}

/// How many symbols a GNU hash table covers: the highest index in any chain.
///
/// # Safety
/// The address must be that of a GNU hash table.
unsafe fn hashed_symbols(table: *const u32) -> usize {
    // SAFETY: the layout of the table: buckets, first symbol, words of the filter, shift, filter, buckets, chains.
    unsafe {
        let (buckets, first, filter) = (*table as usize, *table.add(1) as usize, *table.add(2) as usize);
        let bucket = table.add(4 + filter * 2);
        let chain = bucket.add(buckets);
        let highest = (0..buckets).map(|index| *bucket.add(index) as usize).max().unwrap_or(0);
        if highest < first {
            return first;
        }
        let mut last = highest;
        while *chain.add(last - first) & 1 == 0 {
            last += 1;
        }
        last + 1
    }
}

fn own_dynamic_section() -> Option<*const [i64; 2]> {
    struct Search {
        address: usize,
        dynamic: *const [i64; 2],
    }
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid object with its headers, and `search` is the struct below.
        unsafe {
            let (info, search) = (&*info, &mut *search.cast::<Search>());
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            let base = info.dlpi_addr as usize;
            let holds = |header: &libc::Elf64_Phdr| {
                let start = base + header.p_vaddr as usize;
                header.p_type == libc::PT_LOAD
                    && (start..start + header.p_memsz as usize).contains(&search.address)
            };
            if !headers.iter().any(holds) {
                return 0;
            }
            if let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) {
                search.dynamic = (base + dynamic.p_vaddr as usize) as *const [i64; 2];
            }
            1
        }
    }
    let address = own_dynamic_section as *const () as usize;
    let mut search = Search { address, dynamic: std::ptr::null() };
    // SAFETY: the callback takes exactly this struct.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    (!search.dynamic.is_null()).then_some(search.dynamic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_names_the_libraries_it_needs() {
        let program = std::env::current_exe().expect("this test");
        let bytes = std::fs::read(program).expect("a file");
        let names = needed(&bytes).expect("a program with a dynamic section");
        assert!(names.iter().any(|name| name.starts_with("libc.so")), "{names:?}");
    }

    #[test]
    fn bytes_that_are_cut_or_damaged_name_nothing_that_is_not_there() {
        let program = std::env::current_exe().expect("this test");
        let mut bytes = std::fs::read(program).expect("a file");
        for length in [0, 4, 63, 64, 500, 5000] {
            let _ = needed(&bytes[..length]);
        }
        // The table of program headers lies beyond the end.
        bytes[32..40].fill(0xff);
        assert_eq!(needed(&bytes), None);
    }
}

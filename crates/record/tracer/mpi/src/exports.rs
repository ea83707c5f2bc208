//! When our exported names may be seen.
//!
//! Programs find out at run time which MPI they have, and our names must not answer for an MPI that is not
//! there. mpi4py first asks whether MPI is loaded already, and believes us; then it asks by weak references
//! which of some three hundred functions exist, and calls whatever it finds. So the names of functions that
//! the loaded MPI lacks are taken out of our symbol table in memory; as long as no MPI is loaded at all,
//! that means every name. When MPI has been loaded since, or is about to be because an object that is to be loaded
//! needs it (`loading`), the names come back.

use crate::binding::{self, When};
use crate::loader::objects;
use crate::{needed, real, simulator};
use kizami_model::function::mpi_functions;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether all our names are hidden, waiting for MPI to be loaded.
static WAITING: AtomicBool = AtomicBool::new(false);

/// Entries of our symbol table that are hidden, and what they were.
static HIDDEN: Mutex<Vec<(usize, libc::Elf64_Sym)>> = Mutex::new(Vec::new());

/// Whether the process is recorded at all.
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Decides what is visible when the process starts.
pub fn on_load() {
    ACTIVE.store(simulator::get().is_none(), Ordering::Relaxed);
    if real::is_loaded() {
        hide_names(|name| !real::defines(name));
    } else {
        hide_names(|_| true);
        WAITING.store(true, Ordering::Relaxed);
    }
}

/// Shows our names, if they are hidden and MPI has been loaded since. True if they have been shown just now.
pub fn show_if_loaded() -> bool {
    let is_time = WAITING.load(Ordering::Relaxed) && real::is_loaded();
    if is_time {
        WAITING.store(false, Ordering::Relaxed);
        show_names();
        hide_names(|name| !real::defines(name));
        binding::look_again(When::Loaded);
    }
    is_time
}

/// Shows our names, if they are hidden and MPI has been loaded since, or comes with this file.
pub fn show_in_time_for(file: &CStr) {
    if !show_if_loaded() && WAITING.load(Ordering::Relaxed) && needed::brings_mpi(file) {
        WAITING.store(false, Ordering::Relaxed);
        show_names();
    }
}

/// Whether the process is recorded, so that it is our names that are to be found.
pub fn are_wanted() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// Whether MPI is loaded, so that our names may be seen.
pub fn are_shown() -> bool {
    are_wanted() && !WAITING.load(Ordering::Relaxed)
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
                    make_undefined(&mut symbols[*index]);
                }
            }
        }
    });
}

/// Takes one name out of the symbol table for good.
pub fn hide(hidden: &CStr) {
    let Some(table) = SymbolTable::own() else { return };
    table.change(|symbols, name_of| {
        symbols.iter_mut().filter(|symbol| name_of(symbol) == hidden).for_each(make_undefined);
    });
}

/// An entry without section and value is no definition to the loader.
fn make_undefined(symbol: &mut libc::Elf64_Sym) {
    symbol.st_shndx = 0;
    symbol.st_value = 0;
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

const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_GNU_HASH: usize = 0x6fff_fef5;
const DT_NULL: usize = 0;

/// Our own dynamic symbol table, as the loader reads it.
struct SymbolTable {
    symbols: *mut libc::Elf64_Sym,
    count: usize,
    strings: *const c_char,
}

impl SymbolTable {
    fn own() -> Option<SymbolTable> {
        let dynamic = own_dynamic_section()?;
        let find = |wanted: usize| {
            let mut entry = dynamic;
            // SAFETY: the dynamic section ends with DT_NULL; the loader has made its pointers absolute.
            unsafe {
                while (*entry)[0] != DT_NULL {
                    if (*entry)[0] == wanted {
                        return Some((*entry)[1]);
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

fn own_dynamic_section() -> Option<*const [usize; 2]> {
    let address = own_dynamic_section as *const () as usize;
    objects::find(|object| {
        if object.holds(address) { ControlFlow::Break(object.dynamic()) } else { ControlFlow::Continue(()) }
    })?
}

//! Hiding those of our exports that the MPI library does not have.
//!
//! Programs ask by weak references which functions their MPI has: mpi4py asks for nearly three hundred and
//! calls whatever it finds. A function that only we export would be found, called, and missing. What
//! `kizami record` knows about the library arrives in `KIZAMI_MPI_SYMBOLS`, a bitmap over the table; the
//! names it lacks are taken out of our own symbol table in memory before MPI is loaded.

use kizami_model::function::functions;
use std::ffi::{CStr, c_int, c_void};

const DT_SYMTAB: i64 = 6;
const DT_STRTAB: i64 = 5;
const DT_NULL: i64 = 0;

/// Takes the names that `KIZAMI_MPI_SYMBOLS` does not list out of the dynamic symbol table.
pub fn hide_what_mpi_lacks() {
    let Some(present) = std::env::var("KIZAMI_MPI_SYMBOLS").ok().and_then(|text| parse(&text)) else {
        return;
    };
    let Some((symbols, strings)) = own_symbol_table() else { return };
    let own = own_handle();
    for function in functions() {
        let bit = usize::from(function.op.0) - 1;
        let exists = present.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 != 0);
        if !exists {
            for name in [function.name.to_owned(), format!("P{}", function.name)] {
                hide(own, symbols, strings, &name);
            }
        }
    }
}

fn parse(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect::<Option<Vec<u8>>>()
        .filter(|bytes| bytes.iter().any(|byte| *byte != 0))
}

/// Makes one entry look undefined to the loader.
fn hide(own: *mut c_void, symbols: *mut libc::Elf64_Sym, strings: *const u8, name: &str) {
    let Ok(c_name) = std::ffi::CString::new(name) else { return };
    // SAFETY: our own library is certainly loaded; the loader finds the entry that others would find.
    let entry = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut symbol: *mut c_void = std::ptr::null_mut();
        let address = libc::dlsym(own, c_name.as_ptr());
        const RTLD_DL_SYMENT: c_int = 1;
        if address.is_null() || dladdr1(address, &mut info, &mut symbol, RTLD_DL_SYMENT) == 0 {
            return;
        }
        symbol.cast::<libc::Elf64_Sym>()
    };
    if entry.is_null() || entry < symbols {
        return;
    }
    // SAFETY: the entry lies in our own symbol table, whose strings are next to it.
    let found = unsafe { CStr::from_ptr(strings.add((*entry).st_name as usize).cast()) };
    if found.to_bytes() != name.as_bytes() {
        return;
    }
    let page = entry as usize & !4095;
    let length = (entry as usize + size_of::<libc::Elf64_Sym>()) - page;
    // SAFETY: makes a private copy of pages of our own library and changes one entry there. No code of ours
    // refers to the entry: stubs are reached by address.
    unsafe {
        if libc::mprotect(page as *mut c_void, length, libc::PROT_READ | libc::PROT_WRITE) == 0 {
            (*entry).st_shndx = 0;
            (*entry).st_value = 0;
            libc::mprotect(page as *mut c_void, length, libc::PROT_READ);
        }
    }
}

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
}

fn own_path() -> Option<&'static CStr> {
    // SAFETY: all zeros is a valid value; dladdr fills it in for an address of our own.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let found = libc::dladdr(own_path as *const c_void, &mut info);
        (found != 0 && !info.dli_fname.is_null()).then(|| CStr::from_ptr(info.dli_fname))
    }
}

fn own_handle() -> *mut c_void {
    let Some(path) = own_path() else { return std::ptr::null_mut() };
    // SAFETY: asks for the object that is running right now.
    unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}

/// Our own dynamic symbol table and its strings.
fn own_symbol_table() -> Option<(*mut libc::Elf64_Sym, *const u8)> {
    #[repr(C)]
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
    let mut search = Search { address: own_symbol_table as *const () as usize, dynamic: std::ptr::null() };
    // SAFETY: the callback takes exactly this struct.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    if search.dynamic.is_null() {
        return None;
    }
    let find = |wanted: i64| {
        let mut entry = search.dynamic;
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
    Some((find(DT_SYMTAB)? as *mut libc::Elf64_Sym, find(DT_STRTAB)? as *const u8))
}

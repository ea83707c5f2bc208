//! A loaded module, and its references to functions of others.
//!
//! A module calls functions of others by addresses that the loader keeps for it in slots. It fills a slot when the module is
//! loaded, or, if bound lazily, at the first call. Changing a slot changes what this module calls and nothing else: not what
//! other modules call, and not what `dlsym` gives.

use super::{lookup, objects, open_loaded};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

const DT_PLTRELSZ: usize = 2;
const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_RELA: usize = 7;
const DT_RELASZ: usize = 8;
const DT_JMPREL: usize = 23;
const DT_VERSYM: usize = 0x6fff_fff0;
const DT_VERNEED: usize = 0x6fff_fffe;
const DT_VERNEEDNUM: usize = 0x6fff_ffff;

/// A loaded module. It stays loaded as long as this lives.
pub struct Module {
    handle: *mut c_void,
    bias: usize,
    dynamic: *const [usize; 2],
    path: CString,
    /// Where it lies.
    segments: Vec<Range<usize>>,
    /// Its code that can be read.
    code: Vec<Range<usize>>,
    /// What can be written to, at least by the loader.
    data: Vec<Range<usize>>,
    /// What the loader made read-only once it had filled it.
    read_only: Option<Range<usize>>,
}

/// What is known of a module before it is held.
pub struct ListedModule {
    module: Module,
    is_program: bool,
}

impl ListedModule {
    /// Tells it from all others that are loaded now.
    pub fn identity(&self) -> usize {
        self.module.dynamic as usize
    }

    /// Its path, empty for the program itself.
    pub fn path(&self) -> &CStr {
        &self.module.path
    }

    /// Holds it; none if it was unloaded meanwhile.
    pub fn hold(self) -> Option<Module> {
        let ListedModule { mut module, is_program } = self;
        let handle = if is_program {
            // SAFETY: the program itself.
            unsafe { super::open()(std::ptr::null(), libc::RTLD_LAZY) }
        } else {
            open_loaded(&module.path)
        };
        module.handle = handle;
        (!handle.is_null() && link_map(handle).is_some_and(|map| map.dynamic == module.dynamic))
            .then_some(module)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: a handle that dlopen gave us.
            unsafe { libc::dlclose(self.handle) };
        }
    }
}

/// What the loader knows of an object; there is more behind it.
#[repr(C)]
struct LinkMap {
    bias: usize,
    name: *const c_char,
    dynamic: *const [usize; 2],
}

fn link_map(handle: *mut c_void) -> Option<&'static LinkMap> {
    let mut map: *const LinkMap = std::ptr::null();
    // SAFETY: a handle that dlopen gave, and a place for the answer, which lives as long as the object.
    unsafe {
        let failed = libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) != 0;
        if failed { None } else { map.as_ref() }
    }
}

/// All modules that are loaded, the program first.
pub fn loaded() -> Vec<ListedModule> {
    let mut is_first = true;
    let modules = objects::map(|object| {
        let is_program = std::mem::take(&mut is_first);
        Some(ListedModule { module: describe(object)?, is_program })
    });
    modules.into_iter().flatten().collect()
}

fn describe(object: &objects::Object) -> Option<Module> {
    let loaded = |flags: u32| {
        let has_flags = move |header: &&libc::Elf64_Phdr| header.p_flags & flags == flags;
        object.segments(libc::PT_LOAD).filter(has_flags).map(|header| object.range(header)).collect()
    };
    Some(Module {
        handle: std::ptr::null_mut(),
        bias: object.bias,
        dynamic: object.dynamic()?,
        path: object.path.to_owned(),
        segments: loaded(0),
        code: loaded(libc::PF_X | libc::PF_R),
        data: loaded(libc::PF_W),
        read_only: object.segments(libc::PT_GNU_RELRO).map(|header| object.range(header)).next(),
    })
}

/// A reference of a module to a function that it does not define itself.
pub struct Reference<'a> {
    module: &'a Module,
    /// Name of the function.
    pub name: &'a CStr,
    version: Option<&'a CStr>,
    slot: *const AtomicUsize,
    /// The loader fills the slot at the first call.
    may_be_lazy: bool,
}

impl Module {
    /// The module with this handle, which its owner keeps.
    pub fn of_handle(handle: *mut c_void) -> Option<Module> {
        let wanted = link_map(handle)?.dynamic as usize;
        loaded().into_iter().find(|found| found.identity() == wanted)?.hold()
    }

    /// The module that holds an address.
    pub fn holding(address: usize) -> Option<Module> {
        loaded().into_iter().find(|found| found.module.contains(address))?.hold()
    }

    /// Its path; that of the program is empty.
    pub fn path(&self) -> &CStr {
        &self.path
    }

    /// The path that the system knows it by.
    pub fn file(&self) -> String {
        if self.path.is_empty() {
            return std::env::current_exe().map_or_else(|_| String::new(), |path| path.display().to_string());
        }
        self.path.to_string_lossy().into_owned()
    }

    /// Whether an address lies in it.
    pub fn contains(&self, address: usize) -> bool {
        self.segments.iter().any(|segment| segment.contains(&address))
    }

    /// The address of a function that it defines itself, in its default version.
    pub fn definition(&self, name: &CStr) -> Option<usize> {
        // A handle answers for what the module was loaded with as well.
        super::symbol(self.handle, name).map(|found| found as usize).filter(|found| self.contains(*found))
    }

    /// What it would be bound to if it referred to this name; none if that cannot be found out, or nowhere.
    pub fn binding_of(&self, name: &CStr) -> Option<usize> {
        lookup::from_module(&self.code, name, None)
    }

    /// Keeps it loaded, whatever unloads it.
    pub fn keep(&self) {
        if !self.path.is_empty() {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            // SAFETY: a valid name; nothing new is loaded.
            unsafe {
                let again = super::open()(self.path.as_ptr(), flags);
                if !again.is_null() {
                    libc::dlclose(again);
                }
            }
        }
    }

    fn entry(&self, wanted: usize) -> Option<usize> {
        let mut entry = self.dynamic;
        // SAFETY: the dynamic section of a loaded object ends with a zero.
        unsafe {
            while (*entry)[0] != 0 {
                if (*entry)[0] == wanted {
                    return Some((*entry)[1]);
                }
                entry = entry.add(1);
            }
        }
        None
    }

    /// The same for an address. The loader has made it absolute, but for objects whose dynamic section it may not write to.
    fn place(&self, wanted: usize) -> Option<usize> {
        let address = self.entry(wanted).filter(|address| *address != 0)?;
        let absolute = if self.contains(address) { address } else { self.bias.wrapping_add(address) };
        self.contains(absolute).then_some(absolute)
    }

    /// Its references to functions that it does not define and whose name is wanted.
    pub fn references(&self, wanted: impl Fn(&CStr) -> bool) -> Vec<Reference<'_>> {
        let mut list = Vec::new();
        let (Some(symbols), Some(strings)) = (self.place(DT_SYMTAB), self.place(DT_STRTAB)) else {
            return list;
        };
        for (table, bytes, may_be_lazy) in [(DT_RELA, DT_RELASZ, false), (DT_JMPREL, DT_PLTRELSZ, true)] {
            let (Some(table), Some(bytes)) = (self.place(table), self.entry(bytes)) else { continue };
            // SAFETY: the object is loaded, and so are its tables, which the loader has used.
            let relocations = unsafe {
                let table = table as *const libc::Elf64_Rela;
                std::slice::from_raw_parts(table, bytes / size_of::<libc::Elf64_Rela>())
            };
            for relocation in relocations.iter().filter(|relocation| is_address_of_function(relocation)) {
                let index = (relocation.r_info >> 32) as usize;
                // SAFETY: as above.
                let (symbol, name) = unsafe {
                    let symbol = &*(symbols as *const libc::Elf64_Sym).add(index);
                    (symbol, CStr::from_ptr((strings as *const c_char).add(symbol.st_name as usize)))
                };
                if symbol.st_shndx == 0 && wanted(name) {
                    list.push(Reference {
                        module: self,
                        name,
                        version: self.version(index, strings),
                        slot: self.bias.wrapping_add(relocation.r_offset as usize) as *const AtomicUsize,
                        may_be_lazy,
                    });
                }
            }
        }
        list
    }

    /// The version of a symbol that it asks for.
    fn version(&self, symbol: usize, strings: usize) -> Option<&CStr> {
        /// Of one object that versions are needed of: how many there are, where the first is, and the next object.
        #[repr(C)]
        struct Needed {
            version: u16,
            count: u16,
            file: u32,
            first: u32,
            next: u32,
        }
        /// One such version: its number in this module, its name, and where the next one is.
        #[repr(C)]
        struct Version {
            hash: u32,
            flags: u16,
            number: u16,
            name: u32,
            next: u32,
        }
        const NUMBER: u16 = 0x7fff;
        let numbers = self.place(DT_VERSYM)? as *const u16;
        let mut needed = self.place(DT_VERNEED)? as *const Needed;
        // SAFETY: tables of a loaded object, which the loader has used.
        unsafe {
            let wanted = *numbers.add(symbol) & NUMBER;
            for _ in 0..self.entry(DT_VERNEEDNUM)? {
                let mut version = needed.byte_add((*needed).first as usize).cast::<Version>();
                for _ in 0..(*needed).count {
                    if (*version).number & NUMBER == wanted {
                        let name = (strings as *const c_char).add((*version).name as usize);
                        return Some(CStr::from_ptr(name));
                    }
                    version = version.byte_add((*version).next as usize);
                }
                needed = needed.byte_add((*needed).next as usize);
            }
        }
        None
    }
}

/// Whether a relocation puts the plain address of a function into memory.
fn is_address_of_function(relocation: &libc::Elf64_Rela) -> bool {
    const R_X86_64_64: u32 = 1;
    const R_X86_64_GLOB_DAT: u32 = 6;
    const R_X86_64_JUMP_SLOT: u32 = 7;
    match relocation.r_info as u32 {
        R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT => true,
        R_X86_64_64 => relocation.r_addend == 0,
        _ => false,
    }
}

impl Reference<'_> {
    /// What the slot holds.
    fn value(&self) -> usize {
        // SAFETY: a slot of a module that is held.
        unsafe { (*self.slot).load(Ordering::Relaxed) }
    }

    /// Where it leads, or will lead once it has been called; none if that cannot be found out, or nowhere.
    pub fn target(&self) -> Option<usize> {
        match self.value() {
            0 => None,
            // It still leads into its own module: to where the loader is asked.
            value if self.may_be_lazy && self.module.contains(value) => {
                lookup::from_module(&self.module.code, self.name, self.version)
            }
            value => Some(value),
        }
    }

    /// Leads it elsewhere; false if that was refused, or the slot lies in code.
    pub fn lead_to(&self, address: usize) -> bool {
        if !self.module.data.iter().any(|data| data.contains(&(self.slot as usize))) {
            return false;
        }
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let start = self.slot as usize & !(page - 1);
        // The loader protects whole pages only.
        let is_protected = self.module.read_only.as_ref().is_some_and(|range| {
            (range.start & !(page - 1)..range.end & !(page - 1)).contains(&(self.slot as usize))
        });
        let protect = |protection| {
            // SAFETY: a page of data of a module that is held.
            unsafe { libc::mprotect(start as *mut c_void, page, protection) == 0 }
        };
        if is_protected && !protect(libc::PROT_READ | libc::PROT_WRITE) {
            return false;
        }
        // SAFETY: a slot that the loader has written to, on a page that can be.
        unsafe { (*self.slot).store(address, Ordering::Release) };
        !is_protected || protect(libc::PROT_READ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Module {
        loaded().into_iter().next().and_then(ListedModule::hold).expect("the program itself")
    }

    fn by_default(name: &CStr) -> usize {
        super::super::symbol(libc::RTLD_DEFAULT, name).expect("a function that there is") as usize
    }

    #[test]
    fn references_lead_to_what_the_loader_finds() {
        let program = program();
        let references =
            program.references(|name| [c"getppid", c"malloc", c"dl_iterate_phdr"].contains(&name));
        assert!(!references.is_empty());
        for reference in references {
            assert_eq!(reference.target(), Some(by_default(reference.name)), "{:?}", reference.name);
        }
    }

    #[test]
    fn a_module_finds_what_it_would_be_bound_to() {
        let program = program();
        let found = lookup::from_module(&program.code, c"malloc", Some(c"GLIBC_2.2.5"));
        assert_eq!(found, Some(by_default(c"malloc")));
        assert_eq!(lookup::from_module(&program.code, c"nobody_defines_this", None), None);
    }

    #[test]
    fn a_reference_is_led_elsewhere_and_back() {
        const ANSWER: libc::pid_t = 42;
        extern "C" fn instead() -> libc::pid_t {
            ANSWER
        }
        // SAFETY: asks for a number.
        let ask = || unsafe { libc::getppid() };
        let (program, before) = (program(), ask());
        let references = program.references(|name| name == c"getppid");
        let targets: Vec<usize> = references.iter().filter_map(Reference::target).collect();
        assert_eq!(targets.len(), references.len());
        assert!(references.iter().all(|reference| reference.lead_to(instead as *const () as usize)));
        let meanwhile = std::hint::black_box(ask)();
        assert!(references.iter().zip(&targets).all(|(reference, target)| reference.lead_to(*target)));
        assert_eq!((meanwhile, ask()), (ANSWER, before));
    }

    #[test]
    fn a_module_defines_its_own_functions_alone() {
        let library = Module::holding(by_default(c"malloc")).expect("the C library");
        assert_eq!(library.definition(c"malloc"), Some(by_default(c"malloc")));
        assert_eq!(program().definition(c"malloc"), None);
    }
}

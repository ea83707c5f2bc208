//! A skeleton's bitcode, compiled in this process.
//!
//! Every MPI function that the program calls gets a body: it stores its arguments as words, in Fortran those they point to, and
//! calls [`kizami_entry::enter`]. A function that a skeleton may not call gets one that stops the rank. Names that are left are
//! looked for outside only if [`kizami_entry::outside`] lets them be called for real, also those that no declaration shows,
//! as in assembly. All data that the program may write lie in one stretch of memory, so that they can be put
//! back to what they were at the start by one copy.

use crate::ExecuteError;
use crate::skeleton::Skeleton;
use kizami_entry::outside::{self, Bound};
use kizami_entry::{Convention, Entry, Library, Object, c_library, files};
use kizami_model::function::{Passing, mpi_functions};
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::orc2::ee::LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks;
use llvm_sys::orc2::lljit::*;
use llvm_sys::orc2::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use llvm_sys::{LLVMLinkage, LLVMTypeKind};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::Once;

/// Where the program's code, constants and data are.
struct Region {
    base: usize,
    constants: usize,
    data: usize,
}

/// Code and constants come first, data behind them; all within the reach of a 32-bit displacement.
const CONSTANTS: usize = 512 << 20;
const DATA: usize = 1400 << 20;

impl Region {
    fn reserve() -> std::io::Result<Region> {
        // SAFETY: a new mapping, which touches nothing that exists.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                CONSTANTS + DATA,
                libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let base = base as usize;
        Ok(Region { base, constants: base, data: base + CONSTANTS })
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: what `reserve` mapped; no rank of the program runs any more.
        unsafe { libc::munmap(self.base as *mut c_void, CONSTANTS + DATA) };
    }
}

/// Gives out memory; 0 if there is none left.
fn take(next: &mut usize, end: usize, size: usize, alignment: u32) -> *mut u8 {
    let at = next.next_multiple_of(alignment.max(16) as usize);
    if at + size > end {
        return ptr::null_mut();
    }
    *next = at + size;
    at as *mut u8
}

extern "C" fn allocate_code(
    region: *mut c_void,
    size: usize,
    alignment: u32,
    _: u32,
    _: *const c_char,
) -> *mut u8 {
    // SAFETY: the region that was handed to the layer, which lives as long.
    let region = unsafe { &mut *region.cast::<Region>() };
    take(&mut region.constants, region.base + CONSTANTS, size, alignment)
}

extern "C" fn allocate_data(
    region: *mut c_void,
    size: usize,
    alignment: u32,
    section: u32,
    name: *const c_char,
    read_only: LLVMBool,
) -> *mut u8 {
    if read_only != 0 {
        return allocate_code(region, size, alignment, section, name);
    }
    // SAFETY: as above.
    let region = unsafe { &mut *region.cast::<Region>() };
    take(&mut region.data, region.base + CONSTANTS + DATA, size, alignment)
}

extern "C" fn finalize(_: *mut c_void, _: *mut *mut c_char) -> LLVMBool {
    0
}

extern "C" fn same_context(region: *mut c_void) -> *mut c_void {
    region
}

extern "C" fn nothing(_: *mut c_void) {}

extern "C" fn linking_layer(
    region: *mut c_void,
    session: LLVMOrcExecutionSessionRef,
    _: *const c_char,
) -> LLVMOrcObjectLayerRef {
    // SAFETY: callbacks as LLVM declares them, and a region that lives longer than the session.
    unsafe {
        LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
            session,
            region,
            same_context,
            nothing,
            allocate_code,
            allocate_data,
            finalize,
            Some(nothing),
        )
    }
}

/// A compiled program.
pub struct Program {
    jit: LLVMOrcLLJITRef,
    /// Its `main`.
    pub main: usize,
    /// What runs before it, or 0.
    pub constructors: usize,
    /// How its MPI spells things.
    pub convention: Convention,
    region: Box<Region>,
    snapshot: Vec<u8>,
    /// The program calls them by address.
    #[expect(clippy::vec_box, reason = "their addresses stand in the code, so they must not move")]
    _entries: Vec<Box<Entry>>,
    /// What `MPI_COMM_WORLD` is a variable for, in SMPI.
    _world: Box<u64>,
    /// Why calls are refused: the code has their addresses.
    _reasons: Vec<CString>,
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made by `LLVMOrcCreateLLJIT`; nobody runs its code any more.
        unsafe { LLVMOrcDisposeLLJIT(self.jit) };
    }
}

/// LLVM puts its targets into a list without a lock: two threads that did it at once would make a ring of it.
static LLVM_READY: Once = Once::new();

impl Program {
    /// Compiles a skeleton.
    pub fn compile(skeleton: &Skeleton) -> Result<Program, ExecuteError> {
        let failed = |what: String| ExecuteError::Compile { path: skeleton.bitcode.clone(), what };
        let memory = |why| ExecuteError::Memory { ranks: 1, why };
        let mut convention = Convention::new(skeleton.library).map_err(memory)?;
        let mut region = Box::new(Region::reserve().map_err(memory)?);
        // SAFETY: LLVM's C interface as it is documented: what is made here is handed on once, and kept in `Program`.
        unsafe {
            LLVM_READY.call_once(|| {
                LLVM_InitializeNativeTarget();
                LLVM_InitializeNativeAsmPrinter();
                LLVM_InitializeNativeAsmParser();
            });
            let context = LLVMOrcCreateNewThreadSafeContext();
            let module = parse(LLVMOrcThreadSafeContextGetContext(context), skeleton).map_err(failed)?;
            let refused = refused_functions(module);
            // Lines are in the manifest; functions that get a body must not keep those of their declaration.
            LLVMStripModuleDebugInfo(module);
            let mut entries = Vec::new();
            let fortran = give_bodies(module, &mut entries);
            convention.fortran = fortran;
            let reasons = refuse(module, refused);
            let constructors = gather_constructors(module);
            let jit = make_jit(&mut region).map_err(failed)?;
            let own = own_names(jit).map_err(failed)?;
            let mut world = Box::new(0);
            let main_name = if defined(module, c"main") { c"main" } else { c"_QQmain" };
            let sentinels: Vec<&CStr> =
                SENTINELS.iter().map(|(name, ..)| *name).filter(|name| has_global(module, name)).collect();
            define_symbols(jit, own, module, &convention, &mut world);
            let wrapped = LLVMOrcCreateNewThreadSafeModule(module, context);
            LLVMOrcDisposeThreadSafeContext(context);
            check(LLVMOrcLLJITAddLLVMIRModule(jit, own, wrapped)).map_err(failed)?;
            let main = lookup(jit, own, main_name).map_err(failed)?;
            let constructors =
                if constructors { lookup(jit, own, CONSTRUCTORS).map_err(failed)? } else { 0 };
            for name in sentinels {
                let address = lookup(jit, own, name).map_err(failed)?;
                adopt_sentinel(&mut convention, name, address);
            }
            let begin = region.base + CONSTANTS;
            let snapshot = std::slice::from_raw_parts(begin as *const u8, region.data - begin).to_vec();
            *world = convention.encode(Object::Comm, Some(0));
            Ok(Program {
                jit,
                main,
                constructors,
                convention,
                region,
                snapshot,
                _entries: entries,
                _world: world,
                _reasons: reasons,
            })
        }
    }

    /// Bytes of data that the program may write.
    pub fn data_bytes(&self) -> usize {
        self.snapshot.len()
    }

    /// Puts all data back to what they were at the start.
    pub fn restore(&self) {
        // SAFETY: the program's data, as long as the snapshot that was taken of them; nobody runs.
        unsafe { ptr::copy_nonoverlapping(self.snapshot.as_ptr(), self.data(), self.snapshot.len()) };
    }

    /// The data as they are now.
    pub fn save(&self, into: &mut Vec<u8>) {
        into.clear();
        // SAFETY: as above.
        into.extend_from_slice(unsafe { std::slice::from_raw_parts(self.data(), self.snapshot.len()) });
    }

    /// Puts saved data back; those of the start, if nothing was saved yet.
    pub fn load(&self, saved: &[u8]) {
        if saved.is_empty() {
            return self.restore();
        }
        // SAFETY: as above.
        unsafe { ptr::copy_nonoverlapping(saved.as_ptr(), self.data(), saved.len()) };
    }

    fn data(&self) -> *mut u8 {
        (self.region.base + CONSTANTS) as *mut u8
    }
}

const CONSTRUCTORS: &CStr = c"__kizami_constructors";

/// Variables of Fortran whose address means something: of which library, and what.
const SENTINELS: &[(&CStr, Library, Sentinel)] = &[
    (c"mpi_fortran_in_place_", Library::OpenMpi, Sentinel::InPlace(0)),
    (c"mpi_fortran_status_ignore_", Library::OpenMpi, Sentinel::NoStatus(1, 0)),
    (c"mpi_fortran_statuses_ignore_", Library::OpenMpi, Sentinel::NoStatus(2, 0)),
    (c"mpipriv1_", Library::Mpich, Sentinel::InPlaceAndNoStatus),
    (c"mpipriv2_", Library::Mpich, Sentinel::NoStatus(2, 0)),
];

#[derive(Clone, Copy)]
enum Sentinel {
    InPlace(usize),
    NoStatus(usize, usize),
    /// MPICH's common block: bottom, in place, no status.
    InPlaceAndNoStatus,
}

fn adopt_sentinel(convention: &mut Convention, name: &CStr, address: usize) {
    let known = SENTINELS.iter().find(|(known, library, _)| *known == name && *library == convention.library);
    match known.map(|(.., sentinel)| *sentinel) {
        Some(Sentinel::InPlace(offset)) => convention.in_place = address + offset,
        Some(Sentinel::NoStatus(place, offset)) => convention.status_ignore[place] = address + offset,
        Some(Sentinel::InPlaceAndNoStatus) => {
            convention.in_place = address + 4;
            convention.status_ignore[1] = address + 8;
        }
        None => {}
    }
}

unsafe fn parse(context: LLVMContextRef, skeleton: &Skeleton) -> Result<LLVMModuleRef, String> {
    let path = CString::new(skeleton.bitcode.to_string_lossy().as_bytes()).map_err(|why| why.to_string())?;
    let (mut buffer, mut module, mut message) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: places for what LLVM makes; its message is copied and freed.
    unsafe {
        if LLVMCreateMemoryBufferWithContentsOfFile(path.as_ptr(), &mut buffer, &mut message) != 0 {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeMessage(message);
            return Err(text);
        }
        if LLVMParseBitcodeInContext2(context, buffer, &mut module) != 0 {
            return Err("it is not bitcode of LLVM 19 or older".to_owned());
        }
    }
    Ok(module)
}

unsafe fn check(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: LLVM gives an error that is ours to take.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// What a lookup gives: an address, or what LLVM says.
type Lookup = Option<Result<usize, String>>;

extern "C" fn found(error: LLVMErrorRef, pairs: LLVMOrcCSymbolMapPairs, count: usize, place: *mut c_void) {
    // SAFETY: LLVM gives an error that is ours, or a list of as many names as were asked for; the place is that of `lookup`.
    unsafe {
        let address = || {
            if count == 1 {
                Ok((*pairs).Sym.Address as usize)
            } else {
                Err("a symbol has no address".to_owned())
            }
        };
        *place.cast::<Lookup>() = Some(check(error).and_then(|()| address()));
    }
}

unsafe fn lookup(jit: LLVMOrcLLJITRef, own: LLVMOrcJITDylibRef, name: &CStr) -> Result<usize, String> {
    let mut order = [LLVMOrcCJITDylibSearchOrderElement {
        JD: own,
        JDLookupFlags: LLVMOrcJITDylibLookupFlags::LLVMOrcJITDylibLookupFlagsMatchAllSymbols,
    }];
    let mut result: Lookup = None;
    // SAFETY: lists that LLVM copies, and a place that is written before the call returns: all is compiled on this thread.
    unsafe {
        let mut wanted = [LLVMOrcCLookupSetElement {
            Name: LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()),
            LookupFlags: LLVMOrcSymbolLookupFlags::LLVMOrcSymbolLookupFlagsRequiredSymbol,
        }];
        LLVMOrcExecutionSessionLookup(
            LLVMOrcLLJITGetExecutionSession(jit),
            LLVMOrcLookupKind::LLVMOrcLookupKindStatic,
            order.as_mut_ptr(),
            order.len(),
            wanted.as_mut_ptr(),
            wanted.len(),
            found,
            (&raw mut result).cast(),
        );
    }
    result.unwrap_or_else(|| Err("LLVM reports no address for a symbol".to_owned()))
}

unsafe fn make_jit(region: &mut Region) -> Result<LLVMOrcLLJITRef, String> {
    // SAFETY: as documented; the builder is taken by `LLVMOrcCreateLLJIT`.
    unsafe {
        let triple = LLVMGetDefaultTargetTriple();
        let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
        if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
            return Err(CStr::from_ptr(message).to_string_lossy().into_owned());
        }
        let (cpu, features) = (LLVMGetHostCPUName(), LLVMGetHostCPUFeatures());
        let machine = LLVMCreateTargetMachine(
            target,
            triple,
            cpu,
            features,
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            LLVMRelocMode::LLVMRelocPIC,
            LLVMCodeModel::LLVMCodeModelSmall,
        );
        let builder = LLVMOrcCreateLLJITBuilder();
        let machine = LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine);
        LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, machine);
        LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, linking_layer, ptr::from_mut(region).cast());
        let mut jit = ptr::null_mut();
        check(LLVMOrcCreateLLJIT(&mut jit, builder))?;
        Ok(jit)
    }
}

/// The names that the program finds: its own, and of those of this process the ones that may be called for real. LLVM's main
/// list would find all of them.
unsafe fn own_names(jit: LLVMOrcLLJITRef) -> Result<LLVMOrcJITDylibRef, String> {
    // SAFETY: as documented; the generator is taken by the list.
    unsafe {
        let own = LLVMOrcExecutionSessionCreateBareJITDylib(
            LLVMOrcLLJITGetExecutionSession(jit),
            c"skeleton".as_ptr(),
        );
        let mut generator = ptr::null_mut();
        let prefix = LLVMOrcLLJITGetGlobalPrefix(jit);
        check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
            &mut generator,
            prefix,
            Some(may_be_real),
            ptr::null_mut(),
        ))?;
        LLVMOrcJITDylibAddGenerator(own, generator);
        Ok(own)
    }
}

extern "C" fn may_be_real(_: *mut c_void, name: LLVMOrcSymbolStringPoolEntryRef) -> i32 {
    // SAFETY: LLVM gives a name that ends.
    let name = unsafe { CStr::from_ptr(LLVMOrcSymbolStringPoolEntryStr(name)) };
    i32::from(name.to_str().is_ok_and(|name| outside::bound(name) == Bound::Real))
}

/// Whether nothing of the module defines a value: it is declared, or its code stands there for inlining alone.
unsafe fn is_outside(value: LLVMValueRef) -> bool {
    // SAFETY: a global value of a module.
    unsafe {
        LLVMIsDeclaration(value) != 0 || LLVMGetLinkage(value) == LLVMLinkage::LLVMAvailableExternallyLinkage
    }
}

/// Functions outside the program that it may not call, and why, with the line where it first does.
unsafe fn refused_functions(module: LLVMModuleRef) -> Vec<(LLVMValueRef, String)> {
    let mut all = Vec::new();
    // SAFETY: walking through the functions of a module.
    unsafe {
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            let name = name_of(function);
            if LLVMIsDeclaration(function) != 0
                && mpi_function(&name).is_none()
                && !c_library::attribute_functions().iter().any(|(known, _)| *known == name)
                && let Some(why) = outside::refusal(&name)
            {
                all.push((function, why + &line_of_use(function)));
            }
            function = LLVMGetNextFunction(function);
        }
    }
    all
}

/// Where a function is used first, as ` (FILE:LINE)`; nothing if that is not known.
unsafe fn line_of_use(function: LLVMValueRef) -> String {
    // SAFETY: users of a function of a living module; LLVM gives as many bytes as it says.
    unsafe {
        let mut place = LLVMGetFirstUse(function);
        while !place.is_null() {
            let user = LLVMGetUser(place);
            let line = if LLVMIsAInstruction(user).is_null() { 0 } else { LLVMGetDebugLocLine(user) };
            if line != 0 {
                let mut length = 0;
                let file = LLVMGetDebugLocFilename(user, &mut length);
                let file = std::slice::from_raw_parts(file.cast::<u8>(), length as usize);
                return format!(" ({}:{line})", String::from_utf8_lossy(file));
            }
            place = LLVMGetNextUse(place);
        }
    }
    String::new()
}

/// Gives functions a body that stops the rank; what it says must live as long as the code.
unsafe fn refuse(module: LLVMModuleRef, functions: Vec<(LLVMValueRef, String)>) -> Vec<CString> {
    let mut reasons = Vec::new();
    // SAFETY: building instructions in the first block of a function that had none.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let (word, address) = (LLVMInt64TypeInContext(context), LLVMPointerTypeInContext(context, 0));
        let constant = |value: usize| LLVMConstIntToPtr(LLVMConstInt(word, value as u64, 0), address);
        for (function, why) in functions {
            // Who declares a function weak asks whether it is there: it is not.
            if LLVMGetLinkage(function) == LLVMLinkage::LLVMExternalWeakLinkage {
                LLVMReplaceAllUsesWith(function, LLVMConstNull(address));
                continue;
            }
            let reason = CString::new(why.replace('\0', "")).unwrap_or_default();
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, c"".as_ptr()));
            let mut kinds = [address];
            let kind = LLVMFunctionType(LLVMVoidTypeInContext(context), kinds.as_mut_ptr(), 1, 0);
            let mut arguments = [constant(reason.as_ptr() as usize)];
            let target = constant(c_library::refused as *const () as usize);
            LLVMBuildCall2(builder, kind, target, arguments.as_mut_ptr(), 1, c"".as_ptr());
            LLVMBuildUnreachable(builder);
            LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
            LLVMDisposeBuilder(builder);
            reasons.push(reason);
        }
    }
    reasons
}

unsafe fn defined(module: LLVMModuleRef, name: &CStr) -> bool {
    // SAFETY: a module, and a name that ends.
    unsafe {
        let function = LLVMGetNamedFunction(module, name.as_ptr());
        !function.is_null() && LLVMIsDeclaration(function) == 0
    }
}

unsafe fn has_global(module: LLVMModuleRef, name: &CStr) -> bool {
    // SAFETY: a module, and a name that ends.
    unsafe { !LLVMGetNamedGlobal(module, name.as_ptr()).is_null() }
}

/// Tells the linker where our own functions and MPI's objects are, as far as the program uses them and has none itself.
unsafe fn define_symbols(
    jit: LLVMOrcLLJITRef,
    own: LLVMOrcJITDylibRef,
    module: LLVMModuleRef,
    convention: &Convention,
    world: &mut Box<u64>,
) {
    let mut wanted: Vec<(String, u64)> = convention.symbols();
    let functions =
        c_library::replacements().into_iter().chain(files::replacements()).chain(c_library::own_functions());
    wanted.extend(functions.map(|(name, address)| (name.to_owned(), address as u64)));
    let of_attributes = c_library::attribute_functions();
    wanted.extend(of_attributes.into_iter().map(|(name, address)| (name, address as u64)));
    wanted.push(("__dso_handle".to_owned(), ptr::from_mut(world.as_mut()) as u64));
    wanted.push(("MPI_COMM_WORLD".to_owned(), ptr::from_mut(world.as_mut()) as u64));
    // Pointers whose value nobody looks at: they only must be the same each time.
    static WEIGHTS: [usize; 2] = [1, 2];
    wanted.push(("MPI_UNWEIGHTED".to_owned(), &raw const WEIGHTS[0] as u64));
    wanted.push(("MPI_WEIGHTS_EMPTY".to_owned(), &raw const WEIGHTS[1] as u64));
    // SAFETY: names that end, and a list that LLVM copies.
    unsafe {
        let mut pairs = Vec::new();
        for (name, address) in wanted {
            let Ok(text) = CString::new(name) else { continue };
            let function = LLVMGetNamedFunction(module, text.as_ptr());
            let global = LLVMGetNamedGlobal(module, text.as_ptr());
            let value = if function.is_null() { global } else { function };
            if value.is_null() || !is_outside(value) {
                continue;
            }
            let flags = LLVMJITSymbolFlags {
                GenericFlags: LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8,
                TargetFlags: 0,
            };
            pairs.push(LLVMOrcCSymbolMapPair {
                Name: LLVMOrcLLJITMangleAndIntern(jit, text.as_ptr()),
                Sym: LLVMJITEvaluatedSymbol { Address: address, Flags: flags },
            });
        }
        if !pairs.is_empty() {
            let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            LLVMOrcJITDylibDefine(own, unit);
        }
    }
}

unsafe fn name_of(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: a value of a module; its name is copied.
    unsafe {
        let name = LLVMGetValueName2(value, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), length)).into_owned()
    }
}

/// The full name of the MPI function with this symbol, and whether it is Fortran's.
fn mpi_function(symbol: &str) -> Option<(String, bool)> {
    if symbol.starts_with("MPI_") || symbol.starts_with("PMPI_") {
        return Some((symbol.to_owned(), false));
    }
    let plain = symbol.strip_suffix('_')?;
    let plain = plain.strip_prefix('p').filter(|rest| rest.starts_with("mpi_")).unwrap_or(plain);
    if !plain.starts_with("mpi_") {
        return None;
    }
    let known = mpi_functions().iter().find(|function| function.name.eq_ignore_ascii_case(plain));
    Some((known.map_or_else(|| format!("MPI_{}", &plain[4..]), |function| function.name.to_owned()), true))
}

/// Gives MPI's functions bodies; says whether the program is Fortran.
#[expect(clippy::vec_box, reason = "their addresses stand in the code, so they must not move")]
unsafe fn give_bodies(module: LLVMModuleRef, entries: &mut Vec<Box<Entry>>) -> bool {
    let mut any_fortran = false;
    // SAFETY: functions of the module are only added to, never removed.
    unsafe {
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            let next = LLVMGetNextFunction(function);
            if LLVMIsDeclaration(function) != 0
                && let Some((name, fortran)) = mpi_function(&name_of(function))
            {
                entries.push(Box::new(kizami_entry::entry(&name)));
                if let Some(entry) = entries.last() {
                    give_body(module, function, entry, fortran);
                }
                any_fortran |= fortran;
            }
            function = next;
        }
    }
    any_fortran
}

unsafe fn give_body(module: LLVMModuleRef, function: LLVMValueRef, entry: &Entry, fortran: bool) {
    // SAFETY: building instructions at the end of a new block of a function that had none.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let (word, int) = (LLVMInt64TypeInContext(context), LLVMInt32TypeInContext(context));
        let address = LLVMPointerTypeInContext(context, 0);
        let builder = LLVMCreateBuilderInContext(context);
        let block = LLVMAppendBasicBlockInContext(context, function, c"".as_ptr());
        LLVMPositionBuilderAtEnd(builder, block);
        let count = LLVMCountParams(function);
        let given: Vec<LLVMValueRef> = (0..count).map(|index| LLVMGetParam(function, index)).collect();
        let table = entry.op.function();
        let none = c"".as_ptr();
        let as_word = |value: LLVMValueRef| match LLVMGetTypeKind(LLVMTypeOf(value)) {
            LLVMTypeKind::LLVMPointerTypeKind => LLVMBuildPtrToInt(builder, value, word, none),
            LLVMTypeKind::LLVMIntegerTypeKind => LLVMBuildIntCast2(builder, value, word, 1, none),
            _ => LLVMConstInt(word, 0, 0),
        };
        let mut values = Vec::new();
        let mut error_place = None;
        if fortran {
            let wanted: &[_] = table.map_or(&[], |function| &function.arguments);
            // In Fortran there is no argument list to be handed on at the beginning.
            let left_out = if entry.name.starts_with("MPI_Init") && wanted.len() >= 2 { 2 } else { 0 };
            values.extend((0..left_out).map(|_| LLVMConstInt(word, 0, 0)));
            for (argument, place) in wanted[left_out.min(wanted.len())..].iter().zip(&given) {
                let loaded = match argument.passing {
                    Passing::Int | Passing::Handle => LLVMBuildLoad2(builder, int, *place, none),
                    Passing::Wide | Passing::FileHandle => LLVMBuildLoad2(builder, word, *place, none),
                    Passing::Pointer | Passing::Double | Passing::Variadic => *place,
                };
                values.push(as_word(loaded));
            }
            error_place = given.get(wanted.len() - left_out.min(wanted.len())).copied();
        } else {
            values.extend(given.iter().map(|value| as_word(*value)));
        }
        let list =
            LLVMBuildArrayAlloca(builder, word, LLVMConstInt(word, values.len().max(1) as u64, 0), none);
        for (index, value) in values.iter().enumerate() {
            let mut at = [LLVMConstInt(word, index as u64, 0)];
            let slot = LLVMBuildInBoundsGEP2(builder, word, list, at.as_mut_ptr(), 1, none);
            LLVMBuildStore(builder, *value, slot);
        }
        let mut kinds = [address, address];
        let kind = LLVMFunctionType(word, kinds.as_mut_ptr(), 2, 0);
        let constant = |value: usize| LLVMConstIntToPtr(LLVMConstInt(word, value as u64, 0), address);
        let mut arguments = [constant(ptr::from_ref(entry) as usize), list];
        let target = constant(kizami_entry::enter as *const () as usize);
        let result = LLVMBuildCall2(builder, kind, target, arguments.as_mut_ptr(), 2, none);
        if let Some(place) = error_place {
            LLVMBuildStore(builder, LLVMBuildIntCast2(builder, result, int, 1, none), place);
        }
        let returned = LLVMGetReturnType(LLVMGlobalGetValueType(function));
        match LLVMGetTypeKind(returned) {
            LLVMTypeKind::LLVMVoidTypeKind => LLVMBuildRetVoid(builder),
            LLVMTypeKind::LLVMIntegerTypeKind => {
                LLVMBuildRet(builder, LLVMBuildIntCast2(builder, result, returned, 1, none))
            }
            LLVMTypeKind::LLVMPointerTypeKind => {
                LLVMBuildRet(builder, LLVMBuildIntToPtr(builder, result, returned, none))
            }
            _ => LLVMBuildRet(builder, LLVMBuildBitCast(builder, result, returned, none)),
        };
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        LLVMDisposeBuilder(builder);
    }
}

/// Makes one function of what is to run before `main`; says whether there is anything.
unsafe fn gather_constructors(module: LLVMModuleRef) -> bool {
    // SAFETY: reading a constant of the module, and adding a function.
    unsafe {
        let list = LLVMGetNamedGlobal(module, c"llvm.global_ctors".as_ptr());
        if list.is_null() {
            return false;
        }
        let context = LLVMGetModuleContext(module);
        let kind = LLVMFunctionType(LLVMVoidTypeInContext(context), ptr::null_mut(), 0, 0);
        let all = LLVMAddFunction(module, CONSTRUCTORS.as_ptr(), kind);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, all, c"".as_ptr()));
        let entries = LLVMGetInitializer(list);
        let mut found: Vec<(u64, LLVMValueRef)> = Vec::new();
        for index in 0..LLVMGetNumOperands(entries) {
            let entry = LLVMGetOperand(entries, index as u32);
            let priority = LLVMConstIntGetZExtValue(LLVMGetOperand(entry, 0));
            found.push((priority, LLVMGetOperand(entry, 1)));
        }
        found.sort_by_key(|(priority, _)| *priority);
        for (_, function) in found {
            LLVMBuildCall2(builder, kind, function, ptr::null_mut(), 0, c"".as_ptr());
        }
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
        LLVMDeleteGlobal(list);
        true
    }
}

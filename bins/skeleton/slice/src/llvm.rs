//! LLVM's C interface, as far as slicing needs it, behind functions that can be called without care.
//!
//! A [`Module`] owns its context: nothing of LLVM outlives it, and values are handed out as [`Handle`]s that mean nothing
//! without their module. What LLVM reports as an error becomes an [`Error`] with LLVM's own words. Only this file and
//! those that build instructions ([`crate::cut`], [`crate::observe`], [`crate::trips`]) call LLVM to change something.

use crate::Error;
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use llvm_sys::core::*;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::transforms::pass_builder::*;
use std::ffi::{CStr, CString, c_char};
use std::path::Path;

/// A value of LLVM: an instruction, an argument, a constant, a function.
pub type Handle = LLVMValueRef;

/// A module of LLVM, with its context.
pub struct Module {
    context: LLVMContextRef,
    module: LLVMModuleRef,
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: both were made by this type, are owned by it alone and are not used afterwards.
        unsafe {
            LLVMDisposeModule(self.module);
            LLVMContextDispose(self.context);
        }
    }
}

impl Module {
    /// One module from several files of bitcode.
    pub fn link(files: &[impl AsRef<Path>]) -> Result<Module, Error> {
        // SAFETY: a context and an empty module of it, owned by the result.
        let whole = unsafe {
            let context = LLVMContextCreate();
            let module = LLVMModuleCreateWithNameInContext(c"skeleton".as_ptr(), context);
            Module { context, module }
        };
        for file in files {
            let file = file.as_ref();
            let part = whole.parse(file)?;
            // SAFETY: both modules are of the same context; the linker takes `part` over, whether it succeeds or not.
            if unsafe { LLVMLinkModules2(whole.module, part) } != 0 {
                let why = "two sources define the same symbol".to_owned();
                return Err(Error::Link { file: file.to_owned(), why });
            }
        }
        Ok(whole)
    }

    fn parse(&self, file: &Path) -> Result<LLVMModuleRef, Error> {
        let unreadable = |why: String| Error::Bitcode { file: file.to_owned(), why };
        let path =
            CString::new(file.as_os_str().as_encoded_bytes()).map_err(|e| unreadable(e.to_string()))?;
        let mut buffer = std::ptr::null_mut();
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: `path` ends with a zero; the buffer is disposed of below, the message by `taken`.
        unsafe {
            if LLVMCreateMemoryBufferWithContentsOfFile(path.as_ptr(), &mut buffer, &mut message) != 0 {
                return Err(unreadable(taken(message)));
            }
            let mut module = std::ptr::null_mut();
            let failed = LLVMParseBitcodeInContext2(self.context, buffer, &mut module) != 0;
            LLVMDisposeMemoryBuffer(buffer);
            if failed {
                return Err(unreadable("it is not LLVM 19 bitcode".to_owned()));
            }
            Ok(module)
        }
    }

    /// Runs passes, named as `opt -passes` does.
    pub fn run_passes(&self, passes: &str) -> Result<(), Error> {
        let text = CString::new(passes).expect("names of passes have no zeros");
        // SAFETY: the module lives; options and error are disposed of here.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPasses(self.module, text.as_ptr(), std::ptr::null_mut(), options);
            LLVMDisposePassBuilderOptions(options);
            if !error.is_null() {
                let message = LLVMGetErrorMessage(error);
                let why = CStr::from_ptr(message).to_string_lossy().into_owned();
                LLVMDisposeErrorMessage(message);
                return Err(Error::Passes { passes: passes.to_owned(), why });
            }
        }
        Ok(())
    }

    /// Writes the module as bitcode.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let path = CString::new(file.as_os_str().as_encoded_bytes()).expect("paths have no zeros");
        // SAFETY: the module lives and the path ends with a zero.
        if unsafe { LLVMWriteBitcodeToFile(self.module, path.as_ptr()) } != 0 {
            return Err(Error::Write { file: file.to_owned(), why: std::io::Error::last_os_error() });
        }
        Ok(())
    }

    /// Checks that the module is well formed; what LLVM says if not.
    pub fn verify(&self) -> Result<(), Error> {
        use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
        let mut message: *mut c_char = std::ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: the module lives; the message is taken over.
        let (failed, why) =
            unsafe { (LLVMVerifyModule(self.module, action, &mut message) != 0, taken(message)) };
        if failed { Err(Error::Malformed(why)) } else { Ok(()) }
    }

    /// All functions, declarations included.
    pub fn functions(&self) -> Vec<Handle> {
        // SAFETY: the list of a living module.
        unsafe { list(LLVMGetFirstFunction(self.module), |f| LLVMGetNextFunction(f)) }
    }

    /// All global variables.
    pub fn globals(&self) -> Vec<Handle> {
        // SAFETY: the list of a living module.
        unsafe { list(LLVMGetFirstGlobal(self.module), |g| LLVMGetNextGlobal(g)) }
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<Handle> {
        let text = CString::new(name).ok()?;
        // SAFETY: the module lives and the name ends with a zero.
        let found = unsafe { LLVMGetNamedFunction(self.module, text.as_ptr()) };
        (!found.is_null()).then_some(found)
    }

    /// How many instructions all functions have together.
    pub fn instruction_count(&self) -> u64 {
        let of_block = |block: &LLVMBasicBlockRef| instructions(*block).len() as u64;
        self.functions().iter().flat_map(|function| blocks(*function)).map(|block| of_block(&block)).sum()
    }

    /// LLVM's own reference, for those who build instructions.
    pub fn raw(&self) -> LLVMModuleRef {
        self.module
    }

    /// The context, for those who build instructions.
    pub fn context(&self) -> LLVMContextRef {
        self.context
    }
}

/// The blocks of a function.
pub fn blocks(function: Handle) -> Vec<LLVMBasicBlockRef> {
    // SAFETY: the list of a function of a living module.
    unsafe { list(LLVMGetFirstBasicBlock(function), |block| LLVMGetNextBasicBlock(block)) }
}

/// The instructions of a block.
pub fn instructions(block: LLVMBasicBlockRef) -> Vec<Handle> {
    // SAFETY: the list of a block of a living module.
    unsafe { list(LLVMGetFirstInstruction(block), |instruction| LLVMGetNextInstruction(instruction)) }
}

/// The name of a value; empty if it has none.
pub fn name(value: Handle) -> String {
    let mut length = 0;
    // SAFETY: the value is of a living module, and LLVM gives as many bytes as it says.
    unsafe {
        let text = LLVMGetValueName2(value, &mut length);
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Where in the source an instruction or a function is: file and line.
pub fn source(value: Handle) -> Option<(String, u32)> {
    let text = |ask: unsafe extern "C" fn(Handle, *mut u32) -> *const c_char| {
        let mut length = 0;
        // SAFETY: the value is an instruction or a function of a living module; LLVM gives as many bytes as it says.
        unsafe {
            let start = ask(value, &mut length);
            let given = !start.is_null() && length > 0;
            given.then(|| std::slice::from_raw_parts(start.cast::<u8>(), length as usize))
        }
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let file = text(LLVMGetDebugLocFilename)?;
    let path = match text(LLVMGetDebugLocDirectory) {
        Some(folder) => Path::new(&folder).join(file),
        None => file.into(),
    };
    // SAFETY: as above.
    Some((path.to_string_lossy().into_owned(), unsafe { LLVMGetDebugLocLine(value) }))
}

fn list<T>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> Vec<*mut T> {
    std::iter::successors((!first.is_null()).then_some(first), |at| {
        let following = next(*at);
        (!following.is_null()).then_some(following)
    })
    .collect()
}

/// LLVM's message as text, disposed of.
///
/// # Safety
/// The message is null or one that LLVM gave and nobody else disposes of.
unsafe fn taken(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: as above.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

//! References of modules to functions of GNU's runtime, and leading them to ours.
//!
//! A process may have several runtimes: wheels bring copies of libgomp along, and MKL its own. Which of them a module calls
//! is decided by the loader, module by module. So no name is exported; a reference is led to ours only where the loader has
//! bound it, or will bind it, to exactly the function that ours calls: the one of the first GNU runtime that a module
//! refers to. All other references, and what `dlsym` gives, stay as they are.

use crate::choice::{self, Way};
use crate::{gomp, ompt};
use kizami_records::Unrecorded;
use kizami_tracer_core::binding::Binder;
use kizami_tracer_core::loader::{self, Module, Reference};
use kizami_tracer_core::process;
use kizami_tracer_core::stream::lock;
use std::ffi::CStr;
use std::sync::Mutex;

/// Leads references to GNU's functions to ours.
pub struct References;

/// What every module calls that LLVM's compilers made parallel, and every runtime of LLVM and Intel defines.
const LLVM_FORK: &CStr = c"__kmpc_fork_call";
/// The same of GNU's.
const GNU_FORK: &CStr = c"GOMP_parallel";

/// What a module's references lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runtime {
    /// The GNU runtime that is recorded if it is the first to run something.
    Ours,
    /// Another one.
    OtherGnu,
    /// One that reports to a tool.
    Llvm,
    /// Something that is no runtime.
    Unknown,
}

/// Runtimes found so far, by file.
static FOUND: Mutex<Vec<(String, Runtime)>> = Mutex::new(Vec::new());

impl Binder for References {
    fn wants(&self, name: &CStr) -> bool {
        name == LLVM_FORK || gomp::hook(name).is_some()
    }

    fn bind(&self, module: &Module, references: &[Reference], _late: bool) {
        if [GNU_FORK, LLVM_FORK].into_iter().any(|name| module.definition(name).is_some()) {
            return;
        }
        for reference in references {
            let Some(target) = reference.target() else { continue };
            let runtime = runtime_at(target);
            if runtime == Runtime::Ours
                && let Some(hook) = gomp::hook(reference.name)
                && hook.real.address() as usize == target
                && !reference.lead_to(hook.stub as usize)
            {
                process::note_unrecorded(Unrecorded::OpenMp, module.file());
            }
        }
    }
}

/// The runtime that holds an address.
fn runtime_at(target: usize) -> Runtime {
    let Some(file) = loader::file_of(target).map(|file| file.to_string_lossy().into_owned()) else {
        return Runtime::Unknown;
    };
    let mut found = lock(&FOUND);
    if let Some((_, runtime)) = found.iter().find(|(known, _)| *known == file) {
        return *runtime;
    }
    let has_ours = found.iter().any(|(_, runtime)| *runtime == Runtime::Ours);
    let runtime = Module::holding(target).map_or(Runtime::Unknown, |module| classify(&module, has_ours));
    found.push((file, runtime));
    runtime
}

fn classify(module: &Module, has_ours: bool) -> Runtime {
    if module.definition(LLVM_FORK).is_some() {
        ompt::found(module);
        Runtime::Llvm
    } else if module.definition(GNU_FORK).is_none() {
        Runtime::Unknown
    } else if has_ours {
        process::note_unrecorded(Unrecorded::OtherRuntime, module.file());
        Runtime::OtherGnu
    } else {
        // Its addresses are remembered.
        module.keep();
        gomp::reals().for_each(|real| real.set(module.definition(real.name).unwrap_or(0)));
        choice::offer(Way::Functions, module.file());
        Runtime::Ours
    }
}

//! Redirects MPI symbol references that bypass the tracer to its wrappers.
//!
//! A module bypasses the wrappers if it was bound while they were hidden (it brings MPI along, as Python packages do),
//! or if it searches its own libraries first (`RTLD_DEEPBIND`). MPI itself and its components are left alone.
//!
//! A reference is redirected if it leads to exactly the function that the wrapper would call. Every other reference
//! stays as it is. Reported as not recorded: references into another MPI, references that cannot be changed, and calls
//! before a late redirection.

use crate::binding::Binder;
use crate::loader::{self, Module, Reference};
use crate::{exports, process, real, wrappers};
use kizami_model::Op;
use kizami_records::Unrecorded;
use std::ffi::CStr;
use std::sync::Mutex;

/// Leads references to MPI functions to ours.
pub struct References;

impl Binder for References {
    fn looks_at(&self, path: &CStr) -> bool {
        !is_component(path)
    }

    fn wants(&self, name: &CStr) -> bool {
        is_mpi(name)
    }

    fn bind(&self, module: &Module, references: &[Reference], late: bool) {
        if !exports::are_shown() || module.definition(c"PMPI_Init").is_some() {
            return;
        }
        let (mut led, mut refused, mut elsewhere) = (false, false, false);
        for reference in references {
            let Some(target) = reference.target() else { continue };
            match ours_instead_of(reference.name, target) {
                Some(ours) if reference.lead_to(ours) => led = true,
                Some(_) => refused = true,
                None => elsewhere = elsewhere || is_in_other_mpi(target),
            }
        }
        let reasons = [
            (led && late, Unrecorded::MpiBefore),
            (refused, Unrecorded::Mpi),
            (elsewhere, Unrecorded::OtherMpi),
        ];
        for (_, reason) in reasons.into_iter().filter(|(applies, _)| *applies) {
            say_once(reason, module);
        }
    }
}

fn say_once(reason: Unrecorded, module: &Module) {
    static SAID: Mutex<Vec<(Unrecorded, String)>> = Mutex::new(Vec::new());
    let mut said = crate::stream::lock(&SAID);
    let file = module.file();
    if !said.iter().any(|(known, name)| *known == reason && *name == file) {
        said.push((reason, file.clone()));
        process::note_unrecorded(reason, file);
    }
}

/// Whether a name is that of an MPI function.
pub fn is_mpi(name: &CStr) -> bool {
    let name = name.to_bytes();
    name.starts_with(b"MPI_") || name.starts_with(b"PMPI_")
}

/// Our function of this name, if it would go on to `target`.
pub fn ours_instead_of(name: &CStr, target: usize) -> Option<usize> {
    if target == 0 || real::symbol(name)? as usize != target {
        return None;
    }
    let text = name.to_str().ok()?;
    let (plain, column) = text.strip_prefix('P').map_or((text, 0), |plain| (plain, 1));
    let row = usize::from(Op::by_name(plain)?.0).checked_sub(1)?;
    Some(wrappers::STUBS.get(row)?[column] as usize)
}

/// Whether a module is a component of MPI, whose calls are no calls of the program. Its language bindings are not: they call
/// MPI on behalf of the program.
fn is_component(path: &CStr) -> bool {
    const COMPONENTS: [&[u8]; 3] = [b"mca_", b"libmca_", b"libopen-"];
    COMPONENTS.iter().any(|start| loader::file_name(path).starts_with(start))
}

/// Whether an address lies in an MPI library that is not the one behind us.
fn is_in_other_mpi(target: usize) -> bool {
    let file = loader::file_of(target);
    if file == loader::file_of(is_in_other_mpi as *const () as usize) {
        return false;
    }
    let defined = Module::holding(target).and_then(|module| module.definition(c"PMPI_Init"));
    defined.is_some() && defined != real::symbol(c"PMPI_Init").map(|ours| ours as usize)
}

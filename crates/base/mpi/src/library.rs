//! The loaded library.

use crate::MpiError;
use crate::communicator::Comm;
use crate::constants::{Constants, Convention};
use crate::find::{Family, candidates};
use crate::functions::Functions;
use libloading::os::unix::Library;
use std::ffi::{c_char, c_int};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::null_mut;

/// As long as the longest text any library writes (MPICH's version: 8192).
const TEXT_BYTES: usize = 8192;

/// An MPI library. It is used by one thread, the one that loads it.
#[derive(Debug)]
pub struct Mpi {
    pub(crate) functions: Functions,
    pub(crate) constants: Constants,
    path: String,
    /// Never closed: MPI leaves threads and handlers behind, even after it was finalized.
    _library: ManuallyDrop<Library>,
    _one_thread: PhantomData<*const ()>,
}

/// Turns what a function returned into a result.
#[inline]
pub(crate) fn check(name: &'static str, code: c_int) -> Result<(), MpiError> {
    if code == 0 { Ok(()) } else { Err(MpiError::Failed { name, code }) }
}

impl Mpi {
    /// Finds the library of the launcher of this process and loads it. `KIZAMI_MPI_LIBRARY` overrules all else.
    pub fn load() -> Result<Mpi, MpiError> {
        let candidates = candidates();
        let mut tried = Vec::new();
        for name in candidates.names {
            match open(&name, candidates.family) {
                Ok(mpi) => return Ok(mpi),
                Err(reason) => tried.push(format!("{name}: {reason}")),
            }
        }
        Err(MpiError::NotFound { tried: tried.join("; ") })
    }

    /// By which path or name it was loaded.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Starts MPI, and gives the communicator of all ranks.
    pub fn init(&self) -> Result<Comm, MpiError> {
        let init = &self.functions.init;
        // SAFETY: MPI allows that a program does not hand its arguments on.
        check(init.name, unsafe { init.get()?(null_mut(), null_mut()) })?;
        self.describe(self.constants.world)
    }

    /// The same in a process that has other threads, which do not call MPI.
    pub fn init_beside_threads(&self) -> Result<Comm, MpiError> {
        let (init, mut provided) = (&self.functions.init_thread, 0);
        let needed = self.constants.thread_funneled;
        // SAFETY: as in `init`, and there is a place for the answer. A library that provides less is still called by
        // one thread only.
        check(init.name, unsafe { init.get()?(null_mut(), null_mut(), needed, &mut provided) })?;
        self.describe(self.constants.world)
    }

    /// Ends MPI. Nothing may be called afterwards.
    pub fn finalize(&self) -> Result<(), MpiError> {
        let finalize = &self.functions.finalize;
        // SAFETY: no arguments.
        check(finalize.name, unsafe { finalize.get()?() })
    }

    /// Ends all ranks at once, for errors that only one of them knows.
    pub fn abort(&self, code: i32) -> ! {
        if let Ok(abort) = self.functions.abort.get() {
            // SAFETY: the world is always there.
            unsafe { abort(self.constants.world, code) };
        }
        std::process::exit(code)
    }

    /// What the library says about itself, often several lines.
    pub fn library_version(&self) -> Result<String, MpiError> {
        let function = &self.functions.get_library_version;
        let get = function.get()?;
        // SAFETY: `text` has room for the longest one.
        text(|place, length| check(function.name, unsafe { get(place, length) }))
    }

    /// The name of the host of this rank.
    pub fn processor_name(&self) -> Result<String, MpiError> {
        let function = &self.functions.get_processor_name;
        let get = function.get()?;
        // SAFETY: `text` has room for the longest one.
        text(|place, length| check(function.name, unsafe { get(place, length) }))
    }
}

/// Has a text written, and takes it out.
fn text(write: impl FnOnce(*mut c_char, *mut c_int) -> Result<(), MpiError>) -> Result<String, MpiError> {
    let mut bytes = vec![0u8; TEXT_BYTES];
    let mut length: c_int = 0;
    write(bytes.as_mut_ptr().cast(), &mut length)?;
    bytes.truncate(usize::try_from(length).unwrap_or(0));
    // Some count the final zero.
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches('\0').to_owned())
}

/// Opens one library, if it is MPI of the family that is looked for.
fn open(name: &str, family: Option<Family>) -> Result<Mpi, String> {
    // Open MPI's plugins look for its functions among all that are open, hence GLOBAL.
    // SAFETY: an MPI library does nothing of note when it is opened; all work is in MPI_Init.
    let library = unsafe { Library::open(Some(name), libc::RTLD_NOW | libc::RTLD_GLOBAL) }
        .map_err(|error| error.to_string())?;
    let variable = |name: &str| {
        // SAFETY: only the address is taken, whatever stands there.
        let symbol = unsafe { library.get::<*const u8>(name) };
        symbol.ok().map(|found| found.as_raw_ptr() as usize).filter(|address| *address != 0)
    };
    if variable("MPI_Init").is_none() {
        return Err("it has no MPI_Init".to_owned());
    }
    if variable("smpi_execute").is_some() {
        return Err("it is SimGrid's simulator, which cannot be loaded".to_owned());
    }
    let convention = if is_standard(name) {
        Convention::Standard
    } else if variable("ompi_mpi_comm_world").is_some() {
        Convention::OpenMpi
    } else {
        Convention::Mpich
    };
    match (convention, family) {
        (Convention::OpenMpi, Some(Family::Mpich)) => {
            return Err("it is Open MPI, the launcher is not".to_owned());
        }
        (Convention::Mpich, Some(Family::OpenMpi)) => {
            return Err("it is not Open MPI, the launcher is".to_owned());
        }
        _ => {}
    }
    let constants = Constants::of(convention, variable).ok_or("variables of Open MPI are missing in it")?;
    // SAFETY: it has MPI_Init, and is none of those whose functions have other arguments.
    let functions = unsafe { Functions::of(&library) };
    Ok(Mpi {
        functions,
        constants,
        path: name.to_owned(),
        _library: ManuallyDrop::new(library),
        _one_thread: PhantomData,
    })
}

/// Libraries with the standard ABI are recognised by their name, which the standard fixes. Links are followed, since users
/// give them other names.
fn is_standard(name: &str) -> bool {
    let real = Path::new(name).canonicalize().unwrap_or_else(|_| name.into());
    [real.as_path(), Path::new(name)]
        .iter()
        .any(|path| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with("libmpi_abi")))
}

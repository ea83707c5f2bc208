//! The launcher's MPI, found and loaded at run time.
//!
//! One executable runs under any launcher: [`Mpi::load`] looks for the library that belongs to the launcher that
//! started this process, and calls it by the convention that library follows (Open MPI's, MPICH's, or the standard
//! ABI of MPI 5). Nothing is needed when Kizami is built.
//!
//! - [`Mpi`]: the library, and communicators by it;
//! - [`Collective`]: the collectives with their buffers, called as they are or started, overlapped and awaited;
//! - [`Outgoing`] and [`Incoming`]: messages under way at once;
//! - [`Window`]: memory that other ranks write and read.
//!
//! It promises that buffers outlive what is done with them, that they are as long as the call needs, and that no
//! empty buffer is taken for `MPI_IN_PLACE`. It does not ask what MPI says in a status, has one datatype for data
//! that is only moved (bytes), and leaves errors inside MPI to MPI, which ends the run. SimGrid's simulator cannot be
//! loaded this way.

mod calls;
mod collective;
mod communicator;
mod constants;
mod error;
mod find;
mod functions;
mod handles;
mod library;
mod message;
mod window;

pub use collective::{Collective, Counts, Element, Types};
pub use communicator::Comm;
pub use error::MpiError;
pub use find::LIBRARY_VARIABLE;
pub use library::Mpi;
pub use message::{Incoming, Outgoing, Requests};
pub use window::Window;

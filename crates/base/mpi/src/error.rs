//! What can go wrong, and what to do then.

/// Why MPI could not be loaded or called.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    /// None of the places had a library.
    #[error(
        "no MPI library was found: set KIZAMI_MPI_LIBRARY to the path of libmpi.so, or start this under mpirun \
         (tried {tried})"
    )]
    NotFound {
        /// What was tried, with the reason each was not taken.
        tried: String,
    },
    /// The library does not have a function.
    #[error("{name} is not in this MPI library: use a newer MPI, or do without this function")]
    Missing {
        /// The function.
        name: &'static str,
    },
    /// A function said that it failed.
    #[error("{name} failed with code {code}: see what MPI wrote above")]
    Failed {
        /// The function.
        name: &'static str,
        /// What it returned.
        code: i32,
    },
    /// The library has a function, but not what it needs here. All ranks get this error.
    #[error(
        "{name} is refused by this MPI library (code {code}): it may need more ranks, or another component of MPI"
    )]
    Refused {
        /// The function.
        name: &'static str,
        /// What it returned.
        code: i32,
    },
    /// A buffer is shorter than the call would use, or is not aligned for its elements.
    #[error(
        "a buffer of {name} does not fit the call: it must be as long as all parts, and aligned to its elements"
    )]
    Buffer {
        /// The function.
        name: &'static str,
    },
    /// MPI counts by 32-bit numbers.
    #[error("{bytes} bytes are too many for one call of MPI: use at most 2 GiB")]
    TooLarge {
        /// The size asked for.
        bytes: usize,
    },
}

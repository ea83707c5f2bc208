//! Connections of browsers, on a machine where others may connect as well.
//!
//! Whoever can reach a port can open connections and say nothing, or one letter a second. Each takes a descriptor, of which
//! a process has only so many. So a connection is a *stranger's* until somebody [trusts](Caller::trust) it; of strangers
//! the oldest is let go when there are too many, and everyone who stays too long without being trusted.
//!
//! It knows nothing of tokens or pages.

mod gate;
mod owner;
mod seats;

pub use gate::{Caller, Gate};

use std::io;

/// Lets this process have as many descriptors as it may; gives how many those are.
pub(crate) fn raise_descriptors() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a place for the answer.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let wanted = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: a limit that is no larger than what is allowed.
    let raised = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &wanted) } == 0;
    Ok(if raised { wanted.rlim_cur } else { limit.rlim_cur })
}

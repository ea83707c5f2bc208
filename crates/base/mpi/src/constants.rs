//! What differs between MPI libraries: the values of handles and constants.
//!
//! Three conventions cover all libraries that can be loaded: Open MPI (handles are addresses of its own variables),
//! MPICH and its relatives (handles are 32-bit integers), and the standard ABI of MPI 5.

use crate::handles::Handle;
use std::ffi::c_int;

/// Which convention a library follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Convention {
    OpenMpi,
    Mpich,
    Standard,
}

/// The constants of one convention, as far as they are used here.
#[derive(Debug)]
pub(crate) struct Constants {
    pub handle_bytes: usize,
    pub world: Handle,
    pub byte: Handle,
    pub int: Handle,
    pub double: Handle,
    pub sum: Handle,
    pub max: Handle,
    pub info_null: Handle,
    pub request_null: Handle,
    pub errors_are_fatal: Handle,
    pub errors_return: Handle,
    pub status_ignore: usize,
    pub thread_funneled: c_int,
}

impl Constants {
    /// Those of a convention. `variable` gives the address of a variable of the library, which is all that is asked
    /// of it, so one that is missing shows as `None` here.
    pub(crate) fn of(convention: Convention, variable: impl Fn(&str) -> Option<usize>) -> Option<Constants> {
        Some(match convention {
            Convention::OpenMpi => Constants {
                handle_bytes: 8,
                world: variable("ompi_mpi_comm_world")?,
                byte: variable("ompi_mpi_byte")?,
                int: variable("ompi_mpi_int")?,
                double: variable("ompi_mpi_double")?,
                sum: variable("ompi_mpi_op_sum")?,
                max: variable("ompi_mpi_op_max")?,
                info_null: variable("ompi_mpi_info_null")?,
                request_null: variable("ompi_request_null")?,
                errors_are_fatal: variable("ompi_mpi_errors_are_fatal")?,
                errors_return: variable("ompi_mpi_errors_return")?,
                status_ignore: 0,
                thread_funneled: 1,
            },
            Convention::Mpich => Constants {
                handle_bytes: 4,
                world: 0x4400_0000,
                byte: 0x4c00_010d,
                int: 0x4c00_0405,
                double: 0x4c00_080b,
                sum: 0x5800_0003,
                max: 0x5800_0001,
                info_null: 0x1c00_0000,
                request_null: 0x2c00_0000,
                errors_are_fatal: 0x5400_0000,
                errors_return: 0x5400_0001,
                status_ignore: 1,
                thread_funneled: 1,
            },
            Convention::Standard => Constants {
                handle_bytes: 8,
                world: 0x101,
                byte: 0x247,
                int: 0x209,
                double: 0x214,
                sum: 0x21,
                max: 0x23,
                info_null: 0x130,
                request_null: 0x180,
                errors_are_fatal: 0x141,
                errors_return: 0x143,
                status_ignore: 0,
                thread_funneled: 1024,
            },
        })
    }
}

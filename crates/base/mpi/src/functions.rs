//! The functions of MPI that are called, with their arguments, found once when the library is loaded.
//!
//! A function that the library lacks is no error until it is called.

use crate::MpiError;
use crate::handles::Handle;
use std::ffi::{c_char, c_int, c_void};

/// One function, if the library has it.
#[derive(Debug)]
pub(crate) struct Function<F> {
    pub name: &'static str,
    address: Option<F>,
}

impl<F: Copy> Function<F> {
    #[inline]
    pub(crate) fn get(&self) -> Result<F, MpiError> {
        self.address.ok_or(MpiError::Missing { name: self.name })
    }
}

/// Declares the table. A line with two names is a collective and its non-blocking form, which has the same arguments
/// and then the place of a request.
macro_rules! functions {
    (
        collectives { $($blocking:ident $blocking_name:literal, $started:ident $started_name:literal: ($($part:ty),*);)* }
        others { $($other:ident $other_name:literal: ($($argument:ty),*);)* }
    ) => {
        /// All of them.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(
                pub $blocking: Function<unsafe extern "C" fn($($part),*) -> c_int>,
                pub $started: Function<unsafe extern "C" fn($($part,)* *mut Handle) -> c_int>,
            )*
            $(pub $other: Function<unsafe extern "C" fn($($argument),*) -> c_int>,)*
        }

        impl Functions {
            /// Looks all of them up.
            ///
            /// # Safety
            /// The library must be an MPI library, so that functions of these names have these arguments.
            pub(crate) unsafe fn of(library: &libloading::os::unix::Library) -> Functions {
                Functions {
                    $(
                        // SAFETY: by contract, as the MPI standard has them.
                        $blocking: unsafe { find(library, $blocking_name) },
                        // SAFETY: as above.
                        $started: unsafe { find(library, $started_name) },
                    )*
                    // SAFETY: as above.
                    $($other: unsafe { find(library, $other_name) },)*
                }
            }
        }
    };
}

/// # Safety
/// What the library has by this name must be a function of type `F`.
unsafe fn find<F: Copy>(library: &libloading::os::unix::Library, name: &'static str) -> Function<F> {
    // SAFETY: by contract.
    let symbol = unsafe { library.get::<F>(name) };
    Function { name, address: symbol.ok().map(|found| *found) }
}

type Data = *const c_void;
type Space = *mut c_void;
type Ints = *const c_int;

functions! {
    collectives {
        barrier "MPI_Barrier", ibarrier "MPI_Ibarrier": (Handle);
        bcast "MPI_Bcast", ibcast "MPI_Ibcast": (Space, c_int, Handle, c_int, Handle);
        reduce "MPI_Reduce", ireduce "MPI_Ireduce": (Data, Space, c_int, Handle, Handle, c_int, Handle);
        allreduce "MPI_Allreduce", iallreduce "MPI_Iallreduce": (Data, Space, c_int, Handle, Handle, Handle);
        reduce_scatter "MPI_Reduce_scatter", ireduce_scatter "MPI_Ireduce_scatter":
            (Data, Space, Ints, Handle, Handle, Handle);
        reduce_scatter_block "MPI_Reduce_scatter_block", ireduce_scatter_block "MPI_Ireduce_scatter_block":
            (Data, Space, c_int, Handle, Handle, Handle);
        scan "MPI_Scan", iscan "MPI_Iscan": (Data, Space, c_int, Handle, Handle, Handle);
        exscan "MPI_Exscan", iexscan "MPI_Iexscan": (Data, Space, c_int, Handle, Handle, Handle);
        gather "MPI_Gather", igather "MPI_Igather": (Data, c_int, Handle, Space, c_int, Handle, c_int, Handle);
        gatherv "MPI_Gatherv", igatherv "MPI_Igatherv":
            (Data, c_int, Handle, Space, Ints, Ints, Handle, c_int, Handle);
        scatter "MPI_Scatter", iscatter "MPI_Iscatter": (Data, c_int, Handle, Space, c_int, Handle, c_int, Handle);
        scatterv "MPI_Scatterv", iscatterv "MPI_Iscatterv":
            (Data, Ints, Ints, Handle, Space, c_int, Handle, c_int, Handle);
        allgather "MPI_Allgather", iallgather "MPI_Iallgather": (Data, c_int, Handle, Space, c_int, Handle, Handle);
        allgatherv "MPI_Allgatherv", iallgatherv "MPI_Iallgatherv":
            (Data, c_int, Handle, Space, Ints, Ints, Handle, Handle);
        alltoall "MPI_Alltoall", ialltoall "MPI_Ialltoall": (Data, c_int, Handle, Space, c_int, Handle, Handle);
        alltoallv "MPI_Alltoallv", ialltoallv "MPI_Ialltoallv":
            (Data, Ints, Ints, Handle, Space, Ints, Ints, Handle, Handle);
        alltoallw "MPI_Alltoallw", ialltoallw "MPI_Ialltoallw":
            (Data, Ints, Ints, *const Handle, Space, Ints, Ints, *const Handle, Handle);
        neighbor_allgather "MPI_Neighbor_allgather", ineighbor_allgather "MPI_Ineighbor_allgather":
            (Data, c_int, Handle, Space, c_int, Handle, Handle);
        neighbor_alltoall "MPI_Neighbor_alltoall", ineighbor_alltoall "MPI_Ineighbor_alltoall":
            (Data, c_int, Handle, Space, c_int, Handle, Handle);
    }
    others {
        init "MPI_Init": (*mut c_int, *mut c_void);
        init_thread "MPI_Init_thread": (*mut c_int, *mut c_void, c_int, *mut c_int);
        finalize "MPI_Finalize": ();
        abort "MPI_Abort": (Handle, c_int);
        get_library_version "MPI_Get_library_version": (*mut c_char, *mut c_int);
        get_processor_name "MPI_Get_processor_name": (*mut c_char, *mut c_int);
        comm_rank "MPI_Comm_rank": (Handle, *mut c_int);
        comm_size "MPI_Comm_size": (Handle, *mut c_int);
        comm_dup "MPI_Comm_dup": (Handle, *mut Handle);
        comm_free "MPI_Comm_free": (*mut Handle);
        comm_set_errhandler "MPI_Comm_set_errhandler": (Handle, Handle);
        cart_create "MPI_Cart_create": (Handle, c_int, Ints, Ints, c_int, *mut Handle);
        send "MPI_Send": (Data, c_int, Handle, c_int, c_int, Handle);
        recv "MPI_Recv": (Space, c_int, Handle, c_int, c_int, Handle, usize);
        sendrecv "MPI_Sendrecv":
            (Data, c_int, Handle, c_int, c_int, Space, c_int, Handle, c_int, c_int, Handle, usize);
        isend "MPI_Isend": (Data, c_int, Handle, c_int, c_int, Handle, *mut Handle);
        irecv "MPI_Irecv": (Space, c_int, Handle, c_int, c_int, Handle, *mut Handle);
        wait "MPI_Wait": (*mut Handle, usize);
        waitall "MPI_Waitall": (c_int, *mut Handle, usize);
        win_create "MPI_Win_create": (Space, isize, c_int, Handle, Handle, *mut Handle);
        win_free "MPI_Win_free": (*mut Handle);
        win_fence "MPI_Win_fence": (c_int, Handle);
        put "MPI_Put": (Data, c_int, Handle, c_int, isize, c_int, Handle, Handle);
        get "MPI_Get": (Space, c_int, Handle, c_int, isize, c_int, Handle, Handle);
    }
}

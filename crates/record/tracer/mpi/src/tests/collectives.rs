//! Collectives: what a rank gives and obtains, in the world of four ranks in which it is rank 1.

use super::library::{DOUBLE, store_handle};
use super::{Mpi, Recorded, as_posted, call, completion, handles, numbers, scripts, statuses};
use crate::abi::{self, Kind};
use kizami_records::CallRecord;

fn gives_and_obtains(name: &str, bytes_out: u64, bytes_in: u64) -> Recorded {
    call(name, |r| (r.comm, r.bytes_out, r.bytes_in) = (0, bytes_out, bytes_in))
}

fn rooted(root: i32, bytes_out: u64, bytes_in: u64) -> impl FnOnce(&mut CallRecord) {
    move |r| (r.comm, r.peer, r.bytes_out, r.bytes_in) = (0, root, bytes_out, bytes_in)
}

scripts! {
    who_is_the_root_decides_what_is_looked_at: |mpi: &Mpi| {
        let world = mpi.world();
        mpi.call("MPI_Bcast", &[0, 2, DOUBLE, 1, world], |_| 0);
        mpi.call("MPI_Bcast", &[0, 2, DOUBLE, 3, world], |_| 0);
        mpi.call("MPI_Reduce", &[0, 0, 2, DOUBLE, 0, 1, world], |_| 0);
        mpi.call("MPI_Gather", &[0, 2, DOUBLE, 0, 2, DOUBLE, 1, world], |_| 0);
        // What only the root is to give is no datatype here.
        mpi.call("MPI_Gather", &[0, 2, DOUBLE, 0, 0, 0, 3, world], |_| 0);
        let counts = numbers(&[1, 2, 3, 4]);
        let counts = counts.address();
        mpi.call("MPI_Scatterv", &[0, counts, 0, DOUBLE, 0, 2, DOUBLE, 1, world], |_| 0);
    } => [
        call("MPI_Bcast", rooted(1, 16, 0)),
        call("MPI_Bcast", rooted(3, 0, 16)),
        call("MPI_Reduce", rooted(1, 16, 16)),
        call("MPI_Gather", rooted(1, 16, 64)),
        call("MPI_Gather", rooted(3, 16, 0)),
        call("MPI_Scatterv", rooted(1, 80, 16)),
    ];

    in_place_means_that_the_other_buffer_holds_it: |mpi: &Mpi| {
        let (world, in_place) = (mpi.world(), abi::get().in_place);
        mpi.call("MPI_Allgather", &[in_place, 0, 0, 0, 2, DOUBLE, world], |_| 0);
        mpi.call("MPI_Alltoall", &[in_place, 0, 0, 0, 2, DOUBLE, world], |_| 0);
        mpi.call("MPI_Gather", &[in_place, 0, 0, 0, 2, DOUBLE, 1, world], |_| 0);
        mpi.call("MPI_Scatter", &[0, 2, DOUBLE, in_place, 0, 0, 1, world], |_| 0);
        let counts = numbers(&[1, 2, 3, 4]);
        let counts = counts.address();
        mpi.call("MPI_Allgatherv", &[in_place, 0, 0, 0, counts, 0, DOUBLE, world], |_| 0);
    } => [
        gives_and_obtains("MPI_Allgather", 16, 64),
        gives_and_obtains("MPI_Alltoall", 64, 64),
        call("MPI_Gather", rooted(1, 0, 64)),
        call("MPI_Scatter", rooted(1, 64, 0)),
        gives_and_obtains("MPI_Allgatherv", 16, 80),
    ];

    arrays_of_counts_and_datatypes_are_added_up: |mpi: &Mpi| {
        let world = mpi.world();
        let (given, taken) = (numbers(&[0, 5, 1, 0]), numbers(&[1, 2, 3, 4]));
        let (given, taken) = (given.address(), taken.address());
        mpi.call("MPI_Alltoallv", &[0, given, 0, DOUBLE, 0, taken, 0, DOUBLE, world], |_| 0);
        let (wide, types) = (numbers(&[1i64 << 33, 0, 0, 1]), handles(&[DOUBLE; 4]));
        let (wide, types) = (wide.address(), types.address());
        mpi.call("MPI_Alltoallw_c", &[0, wide, 0, types, 0, wide, 0, types, world], |_| 0);
        mpi.call("MPI_Reduce_scatter", &[0, 0, taken, DOUBLE, 0, world], |_| 0);
    } => [
        // It gives to one other rank, and five of six parts to itself.
        Recorded::Count(1, 1),
        Recorded::Count(2, 833),
        gives_and_obtains("MPI_Alltoallv", 48, 80),
        Recorded::Count(3, 2),
        Recorded::Count(4, 0),
        gives_and_obtains("MPI_Alltoallw_c", (8 << 33) + 8, (8 << 33) + 8),
        gives_and_obtains("MPI_Reduce_scatter", 80, 16),
    ];

    one_that_was_started_ends_by_its_request: |mpi: &Mpi| {
        let world = mpi.world();
        mpi.start("MPI_Iallreduce", &[0, 0, 2, DOUBLE, 0, world], 0x5800_0010);
        let (requests, status) = (handles(&[0x5800_0010]), statuses(1));
        let (array, place) = (requests.address(), status.address());
        mpi.call("MPI_Wait", &[array, place], move |_| {
            store_handle(array, abi::get().request_null);
            0
        });
        mpi.call("MPI_Barrier", &[world], |_| 0);
        mpi.call("MPI_Barrier", &[world], |_| 3);
    } => [
        call("MPI_Iallreduce", |r| (r.comm, r.bytes_out, r.bytes_in, r.request) = (0, 16, 16, 1)),
        completion("MPI_Wait", &[as_posted(1, 1)]),
        call("MPI_Barrier", |r| r.comm = 0),
        call("MPI_Barrier", |r| r.failed = true),
    ];

    a_communicator_is_defined_until_it_is_freed: |mpi: &Mpi| {
        let (world, made) = (mpi.world(), 0x8400_0010);
        mpi.start("MPI_Comm_dup", &[world], made);
        mpi.call("MPI_Barrier", &[made], |_| 0);
        let freed = handles(&[made]);
        mpi.call("MPI_Comm_free", &[freed.address()], |_| 0);
        // The handle comes back as another communicator's.
        mpi.start("MPI_Comm_dup", &[world], made);
        mpi.call("MPI_Barrier", &[made], |_| 0);
    } => [
        call("MPI_Comm_dup", |r| r.comm = 0),
        call("MPI_Barrier", |r| r.comm = 2),
        call("MPI_Comm_free", |r| r.comm = 2),
        call("MPI_Comm_dup", |r| r.comm = 0),
        call("MPI_Barrier", |r| r.comm = 3),
    ];
}

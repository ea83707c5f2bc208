//! Messages that are sent, received and probed.

use super::library::{DOUBLE, store_handle};
use super::{Mpi, Recorded, arrive, call, handles, numbers, record, scripts, set, statuses};
use crate::abi::{self, Kind};
use kizami_records::{PEER_ANY, PEER_NULL};
use std::hint::black_box;

/// `MPI_PROC_NULL`: any negative rank that is no wildcard and no root.
const PROC_NULL: usize = -77isize as usize;

fn any_source() -> usize {
    abi::get().any_source as usize
}

fn any_tag() -> usize {
    abi::get().any_tag as usize
}

scripts! {
    sends_give_as_many_bytes_as_their_datatype_has: |mpi: &Mpi| {
        let data = numbers(&[0f64; 3]);
        let place = data.address();
        mpi.call("MPI_Send", &[place, 3, DOUBLE, 2, 7, mpi.world()], |_| 0);
        mpi.call("MPI_Ssend", &[place, 0, DOUBLE, 3, 8, mpi.world()], |_| 0);
        mpi.call("MPI_Send_c", &[place, 1 << 33, DOUBLE, 0, 9, abi::get().comm_self], |_| 0);
        mpi.call("MPI_Send", &[place, 3, DOUBLE, PROC_NULL, 7, mpi.world()], |_| 0);
    } => [
        call("MPI_Send", |r| (r.comm, r.peer, r.tag, r.bytes_out) = (0, 2, 7, 24)),
        call("MPI_Ssend", |r| (r.comm, r.peer, r.tag) = (0, 3, 8)),
        call("MPI_Send_c", |r| (r.comm, r.peer, r.tag, r.bytes_out) = (1, 0, 9, 8 << 33)),
        call("MPI_Send", |r| (r.comm, r.peer, r.tag) = (0, PEER_NULL, 7)),
    ];

    of_a_call_that_failed_nothing_is_believed: |mpi: &Mpi| {
        // What is no handle and no place is not looked at.
        mpi.call("MPI_Send", &[0, 3, 0xdead, 2, 7, 0xdead], |_| 5);
        mpi.call("MPI_Recv", &[0, 3, 0xdead, 2, 7, 0xdead, abi::get().status_ignore], |_| 5);
        mpi.call("MPI_Isend", &[0, 3, 0xdead, 2, 7, 0xdead, 0], |_| 5);
        mpi.call("MPI_Comm_rank", &[0xdead, 0], |_| 5);
    } => [
        call("MPI_Send", |r| (r.peer, r.tag, r.failed) = (2, 7, true)),
        call("MPI_Recv", |r| (r.peer, r.tag, r.failed) = (2, 7, true)),
        call("MPI_Isend", |r| (r.peer, r.tag, r.failed) = (2, 7, true)),
        call("MPI_Comm_rank", |r| r.failed = true),
    ];

    a_receive_records_what_arrived_not_what_was_posted: |mpi: &Mpi| {
        let status = statuses(1);
        let place = status.address();
        let arguments = [0, 100, DOUBLE, any_source(), any_tag(), mpi.world(), place];
        mpi.call("MPI_Recv", &arguments, move |_| {
            arrive(place, 0, 3, 11, 16);
            0
        });
        // More than 32 bits of bytes.
        mpi.call("MPI_Recv", &[0, 1, DOUBLE, 2, 7, mpi.world(), place], move |_| {
            arrive(place, 0, 2, 7, (5 << 32) + 1);
            0
        });
        // A null peer sends nothing, whatever the status says.
        mpi.call("MPI_Recv", &[0, 1, DOUBLE, PROC_NULL, 7, mpi.world(), place], |_| 0);
    } => [
        call("MPI_Recv", |r| {
            (r.comm, r.peer, r.tag, r.bytes_in, r.any_source, r.any_tag) = (0, 3, 11, 16, true, true);
        }),
        call("MPI_Recv", |r| (r.comm, r.peer, r.tag, r.bytes_in) = (0, 2, 7, (5 << 32) + 1)),
        call("MPI_Recv", |r| (r.comm, r.peer, r.tag) = (0, PEER_NULL, 7)),
    ];

    a_status_that_the_program_does_not_want_is_read_all_the_same: |mpi: &Mpi| {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static GIVEN: AtomicUsize = AtomicUsize::new(0);
        let ignored = abi::get().status_ignore;
        // The status comes behind the arguments that a made-up function gets: a probe has it among them.
        mpi.call("MPI_Probe", &[any_source(), 7, mpi.world(), ignored], |[.., status]| {
            GIVEN.store(status, Ordering::Relaxed);
            arrive(status, 0, 2, 7, 40);
            0
        });
        assert_ne!(GIVEN.load(Ordering::Relaxed), ignored);
    } => [call("MPI_Probe", |r| {
        (r.comm, r.peer, r.tag, r.bytes_in, r.any_source) = (0, 2, 7, 40, true);
    })];

    a_send_receive_has_two_halves: |mpi: &Mpi| {
        let status = statuses(1);
        let place = status.address();
        let world = mpi.world();
        let arguments = [0, 2, DOUBLE, 2, 5, 0, 9, DOUBLE, any_source(), 6, world, place];
        mpi.call("MPI_Sendrecv", &arguments, move |_| {
            arrive(place, 0, 3, 6, 8);
            0
        });
        mpi.call("MPI_Sendrecv_replace", &[0, 2, DOUBLE, 2, 5, PROC_NULL, 6, world, place], |_| 0);
    } => [
        call("MPI_Sendrecv", |r| {
            (r.comm, r.peer, r.tag, r.bytes_out) = (0, 2, 5, 16);
            (r.recv_peer, r.recv_tag, r.bytes_in, r.any_source) = (3, 6, 8, true);
        }),
        call("MPI_Sendrecv_replace", |r| {
            (r.comm, r.peer, r.tag, r.bytes_out) = (0, 2, 5, 16);
            (r.recv_peer, r.recv_tag) = (PEER_NULL, 6);
        }),
    ];

    probes_that_find_nothing_are_folded_until_one_finds_something: |mpi: &Mpi| {
        let (status, found) = (statuses(1), numbers(&[0]));
        let (place, flag) = (status.address(), found.address());
        for round in 0..black_box(4) {
            mpi.call("MPI_Iprobe", &[any_source(), 7, mpi.world(), flag, place], move |_| {
                set(flag, 0, i32::from(round == 3));
                arrive(place, 0, 3, 7, 16);
                0
            });
        }
        // A probe that fails is no poll that found nothing.
        mpi.call("MPI_Iprobe", &[2, 7, mpi.world(), flag, place], |_| 1);
    } => [
        Recorded::Fold(record("MPI_Iprobe", |r| (r.comm, r.peer, r.tag) = (0, PEER_ANY, 7)), 3),
        call("MPI_Iprobe", |r| {
            (r.comm, r.peer, r.tag, r.bytes_in, r.any_source) = (0, 3, 7, 16, true);
        }),
        call("MPI_Iprobe", |r| (r.peer, r.tag, r.failed) = (2, 7, true)),
    ];

    a_matched_message_keeps_its_communicator: |mpi: &Mpi| {
        let (status, message) = (statuses(1), handles(&[0]));
        let (place, handle) = (status.address(), message.address());
        let own = abi::get().comm_self;
        mpi.call("MPI_Mprobe", &[0, any_tag(), own, handle, place], move |_| {
            store_handle(handle, 0x5500_0010);
            arrive(place, 0, 0, 4, 8);
            0
        });
        mpi.call("MPI_Mrecv", &[0, 1, DOUBLE, handle, place], move |_| {
            // MPI makes the handle null.
            store_handle(handle, 0);
            arrive(place, 0, 0, 4, 8);
            0
        });
    } => [
        call("MPI_Mprobe", |r| (r.comm, r.peer, r.tag, r.bytes_in, r.any_tag) = (1, 0, 4, 8, true)),
        call("MPI_Mrecv", |r| (r.comm, r.peer, r.tag, r.bytes_in) = (1, 0, 4, 8)),
    ];
}

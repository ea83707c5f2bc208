//! Requests: started, completed, freed, cancelled, and started again.

use super::library::{DOUBLE, store_handle, store_status};
use super::{
    Mpi, Recorded, arrive, as_posted, call, completion, handles, numbers, record, scripts, set, statuses,
};
use crate::abi::{self, Kind};
use kizami_records::{Completion, PEER_ANY, Started};
use std::hint::black_box;

/// Handles of requests that fit into the registers of both conventions.
const A: usize = 0x5800_0010;
const B: usize = 0x5800_0020;
const C: usize = 0x5800_0030;

fn null() -> usize {
    abi::get().request_null
}

/// Makes the `index`th handle of an array null.
fn make_null(requests: usize, index: usize) {
    store_handle(requests + index * abi::get().handle_bytes, null());
}

impl Mpi {
    fn isend(&self, handle: usize) {
        self.start("MPI_Isend", &[0, 2, DOUBLE, 2, 5, self.world()], handle);
    }

    fn irecv(&self, source: usize, handle: usize) {
        self.start("MPI_Irecv", &[0, 4, DOUBLE, source, 5, self.world()], handle);
    }

    /// Completes whatever is in the array, each receive with this many bytes from rank 3.
    fn wait_all(&self, which: &[usize], bytes: u64) {
        let (requests, statuses) = (handles(which), statuses(which.len()));
        let (array, place, count) = (requests.address(), statuses.address(), which.len());
        self.call("MPI_Waitall", &[count, array, place], move |_| {
            (0..count).for_each(|index| {
                make_null(array, index);
                arrive(place, index, 3, 5, bytes);
            });
            0
        });
    }
}

fn isent(request: u32) -> Recorded {
    call("MPI_Isend", |r| (r.comm, r.peer, r.tag, r.bytes_out, r.request) = (0, 2, 5, 16, request))
}

fn ireceived(peer: i32, request: u32) -> Recorded {
    call("MPI_Irecv", |r| {
        (r.comm, r.peer, r.tag, r.bytes_in, r.request) = (0, peer, 5, 32, request);
        r.any_source = peer == PEER_ANY;
    })
}

fn received(request: u32, bytes: u32) -> Completion {
    Completion::Received { request, peer: 3, tag: 5, bytes }
}

scripts! {
    what_ended_as_it_was_posted_takes_one_entry: |mpi: &Mpi| {
        mpi.isend(A);
        mpi.isend(B);
        mpi.irecv(3, C);
        mpi.wait_all(&[A, B, C], 32);
    } => [isent(1), isent(2), ireceived(3, 3), completion("MPI_Waitall", &[as_posted(1, 3)])];

    a_receive_that_got_less_or_from_a_wildcard_says_so: |mpi: &Mpi| {
        mpi.irecv(3, A);
        mpi.irecv(abi::get().any_source as usize, B);
        mpi.isend(C);
        mpi.wait_all(&[A, B, C], 8);
    } => [
        ireceived(3, 1),
        ireceived(PEER_ANY, 2),
        isent(3),
        completion("MPI_Waitall", &[received(1, 8), received(2, 8), as_posted(3, 1)]),
    ];

    starts_under_one_handle_end_in_their_order: |mpi: &Mpi| {
        // Small sends that are done at once share a handle.
        mpi.isend(A);
        mpi.isend(A);
        mpi.irecv(3, B);
        mpi.wait_all(&[A], 0);
        mpi.wait_all(&[B, A], 8);
    } => [
        isent(1),
        isent(2),
        ireceived(3, 3),
        completion("MPI_Waitall", &[as_posted(1, 1)]),
        completion("MPI_Waitall", &[received(3, 8), as_posted(2, 1)]),
    ];

    waiting_for_one_or_some_completes_only_those: |mpi: &Mpi| {
        mpi.isend(A);
        mpi.irecv(3, B);
        mpi.isend(C);
        let (requests, place, index) = (handles(&[A, B, C]), statuses(3), numbers(&[0; 3]));
        let (array, place, indices) =
            (requests.address(), place.address(), index.address());
        mpi.call("MPI_Waitany", &[3, array, indices, place], move |_| {
            set(indices, 0, 1);
            make_null(array, 1);
            arrive(place, 0, 3, 5, 24);
            0
        });
        let found = numbers(&[0]);
        let count = found.address();
        // The null request in the middle is none that could be waited for.
        mpi.call("MPI_Waitsome", &[3, array, count, indices, place], move |_| {
            set(count, 0, 2);
            set(indices, 0, 2);
            set(indices, 1, 0);
            make_null(array, 2);
            make_null(array, 0);
            0
        });
        // Nothing is left: the index is undefined, and so is the count.
        mpi.call("MPI_Waitany", &[3, array, indices, place], move |_| {
            set(indices, 0, abi::get().undefined);
            0
        });
        mpi.call("MPI_Waitsome", &[3, array, count, indices, place], move |_| {
            set(count, 0, abi::get().undefined);
            0
        });
    } => [
        isent(1),
        ireceived(3, 2),
        isent(3),
        completion("MPI_Waitany", &[received(2, 24)]),
        completion("MPI_Waitsome", &[as_posted(3, 1), as_posted(1, 1)]),
        completion("MPI_Waitany", &[]),
        completion("MPI_Waitsome", &[]),
    ];

    tests_that_find_nothing_are_folded_and_complete_nothing: |mpi: &Mpi| {
        mpi.irecv(3, A);
        let (requests, status, flags) = (handles(&[A]), statuses(1), numbers(&[0]));
        let (array, place, flag) =
            (requests.address(), status.address(), flags.address());
        for round in 0..black_box(3) {
            mpi.call("MPI_Test", &[array, flag, place], move |_| {
                set(flag, 0, i32::from(round == 2));
                if round == 2 {
                    make_null(array, 0);
                    arrive(place, 0, 3, 5, 32);
                }
                0
            });
        }
        // A null request is done at once, and was nothing.
        mpi.call("MPI_Test", &[array, flag, place], |_| 0);
    } => [
        ireceived(3, 1),
        Recorded::Fold(record("MPI_Test", |_| ()), 2),
        completion("MPI_Test", &[as_posted(1, 1)]),
        completion("MPI_Test", &[]),
    ];

    after_an_error_only_what_mpi_made_null_is_done: |mpi: &Mpi| {
        mpi.isend(A);
        mpi.irecv(3, B);
        let (requests, place) = (handles(&[A, B]), statuses(2));
        let (array, place) = (requests.address(), place.address());
        mpi.call("MPI_Waitall", &[2, array, place], move |_| {
            make_null(array, 1);
            17
        });
        mpi.wait_all(&[A], 0);
    } => [
        isent(1),
        ireceived(3, 2),
        // Nobody knows what arrived.
        Recorded::Completion(record("MPI_Waitall", |r| r.failed = true), vec![as_posted(2, 1)]),
        completion("MPI_Waitall", &[as_posted(1, 1)]),
    ];

    a_request_that_is_freed_while_it_is_active_is_forgotten: |mpi: &Mpi| {
        mpi.isend(A);
        let requests = handles(&[A]);
        let array = requests.address();
        mpi.call("MPI_Request_free", &[array], move |_| {
            make_null(array, 0);
            0
        });
        // Its handle comes back as another request's.
        mpi.irecv(3, A);
        mpi.wait_all(&[A], 32);
    } => [
        isent(1),
        call("MPI_Request_free", |_| ()),
        ireceived(3, 2),
        completion("MPI_Waitall", &[as_posted(2, 1)]),
    ];

    what_was_cancelled_is_read_off_its_status_also_of_sends: |mpi: &Mpi| {
        mpi.isend(A);
        mpi.irecv(3, B);
        let (requests, place) = (handles(&[A, B]), statuses(2));
        let (array, place) = (requests.address(), place.address());
        mpi.call("MPI_Cancel", &[array], |_| 0);
        mpi.call("MPI_Waitall", &[2, array, place], move |_| {
            (0..2).for_each(|index| make_null(array, index));
            store_status(place, -1, -1, 0, true);
            arrive(place, 1, 3, 5, 32);
            0
        });
    } => [
        isent(1),
        ireceived(3, 2),
        call("MPI_Cancel", |_| ()),
        completion("MPI_Waitall", &[Completion::Cancelled { request: 1 }, as_posted(2, 1)]),
    ];

    persistent_requests_have_a_number_and_each_of_their_rounds_another: |mpi: &Mpi| {
        mpi.start("MPI_Send_init", &[0, 2, DOUBLE, 2, 5, mpi.world()], A);
        mpi.start("MPI_Recv_init", &[0, 4, DOUBLE, 3, 5, mpi.world()], B);
        let requests = handles(&[A, B]);
        let array = requests.address();
        let place = statuses(2);
        let place = place.address();
        mpi.call("MPI_Startall", &[2, array], |_| 0);
        // Handles of persistent requests stay.
        mpi.call("MPI_Waitall", &[2, array, place], move |_| {
            arrive(place, 1, 3, 5, 8);
            0
        });
        mpi.call("MPI_Start", &[array], |_| 0);
        mpi.call("MPI_Wait", &[array, place], |_| 0);
        // It is not under way any more: waiting completes nothing.
        mpi.call("MPI_Wait", &[array, place], |_| 0);
    } => [
        call("MPI_Send_init", |r| (r.comm, r.peer, r.tag, r.bytes_out, r.request) = (0, 2, 5, 16, 1)),
        call("MPI_Recv_init", |r| (r.comm, r.peer, r.tag, r.bytes_in, r.request) = (0, 3, 5, 32, 2)),
        Recorded::Start(record("MPI_Startall", |_| ()), vec![
            Started { persistent: 1, request: 3 },
            Started { persistent: 2, request: 4 },
        ]),
        completion("MPI_Waitall", &[as_posted(3, 1), received(4, 8)]),
        Recorded::Start(record("MPI_Start", |_| ()), vec![Started { persistent: 1, request: 5 }]),
        completion("MPI_Wait", &[as_posted(5, 1)]),
        completion("MPI_Wait", &[]),
    ];
}

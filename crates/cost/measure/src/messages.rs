//! Messages between rank 0 and the last rank, while all others wait in the next barrier, and among all ranks.

use crate::buffers::Buffers;
use crate::rank::Rank;
use crate::subject::{Sample, Subject, timed};
use kizami_mpi::{Comm, Incoming, MpiError, Outgoing, Requests};

const TAG: i32 = 72;
const READY_TAG: i32 = 73;

/// Messages of a stream that are under way at once.
const STREAM: usize = 16;

/// A receiver has posted its receive after this, when both have left a barrier.
const SETTLE_NS: f64 = 20e3;

/// A short message has arrived after this.
const ARRIVED_NS: f64 = 200e3;

/// Who sends to whom, and what of it is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Half of a round trip.
    PingPong,
    /// Inside `MPI_Send`, while the receiver waits.
    Send,
    /// Inside `MPI_Recv`, for a message that is there already, or whose transfer begins then.
    Receive,
    /// One of many messages on the way at once.
    Stream,
    /// One each way at once.
    Exchange,
    /// The same by all pairs of ranks.
    Crossing,
    /// `MPI_Sendrecv` by all ranks: to the one before, from the one after.
    Shift,
}

impl Route {
    pub(crate) fn named(pattern: &str) -> Option<Route> {
        Some(match pattern {
            "pingpong" => Route::PingPong,
            "send" => Route::Send,
            "receive" => Route::Receive,
            "stream" => Route::Stream,
            "exchange" => Route::Exchange,
            "crossing" => Route::Crossing,
            _ => return None,
        })
    }
}

/// Messages, prepared.
#[derive(Debug)]
pub(crate) struct Messages<'a> {
    route: Route,
    comm: &'a Comm,
    bytes: usize,
    give: &'a mut [u8],
    get: &'a mut [u8],
    requests: Requests,
    arrived_ns: f64,
}

impl<'a> Messages<'a> {
    /// `pingpong_ns` is what a message of this size takes, if it is known; a receiver lets some of that pass.
    pub(crate) fn prepare(
        rank: &Rank,
        comm: &'a Comm,
        route: Route,
        bytes: usize,
        pingpong_ns: f64,
        buffers: &'a mut Buffers,
    ) -> Messages<'a> {
        let get_bytes = if route == Route::Stream { bytes * STREAM } else { bytes };
        let (give, get) = buffers.take(bytes, get_bytes);
        let requests = rank.mpi.requests(STREAM);
        Messages { route, comm, bytes, give, get, requests, arrived_ns: ARRIVED_NS.max(3.0 * pingpong_ns) }
    }

    fn send(&self, rank: &Rank, to: u32) -> Result<(), MpiError> {
        rank.mpi.send(self.comm, Outgoing { data: self.give, to }, TAG)
    }

    fn receive(&mut self, rank: &Rank, from: u32) -> Result<(), MpiError> {
        rank.mpi.receive(self.comm, Incoming { space: self.get, from }, TAG)
    }

    /// Both ways at once with another rank.
    fn exchange(&mut self, rank: &Rank, peer: u32) -> Result<Sample, MpiError> {
        let Messages { comm, give, get, requests, .. } = self;
        let mut incoming = [Incoming { space: get, from: peer }];
        let outgoing = [Outgoing { data: give, to: peer }];
        timed(rank, || rank.mpi.exchange(comm, &mut incoming, &outgoing, TAG, requests, || {}))
    }

    /// The sender's part of what two ranks do; `peer` is the receiver.
    fn as_first(&mut self, rank: &Rank, peer: u32) -> Result<Sample, MpiError> {
        match self.route {
            Route::PingPong => {
                // The other may leave the barrier later.
                rank.mpi.receive(self.comm, Incoming { space: &mut [], from: peer }, READY_TAG)?;
                let trip = timed(rank, || {
                    self.send(rank, peer)?;
                    self.receive(rank, peer)
                })?;
                Ok(Sample::took((trip.end_ns - trip.start_ns) / 2.0))
            }
            Route::Send => {
                rank.clock.spin(SETTLE_NS);
                let sent = timed(rank, || self.send(rank, peer))?;
                Ok(Sample::took(sent.end_ns - sent.start_ns))
            }
            Route::Stream => {
                let outgoing: [Outgoing<'_>; STREAM] =
                    std::array::from_fn(|_| Outgoing { data: self.give, to: peer });
                rank.mpi.receive(self.comm, Incoming { space: &mut [], from: peer }, READY_TAG)?;
                let requests = &mut self.requests;
                let sent =
                    timed(rank, || rank.mpi.exchange(self.comm, &mut [], &outgoing, TAG, requests, || {}))?;
                Ok(Sample { end_ns: 0.0, ..sent }.divided_by(STREAM as f64))
            }
            Route::Exchange => self.exchange(rank, peer),
            _ => self.send(rank, peer).map(|()| Sample::NONE),
        }
    }

    /// The receiver's part; `peer` is the sender.
    fn as_last(&mut self, rank: &Rank, peer: u32) -> Result<Sample, MpiError> {
        match self.route {
            Route::PingPong => {
                rank.mpi.send(self.comm, Outgoing { data: &[], to: peer }, READY_TAG)?;
                self.receive(rank, peer)?;
                self.send(rank, peer).map(|()| Sample::NONE)
            }
            Route::Receive => {
                rank.clock.spin(self.arrived_ns);
                let received = timed(rank, || self.receive(rank, peer))?;
                Ok(Sample::took(received.end_ns - received.start_ns))
            }
            Route::Stream => self.catch(rank, peer),
            Route::Exchange => self.exchange(rank, peer),
            _ => self.receive(rank, peer).map(|()| Sample::NONE),
        }
    }

    /// Posts all receives of a stream, says so, and waits for the last message.
    fn catch(&mut self, rank: &Rank, peer: u32) -> Result<Sample, MpiError> {
        let Messages { comm, bytes, get, requests, .. } = self;
        let mut spaces: Vec<Incoming<'_>> = Vec::with_capacity(STREAM);
        let mut rest: &mut [u8] = get;
        for _ in 0..STREAM {
            let (space, behind) = rest.split_at_mut(*bytes);
            spaces.push(Incoming { space, from: peer });
            rest = behind;
        }
        let mut ready = Ok(());
        rank.mpi.exchange(comm, &mut spaces, &[], TAG, requests, || {
            ready = rank.mpi.send(comm, Outgoing { data: &[], to: peer }, READY_TAG);
        })?;
        ready?;
        Ok(Sample { start_ns: 0.0, end_ns: rank.clock.now_ns() }.divided_by(STREAM as f64))
    }

    fn shift(&mut self, rank: &Rank) -> Result<Sample, MpiError> {
        let (mine, size) = (self.comm.rank(), self.comm.size());
        let (before, after) = ((mine + size - 1) % size, (mine + 1) % size);
        timed(rank, || {
            let out = Outgoing { data: self.give, to: before };
            rank.mpi.send_receive(self.comm, out, Incoming { space: self.get, from: after }, TAG)
        })
    }
}

impl Subject for Messages<'_> {
    fn once(&mut self, rank: &Rank) -> Result<Sample, MpiError> {
        let (mine, last) = (self.comm.rank(), rank.last());
        match self.route {
            Route::Shift => self.shift(rank),
            // The last of an odd number of ranks has no partner.
            Route::Crossing if mine ^ 1 > last => Ok(Sample::NONE),
            Route::Crossing => self.exchange(rank, mine ^ 1),
            _ if mine == 0 => self.as_first(rank, last),
            _ if mine == last => self.as_last(rank, 0),
            _ => Ok(Sample::NONE),
        }
    }
}

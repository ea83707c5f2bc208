//! What the calls of one rank say about messages and collectives: what begins in a call, what ends in it.
//!
//! A non-blocking operation begins in one call and ends in another; this keeps what lies between, so memory
//! is bounded by the requests a rank has open. On demand each message also gets its *number* among those of
//! the same communicator, sender, receiver and tag. MPI delivers such messages in the order they were sent to
//! receives in the order they were posted, so sender and receiver arrive at the same number without looking
//! at each other. That costs one counter for each such combination of the rank. The numbers are wrong after a
//! receive from a known source was cancelled, after rows were lost, and for `MPI_Mrecv` that takes messages in
//! another order than they were probed in.
//!
//! Failed calls, `MPI_PROC_NULL` and the making of persistent requests move nothing and yield nothing. It looks at one rank at a time and reads and writes nothing.

mod open_requests;

pub use open_requests::OpenRequests;

use kizami_model::function::{Function, functions};
use kizami_model::{Call, Op, Peer, Rank, Shape};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// One half of a message, as its own side saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Index of the communicator.
    pub comm: u32,
    /// The other side.
    pub peer: Rank,
    /// With which tag.
    pub tag: i32,
    /// Its size, as this side has it.
    pub bytes: u64,
    /// Which of the messages of this communicator, sender, receiver and tag it is; 0 when not counted.
    pub number: u64,
}

/// One rank's part in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The function that was called.
    pub op: Op,
    /// Index of the communicator.
    pub comm: u32,
    /// The root, where there is one.
    pub root: Peer,
    /// Bytes this rank gave.
    pub bytes_out: u64,
    /// Bytes this rank obtained.
    pub bytes_in: u64,
}

/// Something that begins when a call begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// A message leaves; with a request if the call does not wait for it.
    Send(Message, Option<u64>),
    /// A receive is posted; with what it got or will get, as far as that is known.
    Receive(u64, Option<Message>),
    /// A collective operation begins; with a request if the call does not wait for it.
    Collective(Option<u64>),
}

/// Something that ends when a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A message has left.
    Send(u64),
    /// A message has arrived; with the request if it was posted by an earlier call.
    Receive(Message, Option<u64>),
    /// A receive ended without a message.
    NoMessage(u64),
    /// A collective operation is over; with the request if an earlier call began it.
    Collective(Collective, Option<u64>),
}

/// Whether messages get their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// No: all have number 0.
    Off,
    /// Yes.
    On,
}

/// The receiving half of a send-receive that does not wait needs a request of its own.
const RECEIVING_HALF: u64 = 1 << 63;

/// What is under way in one rank.
pub struct Traffic {
    numbering: Numbering,
    open: OpenRequests<Open>,
    sent: FxHashMap<(u32, Rank, i32), u64>,
    received: FxHashMap<(u32, Rank, i32), u64>,
    /// Halves of messages whose other side or communicator is not known.
    pub left_out: u64,
}

/// An operation a request stands for.
enum Open {
    Send,
    Receive(Arrival),
    SendReceive(Arrival),
    Collective(Collective),
}

/// What is known of a receive.
#[derive(Clone, Copy)]
enum Arrival {
    /// This came, or will come.
    Message(Message),
    /// Nothing came.
    Nothing,
    /// It cannot be said what came.
    Unknown,
    /// There is no peer to receive from.
    Nobody,
}

impl Arrival {
    fn message(self) -> Option<Message> {
        match self {
            Arrival::Message(message) => Some(message),
            Arrival::Nothing | Arrival::Unknown | Arrival::Nobody => None,
        }
    }
}

impl Traffic {
    /// Nothing is under way yet.
    pub fn new(numbering: Numbering) -> Traffic {
        Traffic {
            numbering,
            open: OpenRequests::default(),
            sent: FxHashMap::default(),
            received: FxHashMap::default(),
            left_out: 0,
        }
    }

    /// Appends what begins and what ends in a call. Calls must come in the order of their start.
    #[inline]
    pub fn of_call(&mut self, call: &Call, beginnings: &mut Vec<Beginning>, endings: &mut Vec<Ending>) {
        if !call.failed {
            self.operation(call, beginnings, endings);
        }
        for request in &call.completes {
            self.complete(*request, endings);
        }
    }

    #[inline]
    fn operation(&mut self, call: &Call, beginnings: &mut Vec<Beginning>, endings: &mut Vec<Ending>) {
        let Some(shape) = moves(call.op) else { return };
        match shape {
            Shape::Send => self.send(call, beginnings),
            Shape::Receive => self.receive(call, call.peer, call.tag, beginnings, endings),
            Shape::SendReceive => self.send_receive(call, beginnings, endings),
            // A started persistent request is what it was made as: a message has a tag and goes one way.
            Shape::Start if call.request.is_some() && call.tag.is_some() => match call.bytes_out {
                Some(_) => self.send(call, beginnings),
                None => self.receive(call, call.peer, call.tag, beginnings, endings),
            },
            Shape::Collective => self.collective(call, beginnings, endings),
            _ => {}
        }
    }

    #[inline]
    fn send(&mut self, call: &Call, beginnings: &mut Vec<Beginning>) {
        match self.departure(call) {
            Some(message) => beginnings.push(Beginning::Send(message, call.request)),
            None => return,
        }
        if let Some(request) = call.request {
            self.open.insert(request, Open::Send);
        }
    }

    #[inline]
    fn receive(
        &mut self,
        call: &Call,
        source: Peer,
        tag: Option<i32>,
        beginnings: &mut Vec<Beginning>,
        endings: &mut Vec<Ending>,
    ) {
        let arrival = self.arrival(call, source, tag);
        match (call.request, arrival) {
            (_, Arrival::Nobody) => {}
            (Some(request), arrival) => {
                beginnings.push(Beginning::Receive(request, arrival.message()));
                self.open.insert(request, Open::Receive(arrival));
            }
            (None, Arrival::Message(message)) => endings.push(Ending::Receive(message, None)),
            (None, _) => self.left_out += 1,
        }
    }

    fn send_receive(&mut self, call: &Call, beginnings: &mut Vec<Beginning>, endings: &mut Vec<Ending>) {
        let departure = self.departure(call);
        let arrival = self.arrival(call, call.recv_peer, call.recv_tag);
        if let Some(message) = departure {
            beginnings.push(Beginning::Send(message, call.request));
        }
        let Some(request) = call.request else {
            match arrival {
                Arrival::Message(message) => endings.push(Ending::Receive(message, None)),
                Arrival::Nobody => {}
                Arrival::Nothing | Arrival::Unknown => self.left_out += 1,
            }
            return;
        };
        if !matches!(arrival, Arrival::Nobody) {
            // Where nothing is sent, the request is that of the receive.
            let half = if departure.is_some() { request | RECEIVING_HALF } else { request };
            beginnings.push(Beginning::Receive(half, arrival.message()));
        }
        let open = match departure {
            Some(_) => Open::SendReceive(arrival),
            None => Open::Receive(arrival),
        };
        self.open.insert(request, open);
    }

    fn collective(&mut self, call: &Call, beginnings: &mut Vec<Beginning>, endings: &mut Vec<Ending>) {
        let Some(comm) = call.comm else { return };
        let collective = Collective {
            op: call.op,
            comm,
            root: call.root,
            bytes_out: call.bytes_out.unwrap_or(0),
            bytes_in: call.bytes_in.unwrap_or(0),
        };
        beginnings.push(Beginning::Collective(call.request));
        match call.request {
            Some(request) => {
                self.open.insert(request, Open::Collective(collective));
            }
            None => endings.push(Ending::Collective(collective, None)),
        }
    }

    #[inline]
    fn complete(&mut self, request: u64, endings: &mut Vec<Ending>) {
        match self.open.remove(request) {
            // A file access, a generalised request, or one that was started before recording began.
            None => {}
            Some(Open::Send) => endings.push(Ending::Send(request)),
            Some(Open::Receive(arrival)) => self.arrived(arrival, request, endings),
            Some(Open::SendReceive(arrival)) => {
                endings.push(Ending::Send(request));
                self.arrived(arrival, request | RECEIVING_HALF, endings);
            }
            Some(Open::Collective(collective)) => {
                endings.push(Ending::Collective(collective, Some(request)));
            }
        }
    }

    #[inline]
    fn arrived(&mut self, arrival: Arrival, request: u64, endings: &mut Vec<Ending>) {
        match arrival {
            Arrival::Message(message) => endings.push(Ending::Receive(message, Some(request))),
            Arrival::Nothing => endings.push(Ending::NoMessage(request)),
            Arrival::Unknown => self.left_out += 1,
            Arrival::Nobody => {}
        }
    }

    #[inline]
    fn departure(&mut self, call: &Call) -> Option<Message> {
        match (call.peer, call.comm, call.tag) {
            (Peer::Rank(peer), Some(comm), Some(tag)) => {
                let number = count(&mut self.sent, self.numbering, (comm, peer, tag));
                Some(Message { comm, peer, tag, bytes: call.bytes_out.unwrap_or(0), number })
            }
            (Peer::Null, ..) => None,
            _ => {
                self.left_out += 1;
                None
            }
        }
    }

    #[inline]
    fn arrival(&mut self, call: &Call, source: Peer, tag: Option<i32>) -> Arrival {
        match (source, call.comm, tag) {
            (Peer::Rank(peer), Some(comm), Some(tag)) => {
                let number = count(&mut self.received, self.numbering, (comm, peer, tag));
                Arrival::Message(Message { comm, peer, tag, bytes: call.bytes_in.unwrap_or(0), number })
            }
            (Peer::Null, ..) => Arrival::Nobody,
            (Peer::Any, ..) => Arrival::Nothing,
            _ => Arrival::Unknown,
        }
    }
}

/// The shape of a function that moves something when it is called; making a persistent request does not.
#[inline]
fn moves(op: Op) -> Option<Shape> {
    static SHAPES: LazyLock<Vec<Option<Shape>>> = LazyLock::new(|| {
        let shape = |function: &Function| (!function.prepares).then_some(function.shape);
        std::iter::once(None).chain(functions().iter().map(shape)).collect()
    });
    SHAPES.get(usize::from(op.0)).copied().flatten()
}

/// The message a probe found, without its number. It stays where it is.
pub fn probed_message(call: &Call) -> Option<Message> {
    let (Peer::Rank(peer), Some(comm), Some(tag)) = (call.peer, call.comm, call.tag) else { return None };
    Some(Message { comm, peer, tag, bytes: 0, number: 0 })
}

fn count(
    counters: &mut FxHashMap<(u32, Rank, i32), u64>,
    numbering: Numbering,
    key: (u32, Rank, i32),
) -> u64 {
    if numbering == Numbering::Off {
        return 0;
    }
    let counter = counters.entry(key).or_insert(0);
    *counter += 1;
    *counter
}

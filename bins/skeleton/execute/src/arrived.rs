//! How many bytes arrived, where ranks ran alone: a receive knows how much room it has, its sender how much it sends.
//!
//! Messages of one communicator, sender, receiver and tag arrive in the order in which they were sent, so the two sides are
//! found by counting. Receives from anybody have no such number, and keep the room they were posted with.

use kizami_model::{Call, Rank};
use kizami_traffic::{Beginning, Ending, Message, Numbering, Traffic};
use rustc_hash::FxHashMap;

/// A message, by what both sides know: communicator, sender, receiver, tag, and which of those it is.
type Key = (u32, Rank, Rank, i32, u64);

/// Gives receives the bytes that their senders sent. Rows are all those of a run, rank by rank.
pub(crate) fn fit_to_senders(ranks: &mut [Vec<Call>]) {
    let mut sent: FxHashMap<Key, u64> = FxHashMap::default();
    for rows in ranks.iter() {
        each_message(rows, |row, message, received| {
            if !received {
                let sender = rows[row].rank;
                sent.insert((message.comm, sender, message.peer, message.tag, message.number), message.bytes);
            }
        });
    }
    for rows in ranks {
        let mut arrived: Vec<(usize, u64)> = Vec::new();
        each_message(rows, |row, message, received| {
            let key = (message.comm, message.peer, rows[row].rank, message.tag, message.number);
            if received && let Some(bytes) = sent.get(&key) {
                arrived.push((row, *bytes));
            }
        });
        for (row, bytes) in arrived {
            // What does not fit is an error of the program, and not for us to hide.
            rows[row].bytes_in = rows[row].bytes_in.map(|room| room.min(bytes));
        }
    }
}

/// Tells of each message the row in which it is sent, or its receive is posted.
fn each_message(rows: &[Call], mut visit: impl FnMut(usize, Message, bool)) {
    let mut traffic = Traffic::new(Numbering::On);
    let (mut beginnings, mut endings) = (Vec::new(), Vec::new());
    for (row, call) in rows.iter().enumerate() {
        traffic.of_call(call, &mut beginnings, &mut endings);
        for beginning in beginnings.drain(..) {
            match beginning {
                Beginning::Send(message, _) => visit(row, message, false),
                Beginning::Receive(_, Some(message)) => visit(row, message, true),
                Beginning::Receive(_, None) | Beginning::Collective(_) => {}
            }
        }
        for ending in endings.drain(..) {
            if let Ending::Receive(message, None) = ending {
                visit(row, message, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::{Moment, Op, Peer, ThreadIndex};

    fn call(rank: u32, name: &str, peer: u32, bytes_out: Option<u64>, bytes_in: Option<u64>) -> Call {
        let op = Op::by_name(name).expect("a function of MPI");
        let mut call = Call::new(Rank(rank), ThreadIndex(0), op, Moment(0), Moment(0));
        (call.comm, call.peer, call.tag) = (Some(0), Peer::Rank(Rank(peer)), Some(7));
        (call.bytes_out, call.bytes_in) = (bytes_out, bytes_in);
        call
    }

    #[test]
    fn receives_get_what_was_sent_in_order_and_never_more_than_they_have_room_for() {
        let sends = [12, 4000, 8].map(|bytes| call(0, "MPI_Send", 1, Some(bytes), None));
        let receives = [100; 3].map(|room| call(1, "MPI_Recv", 0, None, Some(room)));
        let mut ranks = [sends.to_vec(), receives.to_vec()];
        fit_to_senders(&mut ranks);
        let arrived: Vec<Option<u64>> = ranks[1].iter().map(|row| row.bytes_in).collect();
        assert_eq!(arrived, [Some(12), Some(100), Some(8)]);
    }
}

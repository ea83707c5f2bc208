//! What a task depends on, as GCC lists it.

use crate::recorder::Recorder;
use kizami_records::threading::{Dependence, Purpose};

/// How many of each kind there are, and where the addresses begin.
struct Shape {
    count: usize,
    out: usize,
    exclusive: usize,
    inputs: usize,
    first: usize,
}

/// Records what the task made last depends on.
///
/// # Safety
/// `list` is what the compiler gave to a function of the runtime.
pub unsafe fn record(recorder: &mut Recorder, list: *const usize) {
    // SAFETY: by contract: the first words say how long it is.
    let shape = unsafe {
        match *list {
            0 => Shape {
                count: *list.add(1),
                out: *list.add(2),
                exclusive: *list.add(3),
                inputs: *list.add(4),
                first: 5,
            },
            count => Shape { count, out: *list.add(1), exclusive: 0, inputs: count - *list.add(1), first: 2 },
        }
    };
    // SAFETY: as long as the list says.
    let of = |index: usize| unsafe { dependence(&shape, index, *list.add(shape.first + index)) };
    recorder.depend(shape.count, (0..shape.count).map(of));
}

/// # Safety
/// `address` is that of a dependence object, where it comes behind all others.
unsafe fn dependence(shape: &Shape, index: usize, address: usize) -> Dependence {
    let plain = |purpose| Dependence { address: address as u64, purpose };
    let (out, exclusive) = (shape.out, shape.out + shape.exclusive);
    match index {
        index if index < out => plain(Purpose::Out),
        index if index < exclusive => plain(Purpose::Exclusive),
        index if index < exclusive + shape.inputs => plain(Purpose::In),
        _ => {
            // An object: the address, and what for.
            // SAFETY: by contract.
            let [address, kind] = unsafe { *(address as *const [usize; 2]) };
            let purpose = match kind {
                1 => Purpose::In,
                4 => Purpose::Exclusive,
                5 => Purpose::Set,
                _ => Purpose::Out,
            };
            Dependence { address: address as u64, purpose }
        }
    }
}

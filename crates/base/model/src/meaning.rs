//! What a function does with requests: the part of its meaning that rows and sequences of calls depend on.
//!
//! Worked out once from the table of functions, so that no other code compares names. Looking it up costs one load.

use crate::function::{self, Op, Shape};
use crate::kind::{Form, Kind, WindowCall};
use std::sync::OnceLock;

/// What a function's record means for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// What its words mean.
    pub shape: Shape,
    /// What it does with requests.
    pub role: Role,
}

/// How a function deals with requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing to remember.
    Plain,
    /// Posts a receive: what arrived is recorded by its completion.
    Receive,
    /// Posts a send and a receive at once.
    SendReceive,
    /// Makes a persistent request.
    Persistent,
    /// Frees a request.
    Free,
}

/// What the function with this number means.
#[inline]
pub fn meaning(op: Op) -> Meaning {
    static MEANINGS: OnceLock<Vec<Meaning>> = OnceLock::new();
    let meanings = MEANINGS.get_or_init(|| {
        let nothing = Meaning { shape: Shape::Timed, role: Role::Plain };
        let of = |f: &function::Function| Meaning { shape: f.shape, role: role(f.kind) };
        std::iter::once(nothing).chain(function::functions().iter().map(of)).collect()
    });
    meanings.get(usize::from(op.0)).copied().unwrap_or(meanings[0])
}

/// Whether a function requests a lock: then the tag is its kind.
pub fn is_lock(op: Op) -> bool {
    op.kind() == Kind::Window(WindowCall::Lock)
}

/// `MPI_Start`, which every row of a started request names.
pub fn start_op() -> Op {
    static START: OnceLock<Op> = OnceLock::new();
    *START.get_or_init(|| Op::by_name("MPI_Start").unwrap_or(Op(0)))
}

fn role(kind: Kind) -> Role {
    match kind {
        Kind::Receive(Form::NonBlocking) => Role::Receive,
        Kind::SendReceive(Form::NonBlocking) => Role::SendReceive,
        Kind::Send(_, Form::Persistent) | Kind::Receive(Form::Persistent) => Role::Persistent,
        Kind::Collective(_, Form::Persistent) => Role::Persistent,
        Kind::FreeRequest => Role::Free,
        _ => Role::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_those_of_the_standard() {
        let of = |name| meaning(Op::by_name(name).unwrap()).role;
        for (role, names) in [
            (Role::Receive, ["MPI_Irecv", "MPI_Imrecv", "MPI_Irecv_c"]),
            (Role::SendReceive, ["MPI_Isendrecv", "MPI_Isendrecv_replace", "MPI_Isendrecv_c"]),
            (Role::Persistent, ["MPI_Ssend_init", "MPI_Precv_init", "MPI_Allreduce_init"]),
            (Role::Free, ["MPI_Request_free"; 3]),
            (Role::Plain, ["MPI_Recv", "MPI_Sendrecv", "MPI_Iallreduce"]),
        ] {
            names.iter().for_each(|name| assert_eq!(of(name), role, "{name}"));
        }
        let lock = |name| is_lock(Op::by_name(name).unwrap());
        assert!(lock("MPI_Win_lock") && !lock("MPI_Win_lock_all") && !lock("MPI_Win_unlock"));
    }
}

//! A collective as a rank has called it.

use kizami_model::kind::CollectiveKind;
use kizami_mpi_stub::datatype::TypeId;
use kizami_mpi_stub::process_group::Key;

/// The data of one side: the same for everybody, or lists with an entry for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    pub address: usize,
    pub count: i64,
    pub datatype: TypeId,
    /// Counts, displacements and types for each, if they differ.
    pub counts: usize,
    pub displacements: usize,
    pub types: usize,
}

/// A collective as it was called.
#[derive(Clone, Debug)]
pub struct Plan {
    pub kind: CollectiveKind,
    pub comm: u32,
    pub send: Side,
    pub receive: Side,
    pub root: i32,
    pub operation: Option<u32>,
    /// Lists are 64 bits wide.
    pub wide: bool,
    /// Which meeting it is, once it has begun.
    pub key: Option<Key>,
}

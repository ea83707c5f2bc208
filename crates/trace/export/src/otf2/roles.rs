//! What OTF2 calls the kinds of MPI functions.

use kizami_model::kind::{CollectiveKind, CommunicatorCall, Flow, Kind};
use kizami_model::{Family, Op, Shape};

const FUNCTION: u8 = 1;
const BARRIER: u8 = 15;
const ONE_TO_ALL: u8 = 23;
const ALL_TO_ONE: u8 = 24;
const ALL_TO_ALL: u8 = 25;
const OTHER_COLLECTIVE: u8 = 26;
const FILE_IO: u8 = 27;
const POINT_TO_POINT: u8 = 28;
const ONE_SIDED: u8 = 29;
const FILE_METADATA: u8 = 38;
/// The role of a region the program itself marked.
pub(super) const CODE: u8 = 4;

/// The role of a function (`OTF2_RegionRole`).
pub(super) fn role(op: Op) -> u8 {
    let Some(function) = op.function() else { return FUNCTION };
    match function.family {
        Family::Collective => collective_role(function.kind),
        Family::PointToPoint | Family::Completion => POINT_TO_POINT,
        Family::OneSided => ONE_SIDED,
        Family::Io if matches!(function.shape, Shape::ObjectIn | Shape::ObjectOut) => FILE_IO,
        Family::Io => FILE_METADATA,
        Family::Communicator if together(function.kind) => OTHER_COLLECTIVE,
        Family::Communicator | Family::Datatype | Family::Environment => FUNCTION,
    }
}

/// Whether the ranks of a communicator do something with it together.
fn together(kind: Kind) -> bool {
    let alone = [CommunicatorCall::Ask, CommunicatorCall::NewBetween];
    matches!(kind, Kind::Communicator(call) if !alone.contains(&call))
}

fn collective_role(kind: Kind) -> u8 {
    match kind {
        Kind::Collective(CollectiveKind::Barrier, _) => BARRIER,
        Kind::Collective(operation, _) => match operation.flow() {
            Flow::FromRoot => ONE_TO_ALL,
            Flow::ToRoot => ALL_TO_ONE,
            Flow::All => ALL_TO_ALL,
            Flow::Prefix | Flow::Neighbours => OTHER_COLLECTIVE,
        },
        _ => ALL_TO_ALL,
    }
}

/// The operation of a collective (`OTF2_CollectiveOp`). None for collectives among neighbours: OTF2 has no
/// name for them, and any other would make a reader wait for ranks that never took part.
pub(super) fn collective(op: Op) -> Option<u8> {
    let Kind::Collective(operation, _) = op.kind() else { return None };
    Some(match operation {
        CollectiveKind::Barrier => 0,
        CollectiveKind::Bcast => 1,
        CollectiveKind::Gather => 2,
        CollectiveKind::Gatherv => 3,
        CollectiveKind::Scatter => 4,
        CollectiveKind::Scatterv => 5,
        CollectiveKind::Allgather => 6,
        CollectiveKind::Allgatherv => 7,
        CollectiveKind::Alltoall => 8,
        CollectiveKind::Alltoallv => 9,
        CollectiveKind::Alltoallw => 10,
        CollectiveKind::Allreduce => 11,
        CollectiveKind::Reduce => 12,
        CollectiveKind::ReduceScatter => 13,
        CollectiveKind::Scan => 14,
        CollectiveKind::Exscan => 15,
        CollectiveKind::ReduceScatterBlock => 16,
        CollectiveKind::NeighborAllgather
        | CollectiveKind::NeighborAllgatherv
        | CollectiveKind::NeighborAlltoall
        | CollectiveKind::NeighborAlltoallv
        | CollectiveKind::NeighborAlltoallw => return None,
    })
}

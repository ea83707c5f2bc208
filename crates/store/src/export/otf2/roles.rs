//! What OTF2 calls the kinds of MPI functions.

use kizami_model::{Family, Function, Op, Shape};

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
        Family::Collective => collective_role(function),
        Family::PointToPoint | Family::Completion => POINT_TO_POINT,
        Family::OneSided => ONE_SIDED,
        Family::Io if matches!(function.shape, Shape::ObjectIn | Shape::ObjectOut) => FILE_IO,
        Family::Io => FILE_METADATA,
        Family::Communicator if function.shape_name.starts_with("comm_") => OTHER_COLLECTIVE,
        Family::Communicator | Family::Datatype | Family::Environment => FUNCTION,
    }
}

fn collective_role(function: &Function) -> u8 {
    match operation_name(function) {
        "barrier" => BARRIER,
        "bcast" | "scatter" | "scatterv" => ONE_TO_ALL,
        "gather" | "gatherv" | "reduce" => ALL_TO_ONE,
        "scan" | "exscan" => OTHER_COLLECTIVE,
        name if name.starts_with("neighbor") => OTHER_COLLECTIVE,
        _ => ALL_TO_ALL,
    }
}

/// The operation of a collective (`OTF2_CollectiveOp`). None for collectives among neighbours: OTF2 has no
/// name for them, and any other would make a reader wait for ranks that never took part.
pub(super) fn collective(op: Op) -> Option<u8> {
    Some(match operation_name(op.function()?) {
        "barrier" => 0,
        "bcast" => 1,
        "gather" => 2,
        "gatherv" => 3,
        "scatter" => 4,
        "scatterv" => 5,
        "allgather" => 6,
        "allgatherv" => 7,
        "alltoall" => 8,
        "alltoallv" => 9,
        "alltoallw" => 10,
        "allreduce" => 11,
        "reduce" => 12,
        "reduce_scatter" => 13,
        "scan" => 14,
        "exscan" => 15,
        "reduce_scatter_block" => 16,
        _ => return None,
    })
}

/// The operation, whether it blocks or not.
fn operation_name(function: &Function) -> &'static str {
    function.shape_name.rsplit(':').next().unwrap_or(function.shape_name)
}

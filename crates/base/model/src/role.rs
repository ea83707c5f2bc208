//! What an argument of an MPI function is for: the part of a call's meaning that does not depend on its values.
//!
//! Worked out from the names that the standard gives arguments and from the shape of the function, so that the table stays
//! the one place where a function is written down. Who looks at code instead of runs asks here which arguments say what is
//! communicated, which memory a call reads and writes, and which of that is payload.

use crate::function::{Argument, Function, Passing, Shape};

/// What an argument is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A number or a handle, by value.
    Value,
    /// Points to numbers, handles or text that the call reads: counts, dimensions, names.
    Read,
    /// Points to what the call writes: a new communicator, a rank, a flag.
    Written,
    /// Points to what the call reads and writes: requests, a datatype to be committed.
    Updated,
    /// Points to payload that leaves.
    DataOut,
    /// Points to room for payload that arrives.
    DataIn,
    /// Points to payload that leaves, and to room for what arrives.
    DataBoth,
    /// Points to room for statuses.
    Status,
    /// A function of the program.
    Callback,
    /// Says nothing about communication: hints.
    Hint,
}

impl Role {
    /// Whether the call reads the payload that the argument points to.
    pub fn reads_data(self) -> bool {
        matches!(self, Role::DataOut | Role::DataBoth)
    }

    /// Whether the call writes payload to where the argument points.
    pub fn writes_data(self) -> bool {
        matches!(self, Role::DataIn | Role::DataBoth)
    }

    /// Whether the argument is about payload.
    pub fn is_data(self) -> bool {
        self.reads_data() || self.writes_data()
    }
}

/// What the argument with this number is for.
pub fn role_of(function: &Function, number: usize) -> Role {
    let argument = &function.arguments[number];
    if argument.passing != Passing::Pointer {
        return if argument.name == "info" { Role::Hint } else { Role::Value };
    }
    data_role(function, argument).unwrap_or_else(|| pointer_role(function, argument.name))
}

/// The roles of pointers to payload.
fn data_role(function: &Function, argument: &Argument) -> Option<Role> {
    let role = match (function.shape, argument.name) {
        (Shape::Send, "buf") => Role::DataOut,
        (Shape::Receive, "buf") => Role::DataIn,
        (Shape::SendReceive, "buf") => Role::DataBoth,
        (Shape::Collective, "buffer") => Role::DataBoth,
        (_, "sendbuf" | "origin_addr" | "compare_addr" | "inbuf")
            if function.shape == Shape::ObjectIn && argument.name == "origin_addr" =>
        {
            Role::DataIn
        }
        (_, "sendbuf" | "origin_addr" | "compare_addr" | "inbuf") => Role::DataOut,
        (_, "recvbuf" | "result_addr" | "outbuf") => Role::DataIn,
        (_, "inoutbuf") => Role::DataBoth,
        (Shape::ObjectOut, "buf") => Role::DataOut,
        (Shape::ObjectIn, "buf") => Role::DataIn,
        (Shape::Object, "buf") => Role::DataBoth,
        _ => return None,
    };
    Some(role)
}

/// The roles of all other pointers.
fn pointer_role(function: &Function, name: &str) -> Role {
    match name {
        "status" if function.name == "MPI_Topo_test" => Role::Written,
        // Functions that look at a status are about the status, and are not given one to fill.
        "status" if function.name.contains("Get_") || function.name.contains("Status_get") => Role::Read,
        "status" if function.name == "MPI_Test_cancelled" => Role::Read,
        "status" if function.name.contains("Status_set") => Role::Updated,
        "status" | "array_of_statuses" => Role::Status,
        "array_of_requests" => Role::Updated,
        "request" if function.gives_request() => Role::Written,
        "request" | "message" => Role::Updated,
        "position" => Role::Updated,
        "dims" if function.name == "MPI_Dims_create" => Role::Updated,
        _ if name.ends_with("_fn") || name.ends_with("_function") || name.starts_with("cb_") => {
            Role::Callback
        }
        "comm" | "datatype" | "win" | "fh" | "group" | "op" | "info" | "errhandler" | "session" => {
            let changed = ["free", "disconnect", "commit", "close", "finalize"];
            let lower = function.name.to_ascii_lowercase();
            if changed.iter().any(|word| lower.contains(word)) { Role::Updated } else { Role::Written }
        }
        "argc" | "argv" => Role::Read,
        "base" | "extra_state" | "location" => Role::Hint,
        _ if is_read(function, name) => Role::Read,
        _ => Role::Written,
    }
}

/// Whether the function reads what an argument of this name points to.
fn is_read(function: &Function, name: &str) -> bool {
    let asks = ["_get", "_coords", "_neighbors", "Get_", "_query", "_map", "Test", "Wait"]
        .iter()
        .any(|word| function.name.contains(word));
    match name {
        "sendcounts"
        | "recvcounts"
        | "displs"
        | "sdispls"
        | "rdispls"
        | "sendtypes"
        | "recvtypes"
        | "remain_dims"
        | "array_of_blocklengths"
        | "array_of_displacements"
        | "array_of_types"
        | "array_of_gsizes"
        | "array_of_distribs"
        | "array_of_dargs"
        | "array_of_psizes"
        | "array_of_sizes"
        | "array_of_subsizes"
        | "array_of_starts"
        | "ranks1"
        | "ranges"
        | "filename"
        | "port_name"
        | "service_name"
        | "key"
        | "value"
        | "stringtag"
        | "pset_name"
        | "comm_name"
        | "win_name"
        | "type_name"
        | "datarep"
        | "command"
        | "array_of_commands"
        | "array_of_argv"
        | "array_of_maxprocs"
        | "array_of_info"
        | "degrees"
        | "weights"
        | "array_of_partitions"
        | "attribute_val" => !asks,
        "dims" | "periods" | "indx" | "edges" | "sources" | "destinations" | "sourceweights"
        | "destweights" | "ranks" => !asks || name == "dims" && function.name == "MPI_Cart_map",
        "coords" => function.name == "MPI_Cart_rank",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Op;

    fn roles(name: &str) -> Vec<(&'static str, Role)> {
        let function = Op::by_name(name).unwrap().function().unwrap();
        let of = |number: usize| (function.arguments[number].name, role_of(function, number));
        (0..function.arguments.len()).map(of).collect()
    }

    fn role(function: &str, argument: &str) -> Role {
        roles(function).into_iter().find(|(name, _)| *name == argument).unwrap().1
    }

    #[test]
    fn payload_and_its_description_are_distinguished() {
        assert_eq!(role("MPI_Isend", "buf"), Role::DataOut);
        assert_eq!(role("MPI_Isend", "count"), Role::Value);
        assert_eq!(role("MPI_Isend", "request"), Role::Written);
        assert_eq!(role("MPI_Recv", "status"), Role::Status);
        assert_eq!(role("MPI_Wait", "request"), Role::Updated);
        assert_eq!(role("MPI_Alltoallv", "sendcounts"), Role::Read);
        assert_eq!(role("MPI_Allreduce", "recvbuf"), Role::DataIn);
        assert_eq!(role("MPI_Bcast", "buffer"), Role::DataBoth);
        assert_eq!(role("MPI_Get", "origin_addr"), Role::DataIn);
        assert_eq!(role("MPI_Put", "origin_addr"), Role::DataOut);
    }

    #[test]
    fn objects_and_questions_about_them() {
        assert_eq!(role("MPI_Dims_create", "dims"), Role::Updated);
        assert_eq!(role("MPI_Cart_create", "dims"), Role::Read);
        assert_eq!(role("MPI_Cart_create", "comm_cart"), Role::Written);
        assert_eq!(role("MPI_Cart_get", "dims"), Role::Written);
        assert_eq!(role("MPI_Cart_coords", "coords"), Role::Written);
        assert_eq!(role("MPI_Cart_rank", "coords"), Role::Read);
        assert_eq!(role("MPI_Cart_shift", "rank_dest"), Role::Written);
        assert_eq!(role("MPI_Type_commit", "datatype"), Role::Updated);
        assert_eq!(role("MPI_Comm_free", "comm"), Role::Updated);
        assert_eq!(role("MPI_Comm_split", "newcomm"), Role::Written);
        assert_eq!(role("MPI_Get_count", "status"), Role::Read);
        assert_eq!(role("MPI_Get_count", "count"), Role::Written);
        assert_eq!(role("MPI_Group_incl", "ranks"), Role::Read);
        assert_eq!(role("MPI_Op_create", "user_fn"), Role::Callback);
        assert_eq!(role("MPI_Waitany", "indx"), Role::Written);
        assert_eq!(role("MPI_Win_allocate", "baseptr"), Role::Written);
    }
}

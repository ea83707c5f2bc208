//! What a program may call: functions of MPI that the stand-in has, functions of libraries that change nothing, and why not
//! the others.

use kizami_entry::outside;
use kizami_model::{Family, Op};

/// Why no rank can make calls of a function, if none can: its name, a colon, and a reason.
pub fn cannot_run(function: &str) -> Option<String> {
    if !function.starts_with("MPI_") {
        return outside::refusal(function);
    }
    if kizami_entry::entry(function).is_known() {
        return None;
    }
    let family = Op::by_name(function).and_then(|op| op.function()).map(|function| function.family);
    let later = ["_spawn", "_accept", "_connect", "_join", "_port"];
    let between = ["Intercomm", "_remote_"];
    let names = |words: &[&str]| words.iter().any(|word| function.contains(word));
    let why = match family {
        Some(Family::OneSided) => "windows and one-sided communication are not supported by the MPI stub",
        Some(Family::Io) => "MPI files are not supported by the MPI stub",
        _ if names(&later) => "dynamic processes are not supported by the MPI stub",
        _ if names(&between) => "inter-communicators are not supported by the MPI stub",
        _ => "the MPI stub has no such function",
    };
    Some(format!("{function}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_by_what_it_belongs_to() {
        for known in
            ["MPI_Send", "MPI_Imrecv", "MPI_Allreduce", "MPI_Cart_create", "MPI_Type_vector", "fopen", "sqrt"]
        {
            assert_eq!(cannot_run(known), None);
        }
        for (function, word) in [
            ("MPI_Win_create", "windows"),
            ("MPI_Put", "one-sided"),
            ("MPI_File_open", "files"),
            ("MPI_Comm_spawn", "processes"),
            ("MPI_Intercomm_create", "inter-communicators"),
            ("MPI_Comm_remote_size", "inter-communicators"),
            ("MPI_Psend_init", "no such function"),
            ("system", "other programs"),
            ("connect", "network"),
        ] {
            let why = cannot_run(function).expect("it cannot be run");
            assert!(why.starts_with(function) && why.contains(word), "{why}");
        }
    }
}

//! How functions are spoken of: as MPI, or as calls where some of them are the C library's.

use kizami_model::Op;

/// What these functions are, all together.
pub fn together<'a>(names: impl IntoIterator<Item = &'a String>) -> &'static str {
    if are_mpi(names) { "MPI" } else { "calls" }
}

/// Whether none of these functions is the C library's.
pub fn are_mpi<'a>(names: impl IntoIterator<Item = &'a String>) -> bool {
    names.into_iter().all(|name| function(name).is_none_or(|function| function.is_mpi()))
}

/// Whether this is the name of a function.
pub fn is_name(name: &str) -> bool {
    function(name).is_some()
}

fn function(name: &str) -> Option<&'static kizami_model::Function> {
    Op::by_name(name).and_then(Op::function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_on_files_make_it_calls() {
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        assert_eq!(together(&names(&["MPI_Send", "MPI_(unknown)"])), "MPI");
        assert_eq!(together(&names(&["MPI_Send", "write"])), "calls");
        assert!(is_name("write") && !is_name("computation before write"));
    }
}

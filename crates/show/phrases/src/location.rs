//! Where a call is made, as a part of a sentence.

use kizami_explain::SourceLine;

/// `MPI_Recv at solver.c:9`, `MPI_Recv in main` without debug information, or `MPI_Recv` if nothing is known.
pub fn call_at(function: &str, place: &SourceLine) -> String {
    if place.is_unknown() {
        return function.to_owned();
    }
    let word = if place.file.is_some() && place.line.is_some() { "at" } else { "in" };
    format!("{function} {word} {place}")
}

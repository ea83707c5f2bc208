//! What a table is about, by its title.

use crate::import::collectives::{Collective, Extent, blocking, nonblocking};

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Benchmark {
    PingPong,
    Stream,
    Blocking(Collective),
    Nonblocking(Collective),
    /// One-sided.
    Remote(Collective),
}

/// The title of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Title<'a> {
    /// As it stands there, with its version.
    pub text: &'a str,
}

/// The title in a line, if it is one.
pub(super) fn title(line: &str) -> Option<Title<'_>> {
    let text = line.strip_prefix('#')?.trim();
    text.starts_with("OSU ").then_some(Title { text })
}

/// Words that all titles have, or that carry no information.
const FILLING: &[&str] = &["osu", "mpi", "latency", "test", "personalized", "exchange"];

impl Title<'_> {
    /// What is measured; else why it has no place in a machine.
    pub(super) fn benchmark(&self) -> Result<Benchmark, &'static str> {
        let text = self.text.to_lowercase();
        let versioned =
            |word: &&str| word.starts_with('v') && word[1..].starts_with(|c: char| c.is_ascii_digit());
        let words: Vec<&str> = text.split_whitespace().filter(|word| !versioned(word)).collect();
        if words.get(1).is_some_and(|word| word.starts_with("mpi") && word.contains('-')) {
            return Err("it was measured with buffers of an accelerator");
        }
        let unknown = Err("a machine has no such measurement");
        let latency = words.contains(&"latency");
        let titled: Vec<&str> = words.iter().copied().filter(|word| !FILLING.contains(word)).collect();
        match titled[..] {
            [] if latency => Ok(Benchmark::PingPong),
            ["bandwidth"] => Ok(Benchmark::Stream),
            ["non-blocking", name] if latency => {
                nonblocking(&mpi_name(name)).map_or(unknown, |of| Ok(Benchmark::Nonblocking(of)))
            }
            [name] if latency => match remote(name) {
                Some(operation) => {
                    let of = Collective { operation: operation.to_owned(), extent: Extent::Whole };
                    Ok(Benchmark::Remote(of))
                }
                None => blocking(&mpi_name(name)).map_or(unknown, |of| Ok(Benchmark::Blocking(of))),
            },
            _ => unknown,
        }
    }
}

/// As MPI calls it.
fn mpi_name(name: &str) -> String {
    if name == "broadcast" { "bcast".to_owned() } else { name.replace("all-to-all", "alltoall") }
}

/// The one-sided function of a lower-case name.
fn remote(name: &str) -> Option<&'static str> {
    let known = [
        "MPI_Put",
        "MPI_Get",
        "MPI_Accumulate",
        "MPI_Get_accumulate",
        "MPI_Fetch_and_op",
        "MPI_Compare_and_swap",
    ];
    known.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<String> {
        Some(match title(line).unwrap().benchmark().ok()? {
            Benchmark::PingPong => "pingpong".to_owned(),
            Benchmark::Stream => "stream".to_owned(),
            Benchmark::Blocking(of) | Benchmark::Nonblocking(of) | Benchmark::Remote(of) => of.operation,
        })
    }

    #[test]
    fn titles_of_all_versions_are_recognised() {
        for (line, known) in [
            ("# OSU MPI Latency Test v5.6.2", "pingpong"),
            ("# OSU MPI Bandwidth Test v7.5", "stream"),
            ("# OSU MPI Broadcast Latency Test v6.2", "MPI_Bcast"),
            ("# OSU MPI All-to-All Personalized Exchange Latency Test", "MPI_Alltoall"),
            ("# OSU MPI All-to-Allw Personalized Exchange Latency Test v7.4", "MPI_Alltoallw"),
            ("# OSU MPI Non-blocking All-to-All Latency Test v5.3.2", "MPI_Ialltoall"),
            ("# OSU MPI Non-Blocking Broadcast Latency Test v5.8", "MPI_Ibcast"),
            ("# OSU MPI Non-blocking Reduce_scatter_block Latency Test v7.4", "MPI_Ireduce_scatter_block"),
            ("# OSU MPI_Put Latency Test v5.8", "MPI_Put"),
            ("# OSU MPI_Get latency Test v7.4", "MPI_Get"),
        ] {
            assert_eq!(of(line).as_deref(), Some(known), "{line}");
        }
    }

    #[test]
    fn what_has_no_place_is_not_taken_for_something_else() {
        for line in [
            "# OSU MPI Bi-Directional Bandwidth Test v7.4",
            "# OSU MPI Multi Latency Test v7.4",
            "# OSU MPI Multi-threaded Latency Test v5.8",
            "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4",
            "# OSU MPI_Put Bandwidth Test v7.4",
            "# OSU MPI Allreduce Persistent Latency Test v7.4",
            "# OSU MPI Neighborhood Allgather Latency Test v7.4",
            "# OSU MPI-CUDA Allreduce Latency Test v7.0",
            "# OSU MPI_Put-CUDA Latency Test v7.0",
            "# OSU MPI Init Test v5.6.2",
            "# OSU OpenSHMEM Broadcast Latency Test v5.8",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        assert_eq!(title("# Open source"), None);
    }
}

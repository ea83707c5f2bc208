//! What a table is about, by the name of its benchmark.

use crate::import::collectives::{Collective, Extent, blocking, nonblocking};
use crate::tables::Pattern;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Benchmark {
    /// Between two ranks, of this kind.
    Message(&'static str),
    /// Many messages, given as a rate.
    Stream,
    Collective(Collective, Pattern),
    /// Pure and overlapped in one row.
    Overlapped(Collective),
    /// One-sided.
    Remote(Collective),
}

/// The version of the benchmarks, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    year: u32,
    update: u32,
}

/// From this one on the size of a reduce-scatter is that of one rank's part; before, that of the whole vector.
const PARTS_SINCE: Version = Version { year: 2019, update: 1 };

impl Version {
    /// From a line such as `2019 Update 6, MPI-1 part` or `2021.3, MPI-1 part`.
    pub(super) fn of(text: &str) -> Option<Version> {
        let listed = text.split(',').next()?;
        let mut numbers = listed.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
        let year = numbers.next()?.parse().ok()?;
        let update = numbers.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        Some(Version { year, update })
    }
}

impl Benchmark {
    /// By its name; else why it has no place in a machine.
    pub(super) fn named(name: &str, version: Option<Version>) -> Result<Benchmark, &'static str> {
        let remote = |operation: &str| {
            Benchmark::Remote(Collective { operation: operation.to_owned(), extent: Extent::Whole })
        };
        Ok(match name {
            _ if name.starts_with("Multi-") => return Err("several groups were at work at once"),
            "PingPong" | "PingPongSpecificSource" => Benchmark::Message("pingpong"),
            "PingPing" | "PingPingSpecificSource" => Benchmark::Message("exchange"),
            "Uniband" => Benchmark::Stream,
            "Sendrecv" => {
                let operation = "MPI_Sendrecv".to_owned();
                Benchmark::Collective(Collective { operation, extent: Extent::Whole }, Pattern::Shift)
            }
            "Unidir_put" => remote("MPI_Put"),
            "Unidir_get" => remote("MPI_Get"),
            _ => return Benchmark::collective(&name.to_lowercase(), version),
        })
    }

    fn collective(name: &str, version: Option<Version>) -> Result<Benchmark, &'static str> {
        let pure = name.strip_suffix("_pure");
        let waiting = pure.unwrap_or(name);
        let known = match blocking(waiting) {
            Some(of) => Some((of, false)),
            None => waiting.strip_prefix('i').and_then(nonblocking).map(|of| (of, true)),
        };
        let Some((mut of, nonblocking)) = known else {
            return Err("a machine has no such measurement");
        };
        if waiting.contains("reduce_scatter") {
            of.extent = match version {
                Some(version) if version >= PARTS_SINCE => Extent::Part,
                Some(_) => Extent::Whole,
                None => {
                    return Err(
                        "the file does not say its version, and sizes mean different things by version",
                    );
                }
            };
        }
        Ok(if nonblocking && pure.is_none() {
            Benchmark::Overlapped(of)
        } else {
            Benchmark::Collective(of, Pattern::Plain)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_a_reduce_scatter_depend_on_the_version() {
        let extent = |version: &str| match Benchmark::named("Reduce_scatter", Version::of(version)) {
            Ok(Benchmark::Collective(of, _)) => Some(of.extent),
            _ => None,
        };
        assert_eq!(extent("4.0, MPI-1 part"), Some(Extent::Whole));
        assert_eq!(extent("2018 Update 1, MPI-1 part"), Some(Extent::Whole));
        assert_eq!(extent("2019, MPI-1 part"), Some(Extent::Whole));
        assert_eq!(extent("2019 Update 6, MPI-1 part"), Some(Extent::Part));
        assert_eq!(extent("2021.11, MPI-1 part"), Some(Extent::Part));
        assert_eq!(extent("unknown"), None);
    }

    #[test]
    fn names_are_distinguished() {
        let named = |name| Benchmark::named(name, None);
        let of = |name| nonblocking(name).unwrap();
        assert_eq!(named("Iallreduce"), Ok(Benchmark::Overlapped(of("allreduce"))));
        assert_eq!(named("Ialltoall_pure"), Ok(Benchmark::Collective(of("alltoall"), Pattern::Plain)));
        assert_eq!(named("PingPing"), Ok(Benchmark::Message("exchange")));
        for name in
            ["Exchange", "Multi-Allreduce", "Reduce_local", "Biband", "PingPongAnySource", "Bidir_put"]
        {
            assert!(named(name).is_err(), "{name}");
        }
    }
}

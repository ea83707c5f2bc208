//! The algorithms that a library can be forced to use for its collectives, and what they cost.
//!
//! They are set by variables in the environment of the launcher. Open MPI says itself which there are (`ompi_info`); of
//! MPICH the names are known, and it refuses those that its version does not have. In one run of the measuring program
//! every collective has an algorithm, so there are as many runs as the one with the most has. All are measured at the
//! same sizes, for they are to be compared. An algorithm that cannot do its collective on so many ranks ends the
//! program; then all of that run are tried alone, and failures are reported.

use super::plan::{Budget, Progress, sized_operation, sizes_up_to};
use super::session::{Answer, Here, Question, Session};
use super::statistics::summary;
use crate::machine::Machine;
use crate::tables::{CollectiveRow, Pattern};
use std::time::Instant;

/// Until the median is this sure: algorithms that differ by less are as good.
const TOLERANCE: f64 = 0.05;
const MOST_REPETITIONS: u64 = 300;
/// Sizes that are measured even if the time is used up.
const FEWEST_SIZES: usize = 2;

/// One algorithm of one collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// The MPI function.
    pub operation: &'static str,
    /// As it is kept: Open MPI's number and name, or MPICH's name.
    pub name: String,
    variable: String,
    value: String,
}

/// All algorithms of a library, and its other settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Algorithms {
    all: Vec<Algorithm>,
    always: Vec<(&'static str, &'static str)>,
}

/// Collectives as Open MPI and MPICH name them.
const COLLECTIVES: &[(&str, &str)] = &[
    ("MPI_Allreduce", "allreduce"),
    ("MPI_Bcast", "bcast"),
    ("MPI_Alltoall", "alltoall"),
    ("MPI_Allgather", "allgather"),
    ("MPI_Reduce", "reduce"),
    ("MPI_Barrier", "barrier"),
    ("MPI_Alltoallv", "alltoallv"),
    ("MPI_Allgatherv", "allgatherv"),
    ("MPI_Reduce_scatter", "reduce_scatter"),
    ("MPI_Reduce_scatter_block", "reduce_scatter_block"),
    ("MPI_Gather", "gather"),
    ("MPI_Scatter", "scatter"),
    ("MPI_Scan", "scan"),
    ("MPI_Exscan", "exscan"),
];

/// Algorithms of MPICH 4 and 5; versions that lack one refuse it.
const OF_MPICH: &[(&str, &[&str])] = &[
    ("allreduce", &["smp", "recursive_doubling", "reduce_scatter_allgather", "ring"]),
    ("bcast", &["smp", "binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"]),
    ("alltoall", &["brucks", "pairwise", "scattered"]),
    ("allgather", &["brucks", "recursive_doubling", "ring"]),
    ("allgatherv", &["brucks", "recursive_doubling", "ring"]),
    ("reduce", &["smp", "binomial", "reduce_scatter_gather"]),
    ("barrier", &["smp", "dissemination"]),
    ("reduce_scatter", &["pairwise", "recursive_doubling", "recursive_halving"]),
    ("reduce_scatter_block", &["pairwise", "recursive_doubling", "recursive_halving"]),
    ("scan", &["smp", "recursive_doubling"]),
];

impl Algorithms {
    /// Those of Open MPI, as `ompi_info --param coll tuned --level 9 --parsable` lists them.
    pub fn of_open_mpi(printed: &str) -> Algorithms {
        let mut all = Vec::new();
        for (operation, short) in COLLECTIVES {
            let variable = format!("coll_tuned_{short}_algorithm");
            let begin = format!("mca:coll:tuned:param:{variable}:enumerator:value:");
            for line in printed.lines().filter_map(|line| line.strip_prefix(&begin)) {
                // 0 is its own choice, which is what it is measured with anyway.
                if let Some((number, name)) = line.split_once(':')
                    && number != "0"
                {
                    let variable = format!("OMPI_MCA_{variable}");
                    let name = format!("{number} {}", name.trim());
                    all.push(Algorithm { operation, name, variable, value: number.to_owned() });
                }
            }
        }
        Algorithms { all, always: vec![("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")] }
    }

    /// Those of MPICH.
    pub fn of_mpich() -> Algorithms {
        let mut all = Vec::new();
        for (operation, short) in COLLECTIVES {
            let names = OF_MPICH.iter().filter(|(of, _)| of == short).flat_map(|(_, names)| names.iter());
            all.extend(names.map(|name| Algorithm {
                operation,
                name: (*name).to_owned(),
                variable: format!("MPIR_CVAR_{}_INTRA_ALGORITHM", short.to_uppercase()),
                value: (*name).to_owned(),
            }));
        }
        // Otherwise the device chooses, and what does not fit is replaced in silence.
        Algorithms {
            all,
            always: vec![
                ("MPIR_CVAR_DEVICE_COLLECTIVES", "none"),
                ("MPIR_CVAR_COLLECTIVE_FALLBACK", "error"),
            ],
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Which are set together: the first of each collective, the second of each, and so on.
    fn groups(&self) -> Vec<Vec<&Algorithm>> {
        let mut groups: Vec<Vec<&Algorithm>> = Vec::new();
        for algorithm in &self.all {
            let free =
                groups.iter_mut().find(|group| group.iter().all(|one| one.operation != algorithm.operation));
            match free {
                Some(group) => group.push(algorithm),
                None => groups.push(vec![algorithm]),
            }
        }
        groups
    }

    /// Measures all of them. `words` says how to start the measuring program with so many ranks.
    pub fn measure(
        &self,
        ranks: &[u32],
        budget: Budget,
        words: impl Fn(u32) -> Vec<String>,
        progress: &dyn Fn(Progress),
    ) -> Machine {
        let groups = self.groups();
        let mut machine = Machine::default();
        let whole = ranks.len() * groups.len();
        for (number, count) in ranks.iter().enumerate() {
            for (place, group) in groups.iter().enumerate() {
                let share = (number * groups.len() + place) as f64 / whole as f64;
                progress(Progress { share, ranks: *count, rows: machine.collectives.len() });
                let seconds = budget.seconds / whole as f64;
                let run =
                    Run { words: &words(*count), budget: Budget { seconds, ..budget }, always: &self.always };
                match run.measure(group) {
                    Ok(rows) => machine.collectives.extend(rows),
                    Err(_) => run.one_by_one(group, *count, &mut machine),
                }
            }
        }
        machine
    }
}

/// One number of ranks with some algorithms.
struct Run<'a> {
    words: &'a [String],
    budget: Budget,
    always: &'a [(&'static str, &'static str)],
}

impl Run<'_> {
    /// Each in a program of its own, since one of them may fail; failures are reported.
    fn one_by_one(&self, group: &[&Algorithm], ranks: u32, machine: &mut Machine) {
        let seconds = self.budget.seconds / group.len() as f64;
        let alone = Run { budget: Budget { seconds, ..self.budget }, ..*self };
        for algorithm in group {
            match alone.measure(&[algorithm]) {
                Ok(rows) => machine.collectives.extend(rows),
                Err(_) => machine.about.disturbed.push(format!(
                    "at {ranks} ranks: {} cannot be done by algorithm {}",
                    algorithm.operation, algorithm.name
                )),
            }
        }
    }

    fn measure(&self, group: &[&Algorithm]) -> Result<Vec<CollectiveRow>, crate::MachineError> {
        let forced = group.iter().map(|algorithm| (algorithm.variable.as_str(), algorithm.value.as_str()));
        let variables: Vec<(&str, &str)> = self.always.iter().copied().chain(forced).collect();
        let (mut session, here) = Session::start_quietly(self.words, &variables)?;
        let began = Instant::now();
        let asked: Vec<(&Algorithm, Vec<u64>)> = group
            .iter()
            .filter_map(|algorithm| {
                let sized = sized_operation(algorithm.operation)?;
                let sizes = sizes_up_to(sized, here.ranks, self.budget.largest_bytes);
                Some((*algorithm, ends_first(&sizes)))
            })
            .collect();
        let questions = asked.iter().map(|(_, sizes)| sizes.len()).sum::<usize>().max(1);
        let seconds = 0.8 * self.budget.seconds / questions as f64;
        let mut rows = Vec::new();
        for turn in 0.. {
            let this_turn: Vec<(&Algorithm, u64)> =
                asked.iter().filter_map(|(algorithm, sizes)| Some((*algorithm, *sizes.get(turn)?))).collect();
            let used_up = began.elapsed().as_secs_f64() > self.budget.seconds;
            if this_turn.is_empty() || turn >= FEWEST_SIZES && used_up {
                break;
            }
            let questions: Vec<Question> =
                this_turn.iter().map(|(algorithm, bytes)| question(algorithm, *bytes, seconds)).collect();
            for ((algorithm, bytes), answer) in this_turn.iter().zip(session.ask(&questions)?) {
                rows.extend(row(algorithm, *bytes, &here, &answer));
            }
        }
        session.end()?;
        Ok(rows)
    }
}

fn question(algorithm: &Algorithm, bytes: u64, seconds: f64) -> Question {
    Question {
        operation: algorithm.operation.to_owned(),
        pattern: Pattern::Plain.name().to_owned(),
        bytes,
        most_repetitions: MOST_REPETITIONS,
        seconds,
        tolerance: TOLERANCE,
    }
}

fn row(algorithm: &Algorithm, bytes: u64, here: &Here, answer: &Answer) -> Option<CollectiveRow> {
    let Answer::Row { first_ns, repetitions, spans_ns } = answer else { return None };
    let span = summary(spans_ns)?;
    Some(CollectiveRow {
        operation: algorithm.operation.to_owned(),
        pattern: Pattern::Plain.name().to_owned(),
        algorithm: Some(algorithm.name.clone()),
        bytes,
        ranks: here.ranks,
        nodes: Some(here.nodes),
        ranks_per_node: Some(here.ranks_per_node),
        span_ns: span.median,
        low_ns: span.low,
        high_ns: span.high,
        first_ns: *first_ns,
        repetitions: *repetitions,
        disturbed: None,
    })
}

/// Both ends, then what lies between, ever finer: whenever the time is used up, the whole range is covered.
fn ends_first(sizes: &[u64]) -> Vec<u64> {
    let mut order: Vec<u64> = sizes.first().into_iter().chain(sizes.last()).copied().collect();
    let mut stride = sizes.len().next_power_of_two();
    while stride > 0 {
        order.extend(sizes.iter().step_by(stride));
        stride /= 2;
    }
    let mut seen = Vec::new();
    order.retain(|bytes| {
        !seen.contains(bytes) && {
            seen.push(*bytes);
            true
        }
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_mpi_says_what_it_has() {
        let printed = "mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:0:ignore\n\
                    mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:4:ring\n\
                    mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:6:rabenseifner\n\
                    mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:1:basic_linear\n";
        let found = Algorithms::of_open_mpi(printed);
        let names: Vec<&str> = found.all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["4 ring", "6 rabenseifner", "1 basic_linear"]);
        assert_eq!(found.all[0].variable, "OMPI_MCA_coll_tuned_allreduce_algorithm");
        let together: Vec<usize> = found.groups().iter().map(Vec::len).collect();
        assert_eq!(together, [2, 1]);
        assert!(Algorithms::of_open_mpi("").is_empty());
    }

    #[test]
    fn sizes_cover_the_range_at_once() {
        assert_eq!(ends_first(&[4, 16, 64, 256, 1024]), [4, 1024, 64, 16, 256]);
        assert_eq!(ends_first(&[0]), [0]);
    }

    #[test]
    fn mpich_takes_names() {
        let found = Algorithms::of_mpich();
        let ring = found.all.iter().find(|one| one.operation == "MPI_Allgather" && one.name == "ring");
        assert_eq!(ring.map(|one| one.variable.as_str()), Some("MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM"));
    }
}

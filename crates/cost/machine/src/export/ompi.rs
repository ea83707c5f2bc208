//! Open MPI's rules for which algorithm it takes, by collective, number of ranks and size.
//!
//! A rule counts from its number of ranks and its size on, up to the next one. Sizes are those of Open MPI's decision
//! functions, which for most collectives are the bytes of a machine. Some of these functions do not look at the size of a
//! call: those collectives get one algorithm for all sizes, the one that is closest to the best in the mean.
//!
//! Fewer ranks than were measured are left to Open MPI's own choice; for more it goes on with the last rule.

use crate::error::MachineError;
use crate::machine::Machine;
use crate::tables::{CollectiveRow, Pattern};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Algorithms of this name are for two ranks and fail with more, but a rule holds for its number of ranks and all above.
const TWO_RANKS_ONLY: &str = "two_proc";

/// A collective as Open MPI counts it.
struct NumberedCollective {
    operation: &'static str,
    number: u32,
    /// Whether the choice depends on the size of a call.
    by_size: bool,
}

const NUMBERED: &[NumberedCollective] = &[
    NumberedCollective { operation: "MPI_Allgather", number: 0, by_size: true },
    NumberedCollective { operation: "MPI_Allgatherv", number: 1, by_size: true },
    NumberedCollective { operation: "MPI_Allreduce", number: 2, by_size: true },
    NumberedCollective { operation: "MPI_Alltoall", number: 3, by_size: true },
    NumberedCollective { operation: "MPI_Alltoallv", number: 4, by_size: false },
    NumberedCollective { operation: "MPI_Barrier", number: 6, by_size: false },
    NumberedCollective { operation: "MPI_Bcast", number: 7, by_size: true },
    NumberedCollective { operation: "MPI_Exscan", number: 8, by_size: false },
    NumberedCollective { operation: "MPI_Gather", number: 9, by_size: false },
    NumberedCollective { operation: "MPI_Reduce", number: 11, by_size: true },
    NumberedCollective { operation: "MPI_Reduce_scatter", number: 12, by_size: true },
    NumberedCollective { operation: "MPI_Reduce_scatter_block", number: 13, by_size: true },
    NumberedCollective { operation: "MPI_Scan", number: 14, by_size: false },
    NumberedCollective { operation: "MPI_Scatter", number: 15, by_size: false },
];

/// Algorithms with what they took.
type Times = Vec<(u32, f64)>;
/// From a size on, this algorithm.
type Rules = Vec<(u64, u32)>;

/// The rules for `--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE`: of all algorithms
/// that were measured, the fastest.
pub fn ompi_rules(machine: &Machine) -> Result<String, MachineError> {
    let mut rules: Vec<(&NumberedCollective, BTreeMap<u32, Rules>)> = Vec::new();
    for known in NUMBERED {
        let mut by_ranks = BTreeMap::new();
        for ranks in machine.ranks() {
            let sizes = sizes(machine, known, ranks);
            if !sizes.is_empty() {
                let chosen = if known.by_size { by_size(&sizes) } else { vec![(0, for_all_sizes(&sizes))] };
                by_ranks.insert(ranks, chosen);
            }
        }
        if !by_ranks.is_empty() {
            rules.push((known, by_ranks));
        }
    }
    if rules.is_empty() {
        return Err(MachineError::Measuring { what: no_numbers(machine) });
    }
    Ok(written(&rules))
}

/// The number of an algorithm that any number of ranks can take, with its name after it or not.
fn algorithm(row: &CollectiveRow) -> Option<u32> {
    let named = row.algorithm.as_deref().filter(|name| !name.ends_with(TWO_RANKS_ONLY))?;
    named.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// All algorithms by size. Where one row of a size was not disturbed, the disturbed ones do not count.
fn sizes(machine: &Machine, known: &NumberedCollective, ranks: u32) -> BTreeMap<u64, Times> {
    let mut quiet: BTreeMap<u64, Times> = BTreeMap::new();
    let mut disturbed = quiet.clone();
    for row in &machine.collectives {
        if row.operation == known.operation
            && row.ranks == ranks
            && row.pattern == Pattern::Plain.name()
            && let Some(number) = algorithm(row)
        {
            let kept = if row.disturbed.is_none() { &mut quiet } else { &mut disturbed };
            kept.entry(row.bytes).or_default().push((number, row.span_ns));
        }
    }
    let mut sizes: BTreeMap<u64, Times> = disturbed.into_iter().chain(quiet).collect();
    // Where some were not measured, the fastest of the others may not be the fastest.
    let most = sizes.values().map(Vec::len).max().unwrap_or(0);
    sizes.retain(|_, times| times.len() == most);
    sizes
}

/// The fastest at each size, written only where it changes.
fn by_size(sizes: &BTreeMap<u64, Times>) -> Rules {
    let mut rules: Rules = Vec::new();
    for (bytes, times) in sizes {
        let Some((fastest, _)) = times.iter().min_by(|one, other| one.1.total_cmp(&other.1)) else {
            continue;
        };
        match rules.last() {
            Some((_, before)) if before == fastest => {}
            Some(_) => rules.push((*bytes, *fastest)),
            // Open MPI has no algorithm for what is below the first rule, so it begins at nothing.
            None => rules.push((0, *fastest)),
        }
    }
    rules
}

/// The one that is, in the mean over all sizes, the fewest times longer than the fastest.
fn for_all_sizes(sizes: &BTreeMap<u64, Times>) -> u32 {
    let mut longer: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for times in sizes.values() {
        let fastest = times.iter().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min).max(1.0);
        for (number, ns) in times {
            let (sum, count) = longer.entry(*number).or_default();
            *sum += ns / fastest;
            *count += 1.0;
        }
    }
    // One that was measured at a few sizes only may be the fastest there by chance.
    let most = longer.values().map(|(_, count)| *count).fold(0.0, f64::max);
    let measured = longer.into_iter().filter(|(_, (_, count))| *count == most);
    measured.min_by(|one, other| one.1.0.total_cmp(&other.1.0)).map_or(0, |(number, _)| number)
}

fn written(rules: &[(&NumberedCollective, BTreeMap<u32, Rules>)]) -> String {
    let mut text =
        String::from("# The fastest algorithms that were measured, for coll_tuned_dynamic_rules_filename\n");
    // Writing into a text cannot fail.
    let _ = writeln!(text, "{} # collectives", rules.len());
    for (known, by_ranks) in rules {
        // Without a rule for fewer ranks, Open MPI takes the first one for them as well.
        let fewer = by_ranks.first_key_value().is_some_and(|(ranks, _)| *ranks > 2);
        let _ = writeln!(text, "{} # {}", known.number, known.operation);
        let _ = writeln!(text, "{} # numbers of ranks", by_ranks.len() + usize::from(fewer));
        if fewer {
            let _ = writeln!(
                text,
                "1 # ranks and more, not measured\n1 # sizes\n0 0 0 0 # Open MPI's own choice"
            );
        }
        for (ranks, rules) in by_ranks {
            let _ = writeln!(text, "{ranks} # ranks and more\n{} # sizes", rules.len());
            for (bytes, number) in rules {
                let _ = writeln!(text, "{bytes} {number} 0 0 # bytes and more, algorithm, fan, segment");
            }
        }
    }
    text
}

fn no_numbers(machine: &Machine) -> String {
    let named = machine.collectives.iter().find_map(|row| row.algorithm.as_deref());
    let found = match named {
        Some(name) => format!("its algorithms have no numbers of Open MPI, such as {name:?}"),
        None => "it does not say which algorithm a collective was done by".to_owned(),
    };
    format!(
        "this machine has nothing for Open MPI's rules: {found}. Measure it with \
         `kizami bench --algorithms` under Open MPI"
    )
}

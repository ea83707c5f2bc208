//! The work that a program counted, as a trace has it: how much there is before calls at each place.
//!
//! A program counts an amount between two calls; it belongs to the next one that takes part in communication, whose
//! computation it explains. The trace has the sum for each rank and mark, so every mark of a rank counts as its mean.

use crate::PredictError;
use crate::structure::takes_part;
use kizami_model::{Op, SpreadCount};
use kizami_trace::{RankSelection, SourceLine, Trace, WorkCount};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The function by which programs count work.
const COUNT_FUNCTION: &str = "MPI_Pcontrol";

/// By place of calls: how much work of each kind a rank has before one of them on average, kinds in the order of their names.
pub fn recorded_counts(trace: &Trace) -> Result<BTreeMap<String, Vec<f64>>, PredictError> {
    let definitions = trace.definitions()?;
    let given = |count: &&WorkCount| SpreadCount::of_name(&count.name).is_none();
    let counted = || definitions.counts.iter().filter(given);
    let names: BTreeSet<&str> = counted().map(|count| count.name.as_str()).collect();
    let numbers: FxHashMap<&str, usize> =
        names.iter().enumerate().map(|(number, name)| (*name, number)).collect();
    let mut marks: FxHashMap<(u32, u32), Vec<(usize, f64)>> = FxHashMap::default();
    for count in counted().filter(|count| count.times > 0) {
        if let Some(site) = count.callsite {
            let mean = count.amount as f64 / count.times as f64;
            marks.entry((count.rank.0, site)).or_default().push((numbers[count.name.as_str()], mean));
        }
    }
    let mut before: FxHashMap<Option<u32>, (u64, Vec<f64>)> = FxHashMap::default();
    let (counts_work, nothing) = (Op::by_name(COUNT_FUNCTION), vec![0.0; names.len()]);
    let (mut given, mut rank) = (nothing.clone(), None);
    if marks.is_empty() {
        return Ok(BTreeMap::new());
    }
    for call in trace.calls(RankSelection::All)? {
        let call = call?;
        if rank != Some(call.rank) {
            (given, rank) = (nothing.clone(), Some(call.rank));
        }
        if Some(call.op) == counts_work {
            let mark = call.callsite.and_then(|site| marks.get(&(call.rank.0, site)));
            mark.into_iter().flatten().for_each(|(name, mean)| given[*name] += mean);
        } else if takes_part(&call) {
            let (calls, sums) = before.entry(call.callsite).or_insert_with(|| (0, nothing.clone()));
            *calls += 1;
            sums.iter_mut().zip(&mut given).for_each(|(sum, given)| *sum += std::mem::take(given));
        }
    }
    let mut counts = BTreeMap::new();
    for (site, (calls, sums)) in before {
        if sums.iter().any(|sum| *sum > 0.0) {
            let means = sums.iter().map(|sum| sum / calls.max(1) as f64).collect();
            counts.insert(format!("{:#}", SourceLine::of(&definitions, site).of_any_caller()), means);
        }
    }
    Ok(counts)
}

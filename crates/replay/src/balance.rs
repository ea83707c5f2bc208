//! What would make ranks even: how much of its computation before some calls each of them should have.

use crate::setting::Factor;
use kizami_graph::{Graph, StepKind, Strand};

/// For each rank the factor that gives its computation before calls made at `sites` the mean length.
///
/// The mean is over ranks that made such calls. A rank that computed nothing before them has nothing that can be
/// made longer and keeps it; the others then have the mean all the same. With `without_tracer`, what the tracer took
/// does not count as computation.
pub fn balance(graph: &Graph, sites: &[u32], without_tracer: bool) -> Vec<Factor> {
    let ranks = graph.strands.iter().map(|strand| strand.rank.0 as usize + 1).max().unwrap_or(0);
    let mut computed_ns: Vec<Option<i64>> = vec![None; ranks];
    for strand in &graph.strands {
        if let Some(more_ns) = before(graph, strand, sites, without_tracer) {
            let computed_ns = &mut computed_ns[strand.rank.0 as usize];
            *computed_ns = Some(computed_ns.unwrap_or(0).saturating_add(more_ns));
        }
    }
    let known: Vec<f64> = computed_ns.iter().flatten().map(|ns| *ns as f64).collect();
    let mean_ns = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let factor = |computed_ns: &Option<i64>| match computed_ns {
        Some(ns) if *ns > 0 => Factor(mean_ns / *ns as f64),
        _ => Factor::default(),
    };
    computed_ns.iter().map(factor).collect()
}

/// Time a strand spent between calls, right before calls made at `sites`; none if it made no such calls.
fn before(graph: &Graph, strand: &Strand, sites: &[u32], without_tracer: bool) -> Option<i64> {
    let mut sum_ns: Option<i64> = None;
    let mut last_end_ns = None;
    let mut index = strand.first_step;
    loop {
        let step = &graph.steps[index as usize];
        if step.kind() != StepKind::Part {
            if step.site().is_some_and(|site| sites.contains(&site)) {
                let gap_ns = last_end_ns.map_or(0, |end_ns| step.start_ns.saturating_sub(end_ns)).max(0);
                let tracer_ns = if without_tracer { step.before_ns.clamp(0, gap_ns) } else { 0 };
                sum_ns = Some(sum_ns.unwrap_or(0).saturating_add(gap_ns - tracer_ns));
            }
            last_end_ns = Some(step.end_ns);
        }
        if step.next == 0 {
            return sum_ns;
        }
        index += u64::from(step.next);
    }
}

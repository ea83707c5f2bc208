//! What would make ranks even: how much of its computation before some calls each of them should have.

use crate::setting::Factor;
use kizami_graph::{Graph, StepKind, Strand};
use kizami_model::{Length, Moment};

/// For each rank the factor that gives its computation before calls made at `sites` the mean length.
///
/// The mean is over ranks that made such calls. A rank that computed nothing before them has nothing that can be
/// made longer and keeps it; the others then have the mean all the same. With `without_tracer`, what the tracer took
/// does not count as computation.
pub fn balance(graph: &Graph, sites: &[u32], without_tracer: bool) -> Vec<Factor> {
    let ranks = graph.strands.iter().map(|strand| strand.rank.0 as usize + 1).max().unwrap_or(0);
    let mut computed: Vec<Option<Length>> = vec![None; ranks];
    for strand in &graph.strands {
        if let Some(more) = before(graph, strand, sites, without_tracer) {
            let computed = &mut computed[strand.rank.0 as usize];
            *computed = Some(computed.unwrap_or_default().saturating_add(more));
        }
    }
    let known: Vec<f64> = computed.iter().flatten().map(|length| length.0 as f64).collect();
    let mean_ns = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let factor = |computed: &Option<Length>| match computed {
        Some(length) if *length > Length::ZERO => Factor(mean_ns / length.0 as f64),
        _ => Factor::default(),
    };
    computed.iter().map(factor).collect()
}

/// Time a strand spent between calls, right before calls made at `sites`; none if it made no such calls.
fn before(graph: &Graph, strand: &Strand, sites: &[u32], without_tracer: bool) -> Option<Length> {
    let mut sum: Option<Length> = None;
    let mut last_end: Option<Moment> = None;
    let mut index = strand.first_step;
    loop {
        let step = &graph.steps[index as usize];
        if step.kind() != StepKind::Part {
            if step.site().is_some_and(|site| sites.contains(&site)) {
                let gap = last_end.map_or(Length::ZERO, |end| step.start.saturating_since(end));
                let gap = gap.at_least_zero();
                let tracer = if without_tracer { step.before.clamp(Length::ZERO, gap) } else { Length::ZERO };
                sum = Some(sum.unwrap_or_default().saturating_add(gap - tracer));
            }
            last_end = Some(step.end);
        }
        if step.next == 0 {
            return sum;
        }
        index += u64::from(step.next);
    }
}

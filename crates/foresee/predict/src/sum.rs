//! The plain sum: local time of the slowest rank, and what its calls cost alone, added up.
//!
//! This is how T. Tanaka and others predicted data-parallel programs in 1997, and it is here for comparison. Local parts and
//! collectives are distinguished by the trace, sizes are those of the run, and a non-blocking collective is taken to be hidden
//! behind computation, all of it. It does not know that ranks wait for each other, so noise and imbalance are missing in it.

use kizami_graph::{Graph, Step, TieKind};
use kizami_model::kind::{Form, Kind};
use kizami_network::{MeasuredCosts, Messages};
use kizami_replay::work_interval::Borders;

/// How long the run takes by the plain sum, in seconds, with computation that takes so much longer than recorded.
pub fn sum_s(graph: &Graph, costs: &MeasuredCosts, computation: f64) -> f64 {
    let borders = Borders::new();
    let mut longest = [0.0f64; 2];
    for strand in &graph.strands {
        let mut both = [0.0f64; 2];
        let mut last = None;
        let mut index = strand.first_step as usize;
        loop {
            let step = &graph.steps[index];
            if let Some(last) = last {
                let gap = step.start.saturating_since(last) - step.before;
                both[0] += computation * gap.at_least_zero().0 as f64;
            }
            let border = borders.begins(step.op()) || borders.ends(step.op());
            if !border {
                both[1] += cost_ns(graph, step, costs);
            }
            last = Some(step.end);
            if step.next == 0 {
                break;
            }
            index += step.next as usize;
        }
        longest = [longest[0].max(both[0]), longest[1].max(both[1])];
    }
    (longest[0] + longest[1]) * 1e-9
}

/// What one call costs alone.
fn cost_ns(graph: &Graph, step: &Step, costs: &MeasuredCosts) -> f64 {
    let ties = graph.ties_of(step);
    if matches!(step.op().kind(), Kind::Collective(_, Form::NonBlocking)) {
        return 0.0;
    }
    if let Some(tie) = ties.iter().find(|tie| tie.kind().is_collective()) {
        let ranks = graph.members.sizes[tie.place() as usize];
        return costs.collective_ns(step.op(), ranks, tie.bytes()).map_or(0.0, |(ns, _)| ns);
    }
    let exchanges = matches!(step.op().kind(), Kind::SendReceive(_));
    let awaited = ties.iter().filter(|tie| tie.kind() == TieKind::Awaits).map(|tie| tie.bytes());
    let cost =
        |bytes| if exchanges { costs.messages.exchange_ns(bytes) } else { costs.messages.message_ns(bytes) };
    awaited.map(cost).fold(0.0, f64::max)
}

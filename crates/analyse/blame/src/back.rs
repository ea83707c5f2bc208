//! What a strand did before a step, call by call backwards.

use crate::arrivals::Arrival;
use crate::culprit::Doing;
use kizami_graph::{Graph, StepKind};
use kizami_model::Moment;

/// Goes back over what a strand did before the step that was waited for, as long as it was waited for. Tells each
/// piece: what it was, from when, until when, and the step: the call, or the one that computation leads up to.
pub(crate) fn look_back(
    graph: &Graph,
    late: Arrival,
    from: Moment,
    mut until: Moment,
    tell: &mut dyn FnMut(Doing, Moment, Moment, u64),
) {
    let first = graph.strands[late.strand as usize].first_step;
    let mut index = late.step;
    while until > from {
        let step = &graph.steps[index as usize];
        // Inside the step that was waited for: only if clocks disagree.
        until = until.min(step.start.max(from));
        let Some(before) = before(graph, index, first) else {
            return tell(Doing::Starting, from, until, index);
        };
        let last = &graph.steps[before as usize];
        let begin = last.end.max(from);
        if until > begin {
            tell(Doing::Computing(step.site()), begin, until, index);
            until = begin;
        }
        let begin = last.start.max(from);
        if until > begin {
            tell(Doing::Calling(last.op(), last.site()), begin, until, before);
            until = begin;
        }
        index = before;
    }
}

/// The call before a step of the same strand, whose first one is known.
pub fn before(graph: &Graph, mut index: u64, first: u64) -> Option<u64> {
    loop {
        // Steps of one rank lie together; those of its other threads are between.
        index = (first..index).rev().find(|before| {
            let step = &graph.steps[*before as usize];
            step.next > 0 && before + u64::from(step.next) == index
        })?;
        // Parts lie within the call before them, at its start.
        if graph.steps[index as usize].kind() != StepKind::Part {
            return Some(index);
        }
    }
}

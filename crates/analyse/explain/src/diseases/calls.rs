//! What calls of some kinds mean to those who wait for them, and rows of calls that follow each other closely.

use kizami_graph::{Graph, Step, StepKind, Strand};
use kizami_model::{Family, Length, Moment, Op};

/// Whether the call reads, writes, opens or closes a file.
pub(super) fn is_file_access(op: Op) -> bool {
    op.function().is_some_and(|function| function.family == Family::Io)
}

/// One call of a row.
#[derive(Clone, Copy)]
pub(super) struct InRow<'a> {
    pub index: u64,
    pub step: &'a Step,
    /// What is computed right before it.
    pub gap: Length,
}

/// Tells rows of calls, at least one, of a strand that belong together, and the call behind each row: `follows` says
/// whether a call goes on with the row that another one has begun.
pub(super) fn rows<'a>(
    graph: &'a Graph,
    strand: &Strand,
    belongs: impl Fn(&Step) -> bool,
    follows: impl Fn(&InRow<'a>, &InRow<'a>) -> bool,
    mut tell: impl FnMut(&[InRow<'a>], Option<InRow<'a>>),
) {
    let mut row: Vec<InRow<'a>> = Vec::new();
    let (mut index, mut last_end) = (strand.first_step, None::<Moment>);
    loop {
        let step = &graph.steps[index as usize];
        if step.kind() == StepKind::Call {
            let gap = last_end.map_or(Length::ZERO, |end| step.start.saturating_since(end).at_least_zero());
            let call = InRow { index, step, gap };
            let belongs = belongs(step);
            let goes_on = belongs && row.last().is_some_and(|last| follows(last, &call));
            if !goes_on && !row.is_empty() {
                tell(&row, Some(call));
                row.clear();
            }
            if belongs {
                row.push(call);
            }
        }
        if step.kind() != StepKind::Part {
            last_end = Some(step.end);
        }
        if step.next == 0 {
            break;
        }
        index += u64::from(step.next);
    }
    if !row.is_empty() {
        tell(&row, None);
    }
}

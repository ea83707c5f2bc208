//! What was taken out of a run, and how far to trust the rest.

use crate::show::quantity;
use kizami_model::Length;
use kizami_trace::run::Undisturbed;

/// What was recorded, what is left of it, and what was taken out by kind.
pub fn lines(undisturbed: &Undisturbed) -> Vec<(&'static str, String)> {
    let recorded_ns = undisturbed.recorded_ns;
    let error = format!(
        "+- {}, {} of the run",
        quantity::duration(Length(undisturbed.error_ns)),
        quantity::share(undisturbed.error_ns as f64, undisturbed.undisturbed_ns as f64)
    );
    let mut lines = vec![
        ("recorded", quantity::duration(Length(recorded_ns))),
        ("undisturbed", format!("{} {error}", quantity::duration(Length(undisturbed.undisturbed_ns)))),
    ];
    let kinds = undisturbed.removed.kinds().into_iter().filter(|(_, lost)| lost.total_ns > 0);
    lines.extend(kinds.map(|(kind, lost)| {
        let worst = lost.worst_rank.unwrap_or_default();
        let text = format!(
            "{} of {kind} over all ranks; most on rank {worst}: {}, {} of the run",
            quantity::duration(Length(lost.total_ns)),
            quantity::duration(Length(lost.worst_ns)),
            quantity::share(lost.worst_ns as f64, recorded_ns as f64)
        );
        ("taken out", text)
    }));
    if undisturbed.not_followed > 0 {
        let kept = quantity::counted(undisturbed.not_followed, "wait");
        lines.push(("not followed", format!("{kept} with unknown partner kept their duration")));
    }
    lines
}

//! What was compared, in words.

use kizami_execute::Checked;
use std::fmt::Write;

/// More differences than this are not told one by one: they are mostly the same.
const MOST_LISTED: usize = 5;

/// Whether all ranks do the same, and where the first of them do not.
pub fn text(checked: &Checked) -> String {
    let mut text = format!(
        "{} of {} ranks identical, {} calls compared\n",
        checked.identical, checked.ranks, checked.compared
    );
    for difference in checked.differences.iter().take(MOST_LISTED) {
        let _ = writeln!(text, "rank {}, call {}, {}:", difference.rank, difference.call, difference.place);
        let _ = writeln!(text, "  recorded {}", difference.recorded);
        let _ = writeln!(text, "  skeleton {}", difference.skeleton);
    }
    let left = checked.differences.len().saturating_sub(MOST_LISTED);
    if left > 0 {
        let _ = writeln!(text, "{left} more ranks differ; --json lists all");
    }
    text
}

//! How link contention was modelled, how far that may be off, and why SimGrid did not simulate it.

use crate::quantity::duration;
use kizami_model::Length;
use std::fmt::Display;

/// Why SimGrid did not: the user has chosen.
pub const NOT_ASKED_FOR: &str = "`--network phases` was requested; leave it out, or use `--network simgrid`";
/// Why SimGrid did not: it cannot under a launcher.
pub const SHARED: &str = "several processes share this replay; start kizami without the launcher";
/// A network that a platform would replace.
pub const REPLACES_THE_PLATFORM: &str =
    "--network recorded and --network ideal contradict --platform; give only one of them";
/// A way to share links without links.
pub const NEEDS_A_PLATFORM: &str = "--network auto, phases and simgrid model links, and need --platform";

/// Messages whose cost no run shows.
pub const MESSAGES_ASSUMED: &str = "assumed: 1 GB/s for messages, whose cost no run shows because ranks compute until they have \
     come; the interval covers 50 MB/s. `kizami bench` measures them: pass the result by --machine";

/// Why SimGrid did not: calls are not those of the run.
pub fn calls_changed(change: &impl Display) -> String {
    format!("SimGrid plays calls as recorded, without {change}")
}

/// How a replay modelled contention, and between which times the run lies.
pub fn modelled(by_simgrid: bool, accurate: bool, low: Length, high: Length) -> String {
    match (by_simgrid, accurate) {
        (true, _) => "contention simulated by SimGrid".to_owned(),
        (false, true) => {
            "shared fairly phase by phase, which agrees with SimGrid for messages between neighbours"
                .to_owned()
        }
        (false, false) => format!(
            "shared fairly phase by phase, which is inaccurate for collectives and uneven shares: the run may take {} .. {}",
            duration(low),
            duration(high)
        ),
    }
}

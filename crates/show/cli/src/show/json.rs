//! The forms of what `--json` prints. `docs/src/reference/json.md` describes all of them. `kizami info --json` prints the trace's `run.json`,
//! which has a schema of its own.

pub use kizami_terminal::json::{Versioned, line, print, print_as_is};

/// The forms, named like the commands that print them.
pub const CLOCKS: &str = "kizami-clocks/1";
pub const DIFF: &str = "kizami-diff/1";
pub const DOCTOR: &str = "kizami-doctor/1";
pub const EVENTS: &str = "kizami-events/1";
pub const MACHINES: &str = "kizami-machines/1";
pub const PLATFORM: &str = "kizami-platform/1";
pub const PREDICT: &str = "kizami-predict/1";
pub const PREDICT_CHECK: &str = "kizami-predict-check/1";
pub const PREDICT_SUM: &str = "kizami-predict-sum/1";
pub const REDUCE: &str = "kizami-reduce/1";
pub const REPLAY: &str = "kizami-replay/1";
pub const REPORT: &str = "kizami-report/1";
pub const TASKS: &str = "kizami-tasks/1";
pub const UNDISTURB: &str = "kizami-undisturb/1";
pub const WHATIF: &str = "kizami-whatif/1";

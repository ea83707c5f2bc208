//! What `kizami record` asked for, as it comes in `KIZAMI_TRACER_*` variables. All ranks have the same.

use kizami_model::counter;
use kizami_segment::WindowShape;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

/// The settings of this process.
#[derive(Debug, PartialEq)]
pub struct Settings {
    /// Bytes of trace this process may hold in memory; `None`: what recording needs, and no more.
    pub memory: Option<usize>,
    /// How it leaves memory.
    pub spill: Spill,
    /// How long ranks stop for it.
    pub suspension: Suspension,
    /// Whether ranks may talk to each other for the tracer's sake.
    pub talks: bool,
    /// Numbers of the counters to be read around each call.
    pub counters: Vec<usize>,
    /// How much is kept of what is recorded; `None`: all.
    pub keep: Option<Keep>,
    /// Whether calls of the C library on files are recorded, too.
    pub io: bool,
    /// Whether the functions that led to a call are recorded.
    pub paths: bool,
    /// What is recorded of OpenMP.
    pub openmp: OpenMp,
}

/// What is recorded of OpenMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMp {
    /// Nothing.
    Off,
    /// Parallel regions, and where their threads wait.
    Regions,
    /// Tasks as well, until recording them has cost so much of a thread's time, and more than a part of it; from then
    /// on they are counted.
    Auto(Duration),
    /// All tasks.
    Tasks,
}

/// How much recording tasks may cost a thread before the cost is checked.
const DEFAULT_GRACE: Duration = Duration::from_millis(250);

/// How what was recorded leaves memory while the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spill {
    /// It is written out as chunks get full, by a helper thread if there is a core for it.
    Background,
    /// All ranks stop together and write it out.
    Together,
    /// It does not: what does not fit is counted as lost.
    Never,
}

/// How long ranks stop when they stop together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspension {
    /// As long as it takes; clocks are compared anew each time.
    Dynamic,
    /// As long as it takes, by the clocks as they were at the start.
    Unmeasured,
    /// Always so long.
    Static(Duration),
}

/// How much is kept of what is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keep {
    /// How much.
    pub amount: Amount,
    /// The seed of the sampling keys: the same on all ranks.
    pub seed: u64,
    /// A thread with fewer calls keeps them all.
    pub all_below: u32,
}

/// An amount of what is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Part of the bytes that all of it would take.
    Fraction(f64),
    /// Bytes a second, for each thread.
    BytesPerSecond(f64),
}

impl Keep {
    /// `fraction:0.001` or `rate:10000`.
    fn parse(text: &str, seed: u64, all_below: u32) -> Option<Keep> {
        let (kind, number) = text.split_once(':')?;
        let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)?;
        let amount = match kind {
            "fraction" => Amount::Fraction(number),
            "rate" => Amount::BytesPerSecond(number),
            _ => return None,
        };
        Some(Keep { amount, seed, all_below })
    }
}

/// Smaller limits make no sense: a window has four chunks.
const LEAST_MEMORY: usize = 2 << 20;
/// Memory for a window that must hold everything until ranks meet, if not set.
const DEFAULT_MEMORY: usize = 64 << 20;
/// Chunks of a large window; more make chunks larger.
const MOST_CHUNKS: usize = 64;

/// The settings, read at the first call.
pub fn get() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| Settings::read(|name| std::env::var(name).ok()))
}

impl Settings {
    /// Settings that cannot be understood are as if not given: `kizami record` has checked them.
    fn read(variable: impl Fn(&str) -> Option<String>) -> Settings {
        let number = |name| variable(name)?.parse::<usize>().ok();
        let spill = match variable("KIZAMI_TRACER_SPILL").as_deref() {
            Some("together") => Spill::Together,
            Some("never") => Spill::Never,
            _ => Spill::Background,
        };
        let suspension = match variable("KIZAMI_TRACER_SUSPEND").as_deref() {
            Some("unmeasured") => Suspension::Unmeasured,
            Some(text) => text
                .strip_prefix("static:")
                .and_then(|nanoseconds| nanoseconds.parse().ok())
                .map_or(Suspension::Dynamic, |ns| Suspension::Static(Duration::from_nanos(ns))),
            None => Suspension::Dynamic,
        };
        Settings {
            memory: number("KIZAMI_TRACER_MEMORY").map(|bytes| bytes.max(LEAST_MEMORY)),
            spill,
            suspension,
            talks: variable("KIZAMI_TRACER_TALK").is_none_or(|value| value != "never"),
            counters: variable("KIZAMI_TRACER_COUNTERS")
                .map(|names| names.split(',').filter_map(counter::by_name).collect::<BTreeSet<_>>())
                .unwrap_or_default()
                .into_iter()
                .collect(),
            openmp: match variable("KIZAMI_TRACER_OPENMP").as_deref() {
                Some("off") => OpenMp::Off,
                Some("regions") => OpenMp::Regions,
                Some("tasks") => OpenMp::Tasks,
                text => {
                    let grace = text.and_then(|text| text.strip_prefix("auto:")?.parse().ok());
                    OpenMp::Auto(grace.map_or(DEFAULT_GRACE, Duration::from_millis))
                }
            },
            paths: variable("KIZAMI_TRACER_PATHS").is_none_or(|value| value != "off"),
            io: variable("KIZAMI_TRACER_IO").is_some_and(|value| value == "posix"),
            keep: variable("KIZAMI_TRACER_KEEP").and_then(|text| {
                Keep::parse(
                    &text,
                    variable("KIZAMI_TRACER_SEED").and_then(|seed| seed.parse().ok()).unwrap_or(0),
                    variable("KIZAMI_TRACER_KEEP_ALL_BELOW")
                        .and_then(|calls| calls.parse().ok())
                        .unwrap_or(0),
                )
            }),
        }
    }

    /// The window of the stream of the `thread`th thread. The first thread's may fill the memory there is;
    /// those of others stay small, and are drained by their own threads if need be.
    pub fn window(&self, thread: u32) -> WindowShape {
        if self.spill == Spill::Background || thread > 0 {
            return WindowShape::CALLS;
        }
        // An eighth is left for definitions and other threads.
        let bytes = self.memory.unwrap_or(DEFAULT_MEMORY) / 8 * 7;
        let mut chunk_bytes = WindowShape::CALLS.chunk_bytes;
        while bytes / chunk_bytes > MOST_CHUNKS && chunk_bytes < 4 << 20 {
            chunk_bytes *= 2;
        }
        WindowShape { chunks: (bytes / chunk_bytes).max(WindowShape::CALLS.chunks), chunk_bytes }
    }

    /// Bytes already written out that may stay in the system's cache; `None` for as many as it likes.
    pub fn cached_bytes(&self) -> Option<u64> {
        self.memory.map(|bytes| bytes as u64 / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        Settings::read(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_said_means_background() {
        let settings = settings(&[]);
        assert_eq!((settings.spill, settings.suspension), (Spill::Background, Suspension::Dynamic));
        assert_eq!((settings.memory, settings.talks, settings.io), (None, true, false));
        assert!(settings.paths);
        assert_eq!(settings.window(0), WindowShape::CALLS);
    }

    #[test]
    fn a_window_never_takes_more_than_there_is() {
        for megabytes in [2, 4, 16, 64, 100, 1000, 4096] {
            let text = (megabytes << 20).to_string();
            let settings = settings(&[("KIZAMI_TRACER_SPILL", "together"), ("KIZAMI_TRACER_MEMORY", &text)]);
            let window = settings.window(0);
            assert!(window.chunks * window.chunk_bytes <= megabytes << 20);
            assert!(window.chunks * window.chunk_bytes >= (megabytes << 20) / 2);
            assert!(window.chunks <= 1024);
            assert_eq!(settings.window(1), WindowShape::CALLS);
        }
    }

    #[test]
    fn what_to_keep_has_an_amount_and_a_seed() {
        let variables = [("KIZAMI_TRACER_KEEP", "fraction:0.001"), ("KIZAMI_TRACER_SEED", "7")];
        let amount = Amount::Fraction(0.001);
        assert_eq!(settings(&variables).keep, Some(Keep { amount, seed: 7, all_below: 0 }));
        assert_eq!(settings(&[("KIZAMI_TRACER_KEEP", "fraction:-1")]).keep, None);
        assert_eq!(settings(&[]).keep, None);
    }

    #[test]
    fn a_static_suspension_has_a_length() {
        let settings = settings(&[("KIZAMI_TRACER_SUSPEND", "static:40000000")]);
        assert_eq!(settings.suspension, Suspension::Static(Duration::from_millis(40)));
    }
}

//! Counters of the processor and the kernel that can be recorded with each call.

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// What people call it; as in `perf list`.
    pub name: &'static str,
    /// The column of what was counted inside a call.
    pub column: &'static str,
    /// The column of what was counted between the call before and this one.
    pub before_column: &'static str,
    /// `perf_event_attr.type` of Linux: 0 for the processor's own, 1 for the kernel's.
    pub kind: u32,
    /// `perf_event_attr.config` of Linux.
    pub config: u64,
}

macro_rules! counters {
    ($($name:literal $column:literal $kind:literal $config:literal),+ $(,)?) => {
        /// All counters; their numbers in raw traces are their places here.
        pub const COUNTERS: &[Counter] = &[$(Counter {
            name: $name,
            column: $column,
            before_column: concat!($column, "_before"),
            kind: $kind,
            config: $config,
        }),+];
    };
}

counters! {
    "cycles" "cycles" 0 0,
    "instructions" "instructions" 0 1,
    "cache-references" "cache_references" 0 2,
    "cache-misses" "cache_misses" 0 3,
    "branches" "branches" 0 4,
    "branch-misses" "branch_misses" 0 5,
    "task-clock" "task_clock_ns" 1 1,
    "page-faults" "page_faults" 1 2,
    "context-switches" "context_switches" 1 3,
    "cpu-migrations" "cpu_migrations" 1 4,
    "minor-faults" "minor_faults" 1 5,
    "major-faults" "major_faults" 1 6,
}

/// The number of the counter with this name.
pub fn by_name(name: &str) -> Option<usize> {
    COUNTERS.iter().position(|counter| counter.name == name)
}

//! The memory limit of commands that analyse traces.

use crate::show::style::Paint;
use crate::show::{self, quantity};
use anyhow::Result;
use clap::Args;
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;
use kizami_trace::derived::Scratch;

/// The option of all commands that analyse a trace in memory.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct MemoryArguments {
    /// Memory limit; larger data spills to temporary files [default: half of free memory]
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size, env = "KIZAMI_READ_MEMORY")]
    pub memory: Option<u64>,

    /// Processes of this host that share what is free, unless something was asked for.
    #[arg(skip = 1u64)]
    processes: u64,
}

impl MemoryArguments {
    /// The same for each of several processes of this host.
    pub fn of_each(self, processes: usize) -> MemoryArguments {
        MemoryArguments { processes: processes as u64, ..self }
    }

    /// From now on.
    pub fn stay_within(&self, trace: &Trace) -> Result<()> {
        let (beside, elsewhere) = (Scratch::beside(trace), std::env::temp_dir());
        let bytes = self.memory.unwrap_or_else(|| kizami_memory::half_of_free() / self.processes.max(1));
        let limited =
            kizami_memory::limit(bytes, beside.path()).or_else(|_| kizami_memory::limit(bytes, &elsewhere));
        match (limited, self.memory) {
            (Err(error), Some(_)) => {
                let message = format!(
                    "cannot enforce --memory: temporary files in {} would not save memory ({error}); set TMPDIR to a directory \
                     on a disk, or leave out --memory",
                    elsewhere.display()
                );
                Err(UsageError(message).into())
            }
            // Whoever asked for nothing gets memory as before.
            _ => Ok(()),
        }
    }
}

/// Says so if there was no room for files: then memory was taken after all.
pub fn warn_if_more_was_held() {
    let beyond = kizami_memory::beyond_limit();
    if beyond > 0 {
        let label = Paint::stderr().doubtful("kizami: warning:");
        let held = quantity::bytes(beyond);
        show::say(&[format!(
            "{label} used {held} more memory than --memory allows: temporary files could not be created next to the trace \
             (disk full, or a limit on files)"
        )]);
    }
}

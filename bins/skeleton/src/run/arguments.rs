//! What can be asked of `kizami skeleton run`.

use clap::Args;
use kizami_execute::{Noise, Setting};
use std::num::NonZero;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami skeleton run cg.skel --ranks 1000000
  kizami skeleton run cg.skel --ranks 4096 --like small.kz -o big.kz -- 1000
  kizami skeleton run cg.skel --ranks 64 --like small.kz --noise x2 -o noisy.kz
  kizami replay big.kz --machine cluster.kzm

Each rank executes the reduced program and makes its MPI calls; no rank computes or sends data. The
trace has all calls, the computation between them (with --like), and their dependencies. Messages
take no time in it: `kizami replay` adds the costs of a machine or a network.

A skeleton is executable code. Kizami executes it in a sandboxed process that can compute and read
files but cannot write files, start programs, use the network or signal other processes.";

/// Run a skeleton at any number of ranks and write its trace
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Skeleton to run
    #[arg(value_name = "X.skel")]
    pub skeleton: PathBuf,

    /// Number of ranks
    #[arg(short = 'n', long, value_name = "N")]
    pub ranks: NonZero<u32>,

    /// Recorded run to take computation times from; without it, computation takes no time
    #[arg(long, value_name = "SMALL.kz")]
    pub like: Option<PathBuf>,

    /// Unexplained variation of the recorded times: none omits it, recorded samples from it, x2 doubles it
    #[arg(long, value_name = "none|recorded|xN", default_value = "recorded", value_parser = parse_noise)]
    pub noise: Noise,

    /// Random seed of the noise
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Ranks per node, for programs that query it [default: all]
    #[arg(long, value_name = "N")]
    pub ranks_per_node: Option<NonZero<u32>>,

    /// Run all ranks at once and deliver their messages even if received data does not affect communication; receives
    /// then record the size of the message instead of the buffer
    #[arg(long)]
    pub together: bool,

    /// Values at a source line that depends on data: 12 (constant), 1x300,0 (300 times 1, then 0), or observed (as in the
    /// observed run with the nearest number of ranks); may be repeated
    #[arg(long = "set", value_name = "FILE:LINE=VALUES")]
    pub settings: Vec<Setting>,

    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<u32>>,

    /// Store identical ranks by rank class, one set of rows per class; auto: above 4,096 ranks; never with noise
    #[arg(long, value_name = "yes|no|auto", default_value = "auto", value_parser = parse_shared_rows)]
    pub kinds: SharedRows,

    /// Write the trace to BIG.kz, which must not exist; without it, calls are only counted
    #[arg(short, long, value_name = "BIG.kz")]
    pub output: Option<PathBuf>,

    /// Memory limit for all ranks together; a run that needs more fails [default: half of free memory]
    #[arg(long, value_name = "SIZE", value_parser = kizami_memory::parse_size)]
    pub memory: Option<u64>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    pub program_arguments: Vec<String>,
}

/// Whether ranks of a kind share their rows, if it is said.
#[derive(Clone, Copy, Debug)]
pub struct SharedRows(pub Option<bool>);

fn parse_shared_rows(text: &str) -> Result<SharedRows, String> {
    match text {
        "yes" => Ok(SharedRows(Some(true))),
        "no" => Ok(SharedRows(Some(false))),
        "auto" => Ok(SharedRows(None)),
        _ => Err("expected yes, no or auto".to_owned()),
    }
}

fn parse_noise(text: &str) -> Result<Noise, String> {
    let times = |number: &str| number.parse::<f64>().ok().filter(|times| times.is_finite() && *times >= 0.0);
    match text {
        "none" => Ok(Noise::None),
        "recorded" => Ok(Noise::Recorded),
        _ => text
            .strip_prefix('x')
            .and_then(times)
            .map(Noise::Times)
            .ok_or_else(|| "expected none, recorded, or a factor such as x2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_left_out_sampled_or_scaled() {
        let parsed = ["none", "recorded", "x2", "x0.5"].map(|text| parse_noise(text).unwrap());
        assert_eq!(parsed, [Noise::None, Noise::Recorded, Noise::Times(2.0), Noise::Times(0.5)]);
        for wrong in ["", "2", "x", "x-1", "xnan", "some"] {
            assert!(parse_noise(wrong).is_err(), "{wrong}");
        }
    }
}

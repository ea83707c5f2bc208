//! What can be asked of `kizami skeleton run`.

use clap::Args;
use clap::builder::FalseyValueParser;
use kizami_execute::{Noise, Setting};
use std::num::NonZero;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami skeleton run cg.skel --ranks 1000000
  kizami skeleton run cg.skel --ranks 4096 --like small.kz -o big.kz -- 1000
  kizami skeleton run cg.skel --ranks 64 --like small.kz --noise x2 -o noisy.kz
  kizami replay big.kz --machine cluster.kzm

Every rank runs what is left of the program and makes its MPI calls; none of them computes or sends
anything. The trace has all calls, how long is computed between them (with --like), and whom they wait
for. Messages cost nothing in it: `kizami replay` gives them the costs of a machine or a network.

A skeleton is a program, and running one runs its code: in a process of its own that can compute
and read files, and cannot write files, start programs, use the network or signal others.";

/// Run a skeleton at any number of ranks and write what they would do as a trace.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The skeleton
    #[arg(value_name = "X.skel")]
    pub skeleton: PathBuf,

    /// How many ranks
    #[arg(short = 'n', long, value_name = "N", env = "KIZAMI_SKELETON_RANKS")]
    pub ranks: NonZero<u32>,

    /// A recorded run of the program, which tells how long computation takes; without it, it takes no time
    #[arg(long, value_name = "SMALL.kz", env = "KIZAMI_SKELETON_LIKE")]
    pub like: Option<PathBuf>,

    /// What is made of the part of its times that nothing explains: none leaves it out, recorded draws from it, x2 makes
    /// it twice as large
    #[arg(long, value_name = "none|recorded|xN", default_value = "recorded", value_parser = parse_noise)]
    #[arg(env = "KIZAMI_SKELETON_NOISE")]
    pub noise: Noise,

    /// Which noise is drawn: the same for the same number
    #[arg(long, value_name = "N", default_value_t = 0, env = "KIZAMI_SKELETON_SEED")]
    pub seed: u64,

    /// Ranks of a node, for programs that ask [default: all]
    #[arg(long, value_name = "N", env = "KIZAMI_SKELETON_RANKS_PER_NODE")]
    pub ranks_per_node: Option<NonZero<u32>>,

    /// Run all ranks at once and hand their messages over, also where nothing they receive steers them: then they know the
    /// size of what arrives, and not only that of the buffer it arrives in
    #[arg(long, env = "KIZAMI_SKELETON_TOGETHER", value_parser = FalseyValueParser::new())]
    pub together: bool,

    /// What a place that depends on data gives: 12 each time, 1x300,0 for 300 times 1 and then 0, or observed for the values
    /// of the observed run whose number of ranks is nearest; may be given for several places
    #[arg(long = "set", value_name = "FILE:LINE=VALUES")]
    pub settings: Vec<Setting>,

    /// Threads to run ranks with; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", env = "KIZAMI_SKELETON_THREADS")]
    pub threads: Option<NonZero<u32>>,

    /// Rows of one rank for all that do the same at the same times: always, never, or where there are more than 4,096
    /// ranks; with noise never
    #[arg(long, value_name = "yes|no|auto", default_value = "auto", value_parser = parse_kinds)]
    #[arg(env = "KIZAMI_SKELETON_KINDS")]
    pub kinds: Kinds,

    /// Directory to make for the trace; it must not exist. Without it calls are only counted
    #[arg(short, long, value_name = "BIG.kz", env = "KIZAMI_SKELETON_OUTPUT")]
    pub output: Option<PathBuf>,

    /// Memory limit of all ranks together, where a run that needs more ends with an error [default: half of free memory]
    #[arg(long, value_name = "SIZE", value_parser = kizami_memory::parse_size, env = "KIZAMI_SKELETON_MEMORY")]
    pub memory: Option<u64>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,

    /// The program's own arguments
    #[arg(last = true, value_name = "ARGS")]
    pub program_arguments: Vec<String>,
}

/// Whether ranks of a kind share their rows, if it is said.
#[derive(Clone, Copy, Debug)]
pub struct Kinds(pub Option<bool>);

fn parse_kinds(text: &str) -> Result<Kinds, String> {
    match text {
        "yes" => Ok(Kinds(Some(true))),
        "no" => Ok(Kinds(Some(false))),
        "auto" => Ok(Kinds(None)),
        _ => Err("say yes, no or auto".to_owned()),
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
            .ok_or_else(|| "say none, recorded, or how many times as much, as in x2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_left_out_drawn_or_made_larger() {
        let parsed = ["none", "recorded", "x2", "x0.5"].map(|text| parse_noise(text).unwrap());
        assert_eq!(parsed, [Noise::None, Noise::Recorded, Noise::Times(2.0), Noise::Times(0.5)]);
        for wrong in ["", "2", "x", "x-1", "xnan", "some"] {
            assert!(parse_noise(wrong).is_err(), "{wrong}");
        }
    }
}

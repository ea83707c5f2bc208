//! The command line of `kizami fleng`.

use clap::Parser;
use kizami_fleng::Order;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami fleng reverse.fl 'numbers(30, L), naive(L, R)'
  kizami fleng reverse.fl 'numbers(30, L), naive(L, R)' -o naive.kz
  kizami fleng primes.fl 'primes(100, P)' --commit 2 --goal 1 --json

Each goal is a task. In virtual time a goal starts as soon as its inputs are bound.
Choosing a clause takes --commit units; creating a goal or binding a variable takes
--goal units. With -o, Kizami writes all tasks as a trace for `kizami tasks`. Exit
code 1 also means that goals hang: they wait for a variable that is never bound.";

/// Run a Fleng program in virtual time
#[derive(Debug, Parser)]
#[command(name = "kizami-fleng", bin_name = "kizami fleng", version, max_term_width = 100, after_help = HELP)]
pub struct Arguments {
    /// Fleng program to run
    #[arg(value_name = "PROGRAM.fl")]
    pub program: PathBuf,

    /// Goals to run, separated by commas
    #[arg(value_name = "QUERY")]
    pub query: String,

    /// Write the tasks as a trace
    #[arg(short, long, value_name = "NAME.kz")]
    pub output: Option<PathBuf>,

    /// Virtual time of choosing a clause
    #[arg(long, value_name = "UNITS", default_value_t = 1)]
    pub commit: u32,

    /// Virtual time of creating a goal or binding a variable
    #[arg(long, value_name = "UNITS", default_value_t = 1)]
    pub goal: u32,

    /// Scheduling order of goals: fifo, lifo, or random by SEED; virtual times do not depend on it
    #[arg(long, value_name = "fifo|lifo|SEED", default_value = "fifo", value_parser = parse_order)]
    pub order: Order,

    /// Maximum number of goals to run
    #[arg(long, value_name = "GOALS", default_value_t = 100_000_000)]
    pub budget: u64,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_order(text: &str) -> Result<Order, String> {
    match text {
        "fifo" => Ok(Order::Fifo),
        "lifo" => Ok(Order::Lifo),
        seed => seed
            .parse()
            .map(Order::Random)
            .map_err(|_| "expected fifo, lifo, or a number as random seed".to_owned()),
    }
}

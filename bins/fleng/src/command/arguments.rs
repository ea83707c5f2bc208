//! The command line of `kizami fleng`.

use clap::Parser;
use clap::builder::FalseyValueParser;
use kizami_fleng::Order;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami fleng reverse.fl 'numbers(30, L), naive(L, R)'
  kizami fleng reverse.fl 'numbers(30, L), naive(L, R)' -o naive.kz
  kizami fleng primes.fl 'primes(100, P)' --commit 2 --goal 1 --json

Every goal is a task. In virtual time it starts as soon as all it looks at is
there; choosing a clause takes --commit units, and each goal it makes or variable
it binds --goal units. With -o, all tasks are written as a trace, which `kizami
tasks` explains. Exit code 1 also means that goals wait for ever.";

/// Run a program of the language Fleng, in virtual time
#[derive(Debug, Parser)]
#[command(name = "kizami-fleng", bin_name = "kizami fleng", version, max_term_width = 100, after_help = HELP)]
pub struct Arguments {
    /// The program
    #[arg(value_name = "PROGRAM.fl")]
    pub program: PathBuf,

    /// What to run: goals with commas between them
    #[arg(value_name = "QUERY")]
    pub query: String,

    /// Write the tasks as a trace
    #[arg(short, long, value_name = "NAME.kz", env = "KIZAMI_FLENG_OUTPUT")]
    pub output: Option<PathBuf>,

    /// Units that choosing a clause takes
    #[arg(long, value_name = "UNITS", default_value_t = 1, env = "KIZAMI_FLENG_COMMIT")]
    pub commit: u32,

    /// Units that making a goal or binding a variable takes
    #[arg(long, value_name = "UNITS", default_value_t = 1, env = "KIZAMI_FLENG_GOAL")]
    pub goal: u32,

    /// Which goal runs next; virtual times do not depend on it
    #[arg(long, value_name = "fifo|lifo|SEED", default_value = "fifo", value_parser = parse_order, env = "KIZAMI_FLENG_ORDER")]
    pub order: Order,

    /// Give up after so many goals
    #[arg(long, value_name = "GOALS", default_value_t = 100_000_000, env = "KIZAMI_FLENG_BUDGET")]
    pub budget: u64,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

fn parse_order(text: &str) -> Result<Order, String> {
    match text {
        "fifo" => Ok(Order::Fifo),
        "lifo" => Ok(Order::Lifo),
        seed => seed.parse().map(Order::Random).map_err(|_| "fifo, lifo, or a number to draw by".to_owned()),
    }
}

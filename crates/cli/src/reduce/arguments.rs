//! What can be asked of `kizami reduce`.

use clap::Args;
use clap::builder::FalseyValueParser;
use kizami_store::reduced::Keep;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami reduce run.kz --keep 0.1% -o small.kz
  kizami reduce run.kz --keep 10KB/s -o small.kz
  kizami reduce run.kz --keep 0.1% --importance paper:h2 -o paper.kz

The result is a trace with rows for some calls. Rare and slow calls have theirs; each of the others
stands for as many as its weight says. Counts, times and bytes stay exact, by place, function, size,
duration and slice of time; so do messages between ranks and the order of all calls. Quantiles are
within 1 %. The same seed keeps the same messages on both sides and the same collectives on all ranks.";

/// Keep a small part of a trace: exact sums, some rows, and the order of all calls.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReduceArguments {
    /// The trace
    #[arg(value_name = "RUN.kz")]
    pub trace: PathBuf,

    /// How much: a part of what full records take, such as 0.1%, or bytes a second of each thread, such as 10KB/s
    #[arg(long, value_name = "MUCH", value_parser = parse_keep, env = "KIZAMI_KEEP")]
    pub keep: Wish,

    /// Directory to make for the result; it must not exist
    #[arg(short, long, value_name = "SMALL.kz", env = "KIZAMI_REDUCE_OUTPUT")]
    pub output: PathBuf,

    /// What chance is made from: the same seed keeps the same rows
    #[arg(long, value_name = "N", default_value_t = 1, env = "KIZAMI_SEED")]
    pub seed: u64,

    /// By what rows are chosen: classes, or as a paper does, to compare with: paper:one, paper:h or paper:h2
    #[arg(long, value_name = "HOW", default_value = "classes", value_parser = parse_importance)]
    #[arg(env = "KIZAMI_IMPORTANCE")]
    pub importance: Choice,

    /// With --importance paper: rows that are collected before some of them are drawn
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(env = "KIZAMI_PAPER_N")]
    pub paper_n: u32,

    /// With --importance paper: rows that are drawn of them [default: the part that --keep says]
    #[arg(long, value_name = "X", env = "KIZAMI_PAPER_X")]
    pub paper_x: Option<u32>,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}

/// How much to keep, and how it was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    pub keep: Keep,
    pub text: String,
}

/// By what rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Classes,
    PaperOne,
    PaperH,
    PaperH2,
}

fn parse_importance(text: &str) -> Result<Choice, String> {
    match text {
        "classes" => Ok(Choice::Classes),
        "paper:one" => Ok(Choice::PaperOne),
        "paper:h" => Ok(Choice::PaperH),
        "paper:h2" => Ok(Choice::PaperH2),
        _ => Err("use classes, paper:one, paper:h or paper:h2".to_owned()),
    }
}

/// A part such as `0.1%` or `0.001`, or a rate such as `10KB/s`.
pub fn parse_keep(text: &str) -> Result<Wish, String> {
    const WRONG: &str = "give a part such as 0.1% (not more than 100%), or a rate such as 10KB/s";
    let typed = text.trim();
    let number = |digits: &str| {
        let value = digits.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
        value.ok_or_else(|| WRONG.to_owned())
    };
    let keep = match (typed.strip_suffix("/s"), typed.strip_suffix('%')) {
        (Some(rate), _) => {
            let split = rate.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rate.len());
            let (digits, unit) = rate.split_at(split);
            let unit = match unit.trim().to_ascii_uppercase().as_str() {
                "" | "B" => 1.0,
                "K" | "KB" => 1e3,
                "M" | "MB" => 1e6,
                "G" | "GB" => 1e9,
                _ => return Err(WRONG.to_owned()),
            };
            Keep::BytesPerSecond(number(digits)? * unit)
        }
        (None, Some(percent)) => Keep::Fraction(number(percent)? / 100.0),
        (None, None) => Keep::Fraction(number(typed)?),
    };
    match keep {
        Keep::Fraction(part) if part > 1.0 => Err(WRONG.to_owned()),
        keep => Ok(Wish { keep, text: typed.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_rates_are_read() {
        let keep = |text: &str| parse_keep(text).map(|wish| wish.keep);
        assert_eq!(keep("0.1%"), Ok(Keep::Fraction(0.001)));
        assert_eq!(keep("0.001"), Ok(Keep::Fraction(0.001)));
        assert_eq!(keep("100 %"), Ok(Keep::Fraction(1.0)));
        assert_eq!(keep("10KB/s"), Ok(Keep::BytesPerSecond(10_000.0)));
        assert_eq!(keep(" 1.5 MB/s "), Ok(Keep::BytesPerSecond(1.5e6)));
        for wrong in ["", "all", "0%", "-1%", "101%", "2", "10KB", "10 miles/s", "nan%"] {
            assert!(keep(wrong).is_err(), "{wrong}");
        }
    }
}

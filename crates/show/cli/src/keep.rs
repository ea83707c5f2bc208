//! How much of a run to keep, and how rows are sampled, as typed: `all`, `0.1%`, `10KB/s`; `classes`, `paper:h2`.

use crate::show::quantity;
use clap::Args;
use kizami_reduced as reduced;
use kizami_reduced::{Importance, PaperImportance, PaperScheme, ReduceOptions};
use kizami_terminal::failure::UsageError;
use std::str::FromStr;

/// How much is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Keep {
    /// Every call.
    #[default]
    All,
    /// Less than that.
    Less(reduced::Keep),
}

impl Keep {
    /// How much, if not all.
    pub fn less(self) -> Option<reduced::Keep> {
        match self {
            Keep::All => None,
            Keep::Less(keep) => Some(keep),
        }
    }
}

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Keep, String> {
        const HINT: &str = "use all, a fraction such as 0.1%, or bytes per second and rank such as 10KB/s";
        let text = text.trim();
        if text == "all" {
            return Ok(Keep::All);
        }
        if let Some(percent) = text.strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| HINT.to_owned())?;
            return match percent {
                100.0 => Ok(Keep::All),
                percent if percent > 0.0 && percent < 100.0 => {
                    Ok(Keep::Less(reduced::Keep::Fraction(percent / 100.0)))
                }
                _ => Err("a fraction is more than 0 % and at most 100 %".to_owned()),
            };
        }
        match text.strip_suffix("/s").map(quantity::parse_size) {
            Some(Ok(bytes)) if bytes > 0 => Ok(Keep::Less(reduced::Keep::BytesPerSecond(bytes as f64))),
            _ => Err(HINT.to_owned()),
        }
    }
}

/// How rows are sampled.
#[derive(Debug, Default, Args)]
pub struct ImportanceArguments {
    /// How rows are sampled: classes, or one of the published schemes paper:one, paper:h and paper:h2
    #[arg(long, hide_short_help = true, value_name = "HOW", default_value = "classes", value_parser = parse_importance)]
    importance: Choice,

    /// With --importance paper: rows collected before sampling [default: 10000]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    paper_n: Option<u32>,

    /// With --importance paper: rows sampled from them [default: the fraction of --keep]
    #[arg(long, hide_short_help = true, value_name = "X", value_parser = clap::value_parser!(u32).range(1..))]
    paper_x: Option<u32>,
}

/// Rows that the published scheme collects.
const PAPER_N: u32 = 10_000;

/// How rows are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    #[default]
    Classes,
    Paper(PaperImportance),
}

/// As typed: `classes`, `paper:h2`.
pub fn parse_importance(text: &str) -> Result<Choice, String> {
    match PaperImportance::by_name(text) {
        Some(f) => Ok(Choice::Paper(f)),
        None if text == "classes" => Ok(Choice::Classes),
        None => Err("use classes, paper:one, paper:h or paper:h2".to_owned()),
    }
}

impl ImportanceArguments {
    /// The options of a reduction; nothing if all is to be kept.
    pub fn options(
        &self,
        keep: Keep,
        seed: u64,
        all_below: u64,
    ) -> Result<Option<ReduceOptions>, UsageError> {
        if self.importance == Choice::Classes && (self.paper_n.is_some() || self.paper_x.is_some()) {
            let message = "--paper-n and --paper-x need a published scheme; add --importance paper:h2, paper:h or \
                           paper:one";
            return Err(UsageError(message.to_owned()));
        }
        let keep = match (keep, self.importance) {
            (Keep::Less(keep), _) => keep,
            (Keep::All, Choice::Classes) => return Ok(None),
            (Keep::All, Choice::Paper(f)) => {
                let message = format!(
                    "--importance {} samples calls, and --keep all keeps them all; choose a fraction with --keep, such as \
                     0.1%",
                    f.name()
                );
                return Err(UsageError(message));
            }
        };
        let importance = match self.importance {
            Choice::Classes => Importance::Classes,
            Choice::Paper(f) => Importance::Paper(self.scheme(f, keep)?),
        };
        Ok(Some(ReduceOptions { keep, seed, importance, all_below }))
    }

    /// How many rows the published scheme samples of how many.
    fn scheme(&self, f: PaperImportance, keep: reduced::Keep) -> Result<PaperScheme, UsageError> {
        let n = self.paper_n.unwrap_or(PAPER_N);
        let x = match (self.paper_x, keep) {
            (Some(x), _) if x > n => {
                let message = format!("cannot sample --paper-x {x} of --paper-n {n} rows; give {n} or fewer");
                return Err(UsageError(message));
            }
            (Some(x), _) => x as usize,
            (None, reduced::Keep::Fraction(part)) => ((part * f64::from(n)).round() as usize).max(1),
            (None, reduced::Keep::BytesPerSecond(_)) => {
                let message =
                    "with --importance paper, give --keep as a fraction such as 0.1%, or give --paper-x";
                return Err(UsageError(message.to_owned()));
            }
        };
        Ok(PaperScheme { f, n: n as usize, x })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        text.parse::<Keep>().expect("good").less().map(|keep| keep.to_string())
    }

    #[test]
    fn shares_and_rates_are_understood() {
        assert_eq!("all".parse(), Ok(Keep::All));
        assert_eq!("0.1%".parse(), Ok(Keep::Less(reduced::Keep::Fraction(0.001))));
        assert_eq!("100 %".parse(), Ok(Keep::All));
        let texts = ["0.1%", "0.03 %", "all", "2K/s"].map(shown);
        assert_eq!(texts, [Some("0.1%"), Some("0.03%"), None, Some("2048B/s")].map(|t| t.map(str::to_owned)));
        assert_eq!("10K/s".parse(), Ok(Keep::Less(reduced::Keep::BytesPerSecond(10_240.0))));
        for wrong in ["", "0%", "-1%", "101%", "x%", "10", "0/s", "nan%"] {
            assert!(wrong.parse::<Keep>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_papers_x_is_the_part_that_is_kept_of_n() {
        let paper = |keep: &str, paper_n, paper_x| {
            let importance = Choice::Paper(PaperImportance::H);
            let arguments = ImportanceArguments { importance, paper_n, paper_x };
            let options = arguments.options(keep.parse().expect("good"), 7, 0).ok()??;
            let Importance::Paper(scheme) = options.importance else { return None };
            Some((scheme.n, scheme.x))
        };
        assert_eq!(paper("0.1%", None, None), Some((10_000, 10)));
        assert_eq!(paper("0.1%", Some(100), None), Some((100, 1)), "at least one");
        assert_eq!(paper("10K/s", Some(100), Some(3)), Some((100, 3)));
        assert_eq!((paper("10K/s", Some(100), None), paper("all", Some(100), Some(3))), (None, None));
        let classes = ImportanceArguments::default();
        assert!(matches!(classes.options(Keep::All, 1, 0), Ok(None)));
        assert!(parse_importance("paper").is_err() && parse_importance("h2").is_err());
    }

    #[test]
    fn what_would_be_left_out_is_refused() {
        let refused = |importance, paper_n, paper_x| {
            let arguments = ImportanceArguments { importance, paper_n, paper_x };
            arguments.options("1%".parse().expect("good"), 7, 0).err().map(|error| error.0)
        };
        let h = Choice::Paper(PaperImportance::H);
        assert_eq!(refused(h, Some(100), Some(100)), None);
        let too_many = refused(h, Some(100), Some(101)).expect("more than there are");
        assert_eq!(too_many, "cannot sample --paper-x 101 of --paper-n 100 rows; give 100 or fewer");
        assert!(refused(h, None, Some(10_001)).is_some(), "also of as many as the paper collects");
        for (paper_n, paper_x) in [(Some(100), None), (None, Some(10))] {
            let message = refused(Choice::Classes, paper_n, paper_x).expect("nothing would come of it");
            assert!(message.contains("--importance paper"), "{message}");
        }
    }
}

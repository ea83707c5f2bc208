//! What a user says about a place that depends on data: `cg.c:120=1x300,0`.

use kizami_entry::Runs;
use kizami_folder::Oracle;
use std::path::Path;
use std::str::FromStr;

/// What one place, or all in one line, give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    file: String,
    line: u32,
    /// What they give.
    pub to: SetTo,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetTo {
    /// These values; the last one stays.
    Values(Runs),
    /// As in the observed run whose number of ranks is nearest.
    Observed,
}

impl Setting {
    /// Whether it is about a place.
    pub fn is_about(&self, oracle: &Oracle) -> bool {
        oracle.line == self.line && Path::new(&oracle.file).ends_with(&self.file)
    }

    /// The line it is about.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let wrong = || {
            "expected FILE:LINE=12 (constant), FILE:LINE=1x300,0 (300 times 1, then 0) or \
             FILE:LINE=observed"
                .to_owned()
        };
        let (place, values) = text.rsplit_once('=').ok_or_else(wrong)?;
        let (file, line) = place.rsplit_once(':').ok_or_else(wrong)?;
        let line = line.parse().map_err(|_| wrong())?;
        let run = |word: &str| -> Option<(i64, u64)> {
            let (value, times) = word.split_once('x').unwrap_or((word, "1"));
            Some((value.trim().parse().ok()?, times.trim().parse().ok().filter(|times| *times > 0)?))
        };
        let to = match values {
            "observed" => SetTo::Observed,
            _ => SetTo::Values(values.split(',').map(run).collect::<Option<Runs>>().ok_or_else(wrong)?),
        };
        Ok(Setting { file: file.to_owned(), line, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_said_by_line() {
        let set = |text: &str| text.parse::<Setting>().map(|setting| (setting.place(), setting.to));
        assert_eq!(set("cg.c:120=12").unwrap(), ("cg.c:120".to_owned(), SetTo::Values(vec![(12, 1)])));
        assert_eq!(set("src/a.c:7=1x300,-2").unwrap().1, SetTo::Values(vec![(1, 300), (-2, 1)]));
        assert_eq!(set("a.c:7=observed").unwrap().1, SetTo::Observed);
        for wrong in ["", "a.c=1", "a.c:x=1", "a.c:7", "a.c:7=", "a.c:7=1x0", "a.c:7=some"] {
            assert!(set(wrong).is_err(), "{wrong}");
        }
    }
}

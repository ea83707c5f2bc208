//! Lines of the program as people name them, and the call sites there.

use kizami_trace::{CallSite, SourceLine};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A line of the program, such as `solver.c:88`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The end of the file's path.
    pub file: String,
    /// Its number.
    pub line: u32,
}

impl Line {
    /// That of a place, if it is known.
    pub fn of(place: &SourceLine) -> Option<Line> {
        Some(Line { file: place.file.clone()?, line: place.line? })
    }

    /// Whether this is meant: whole names of folders and files at the end of a path count.
    pub fn is_at(&self, file: &str, line: u32) -> bool {
        let before = file.strip_suffix(&self.file);
        line == self.line && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Reads `FILE:LINE`.
impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Line, String> {
        let parts = text.trim().rsplit_once(':').map(|(file, line)| (file, line.parse()));
        match parts {
            Some((file, Ok(line))) if !file.is_empty() => Ok(Line { file: file.to_owned(), line }),
            _ => Err("give a file and a line, such as solver.c:88".to_owned()),
        }
    }
}

/// No call was made at a line; says where calls were made instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCallThere(String);

/// Places named in the message about one that does not exist.
const PLACES_NAMED: usize = 8;

/// Call sites at a line. Calls on one line, or of one line inlined in several places, are several sites.
pub fn sites_at(line: &Line, sites: &[CallSite]) -> Result<Vec<u32>, NoCallThere> {
    let is_there = |site: &&CallSite| match (&site.file, site.line) {
        (Some(file), Some(number)) => line.is_at(file, number),
        _ => false,
    };
    let found: Vec<u32> = sites.iter().filter(is_there).map(|site| site.index).collect();
    if found.is_empty() { Err(NoCallThere(not_there(line, sites))) } else { Ok(found) }
}

/// Says where calls were made instead: in that file if there were any, else anywhere.
fn not_there(wanted: &Line, sites: &[CallSite]) -> String {
    let known = sites.iter().filter_map(|site| Some((site.file.as_deref()?, site.line?)));
    let (mut near, mut all) = (BTreeSet::new(), BTreeSet::new());
    for (file, line) in known {
        let name = file.rsplit('/').next().unwrap_or(file);
        all.insert((name, line));
        if (Line { file: wanted.file.clone(), line }).is_at(file, line) {
            near.insert((name, line));
        }
    }
    let places = if near.is_empty() { all } else { near };
    if places.is_empty() {
        return format!(
            "no call was made at {wanted}, as far as the trace knows: it has no lines. Build the program with -g \
             and record it again"
        );
    }
    let mut named: Vec<String> =
        places.iter().take(PLACES_NAMED).map(|(file, line)| format!("{file}:{line}")).collect();
    if places.len() > PLACES_NAMED {
        named.push("...".to_owned());
    }
    format!("no call was made at {wanted}; calls were made at {}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(index: u32, file: Option<&str>, line: u32) -> CallSite {
        CallSite {
            index,
            offset: 0,
            module: None,
            function: "main".to_owned(),
            file: file.map(str::to_owned),
            line: Some(line),
            inlined_into: Vec::new(),
        }
    }

    fn line(file: &str, line: u32) -> Line {
        Line { file: file.to_owned(), line }
    }

    #[test]
    fn places_are_lines_of_files() {
        let line = line("src/solver.c", 88);
        assert_eq!("src/solver.c:88".parse(), Ok(line.clone()));
        assert!(line.is_at("/home/me/src/solver.c", 88) && line.is_at("src/solver.c", 88));
        assert!(!line.is_at("/home/me/mysrc/solver.c", 88) && !line.is_at("src/solver.c", 89));
        for wrong in ["solver.c", "solver.c:", ":88", "solver.c:x"] {
            assert!(wrong.parse::<Line>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_may_have_several_sites() {
        let sites = [site(0, Some("/a/x.c"), 3), site(1, None, 3), site(2, Some("/b/x.c"), 3)];
        assert_eq!(sites_at(&line("x.c", 3), &sites).unwrap(), [0, 2]);
        assert_eq!(sites_at(&line("b/x.c", 3), &sites).unwrap(), [2]);
    }

    #[test]
    fn a_place_without_calls_says_where_there_are_some() {
        let sites = [site(0, Some("/a/x.c"), 3), site(1, Some("/a/y.c"), 9)];
        let said = |wanted| sites_at(&wanted, &sites).unwrap_err().0;
        assert_eq!(said(line("x.c", 4)), "no call was made at x.c:4; calls were made at x.c:3");
        assert!(said(line("z.c", 4)).ends_with("calls were made at x.c:3, y.c:9"));
        assert!(sites_at(&line("x.c", 3), &[]).unwrap_err().0.contains("-g"));
    }
}

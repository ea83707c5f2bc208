//! Locations in the program as reports print them, and the call sites there.

use crate::values::ValueError;
use kizami_trace::{CALLED_FROM, CallSite, Definitions, PathFrame, SourceLine};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Where calls are made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A source line, such as `solver.c:88`.
    Line {
        /// The end of the file's path.
        file: String,
        /// Its number.
        line: u32,
    },
    /// Anything else that a report prints: a function, a function and its file, or a module and an offset.
    Function(String),
    /// Calls at the first of them with the second on their path.
    CalledFrom(Box<Location>, Box<Location>),
}

/// Stands between a location and a caller, where [`CALLED_FROM`] would have to be quoted.
const CALLER: char = '^';

impl Location {
    /// That of a place, if it names exactly the calls of that place: a source line, or an address in a module. A function
    /// may make calls of other places, too.
    pub fn of(place: &SourceLine) -> Option<Location> {
        let location = match (&place.file, place.line) {
            (Some(file), Some(line)) => Location::Line { file: file.clone(), line },
            (None, None) if place.function.contains("+0x") => Location::Function(place.function.clone()),
            _ => return None,
        };
        match &place.caller {
            None => Some(location),
            Some(caller) => {
                let caller = Location::of(caller).or_else(|| Location::of_function(caller))?;
                Some(Location::CalledFrom(Box::new(location), Box::new(caller)))
            }
        }
    }

    /// The function of a place; none if its name is no single word, as the value of an option is.
    pub fn of_function(place: &SourceLine) -> Option<Location> {
        let name = place.short_function();
        (!name.contains([' ', ',', '=', '@', CALLER, '('])).then_some(Location::Function(name))
    }

    /// Whether calls of a site are made from here. Whole names of directories and files at the end of a path count.
    pub fn contains(&self, site: &CallSite, definitions: &Definitions) -> bool {
        match self {
            Location::CalledFrom(place, caller) => {
                place.contains(site, definitions) && caller.is_caller_of(site, definitions)
            }
            _ => self.names(&SourceLine::from(site), site.file.as_deref()),
        }
    }

    /// Whether calls of a site are made from here, or from functions that are called here.
    pub fn leads_to(&self, site: &CallSite, definitions: &Definitions) -> bool {
        self.contains(site, definitions) || self.is_caller_of(site, definitions)
    }

    fn is_caller_of(&self, site: &CallSite, definitions: &Definitions) -> bool {
        let is_inlined_into = |functions: &[String]| {
            functions.iter().any(|function| self.names(&SourceLine::in_function(function), None))
        };
        let calls = |frame: &PathFrame| {
            self.names(&SourceLine::from(frame), frame.file.as_deref())
                || is_inlined_into(&frame.inlined_into)
        };
        is_inlined_into(&site.inlined_into) || definitions.callers(site.path).any(calls)
    }

    /// Whether it is this place, in the file with this path.
    fn names(&self, place: &SourceLine, path: Option<&str>) -> bool {
        match self {
            Location::Line { file, line } => {
                let before = path.and_then(|path| path.strip_suffix(file.as_str()));
                place.line == Some(*line)
                    && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
            }
            Location::Function(name) => {
                [place.to_string(), format!("{place:#}"), place.short_function(), place.function.clone()]
                    .contains(name)
            }
            Location::CalledFrom(inner, _) => inner.names(place, path),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Line { file, line } => write!(f, "{file}:{line}"),
            Location::Function(name) => f.write_str(name),
            Location::CalledFrom(place, caller) => write!(f, "{place}{CALLER}{caller}"),
        }
    }
}

/// Reads `FILE:LINE`, or anything else as the name of a function; of either, only calls from a caller, behind `^` or an arrow.
impl FromStr for Location {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Location, ValueError> {
        let text = text.trim();
        if let Some((place, caller)) = text.split_once(CALLED_FROM).or_else(|| text.split_once(CALLER)) {
            if caller.contains([CALLER, '<']) {
                return Err(ValueError::new("give one caller, such as sum.c:5^solver.c:88"));
            }
            let [place, caller] = [place, caller].map(|text| text.parse().map(Box::new));
            return Ok(Location::CalledFrom(place?, caller?));
        }
        let parts = text.rsplit_once(':').map(|(file, line)| (file, line.parse()));
        match parts {
            Some((file, Ok(line))) if !file.is_empty() => Ok(Location::Line { file: file.to_owned(), line }),
            _ if text.is_empty() || text.ends_with(':') || text.starts_with(':') => {
                Err(ValueError::new("give a source line such as solver.c:88, a function, or MODULE+OFFSET"))
            }
            _ => Ok(Location::Function(text.to_owned())),
        }
    }
}

/// No call was made at a location; says where calls were made instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCallThere(String);

/// Locations named in the message about one that does not exist.
const LOCATIONS_NAMED: usize = 8;

/// Call sites at a location. Calls on one line, of one line inlined in several functions, or by several paths are several
/// sites.
pub fn sites_at(location: &Location, definitions: &Definitions) -> Result<Vec<u32>, NoCallThere> {
    those(location, definitions, |site| location.contains(site, definitions))
}

/// Call sites with a location on their path.
pub fn sites_below(location: &Location, definitions: &Definitions) -> Result<Vec<u32>, NoCallThere> {
    those(location, definitions, |site| location.leads_to(site, definitions))
}

fn those(
    location: &Location,
    definitions: &Definitions,
    belongs: impl Fn(&CallSite) -> bool,
) -> Result<Vec<u32>, NoCallThere> {
    // Calls that are alike are calls of the first such site.
    let alike = definitions.alike_sites();
    let first = |site: &CallSite| alike.get(site.index as usize).copied();
    let named: Vec<CallSite> = definitions.named_sites().collect();
    let firsts: BTreeSet<u32> = named.iter().filter(|site| belongs(site)).filter_map(first).collect();
    let with_those = named.iter().filter(|site| first(site).is_some_and(|first| firsts.contains(&first)));
    let found: Vec<u32> = with_those.map(|site| site.index).collect();
    if found.is_empty() { Err(NoCallThere(not_there(location, definitions))) } else { Ok(found) }
}

/// Says where calls were made instead: in that file if there were any, else anywhere.
fn not_there(wanted: &Location, definitions: &Definitions) -> String {
    let file = match wanted {
        Location::CalledFrom(place, _) => place,
        _ => wanted,
    };
    let in_file = |site: &&CallSite| match (file, site.line) {
        (Location::Line { file, .. }, Some(line)) => {
            Location::Line { file: file.clone(), line }.contains(site, definitions)
        }
        _ => false,
    };
    let sites: Vec<CallSite> = definitions.named_sites().collect();
    let printed = |site: &CallSite| SourceLine::of(definitions, Some(site.index)).to_string();
    let near: BTreeSet<String> = sites.iter().filter(in_file).map(printed).collect();
    let places = if near.is_empty() { sites.iter().map(printed).collect() } else { near };
    if places.is_empty() {
        return format!("no call was made at {wanted}: the trace has no call sites");
    }
    let mut named: Vec<&str> = places.iter().take(LOCATIONS_NAMED).map(String::as_str).collect();
    if places.len() > LOCATIONS_NAMED {
        named.push("...");
    }
    let hint = if matches!(file, Location::Line { .. }) && sites.iter().all(|site| site.line.is_none()) {
        "; for source lines, build the program with -g and record it again"
    } else {
        ""
    };
    format!("no call was made at {wanted}; calls were made at {}{hint}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(index: u32, function: &str, file: Option<&str>, line: Option<u32>) -> CallSite {
        CallSite {
            index,
            offset: 0,
            module: None,
            function: function.to_owned(),
            file: file.map(str::to_owned),
            line,
            inlined_into: Vec::new(),
            path: None,
        }
    }

    fn in_file(index: u32, file: &str, line: u32) -> CallSite {
        site(index, "main", Some(file), Some(line))
    }

    fn defining<const N: usize>(callsites: [CallSite; N]) -> Definitions {
        Definitions { callsites: callsites.into(), ..Definitions::default() }
    }

    fn line(file: &str, line: u32) -> Location {
        Location::Line { file: file.to_owned(), line }
    }

    #[test]
    fn a_source_line_matches_the_end_of_a_path() {
        let location = line("src/solver.c", 88);
        assert_eq!("src/solver.c:88".parse(), Ok(location.clone()));
        let contains = |site: &CallSite| location.contains(site, &Definitions::default());
        assert!(contains(&in_file(0, "/home/me/src/solver.c", 88)));
        assert!(contains(&in_file(0, "src/solver.c", 88)));
        assert!(!contains(&in_file(0, "/home/me/mysrc/solver.c", 88)));
        assert!(!contains(&in_file(0, "src/solver.c", 89)));
        for wrong in ["", "solver.c:", ":88"] {
            assert!(wrong.parse::<Location>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_printed_location_is_accepted() {
        let template = "void halo::exchange<double>(Grid const&)";
        let definitions = defining([
            in_file(0, "/a/x.c", 3),
            site(1, template, Some("/a/y.cc"), None),
            site(2, "libhalo.so+0x1f3", None, None),
        ]);
        for site in 0..3 {
            let place = SourceLine::of(&definitions, Some(site));
            let wanted: Location = place.to_string().parse().unwrap();
            assert_eq!(sites_at(&wanted, &definitions), Ok(vec![site]), "{place}");
        }
        for name in ["halo::exchange", template] {
            assert_eq!(sites_at(&name.parse().unwrap(), &definitions), Ok(vec![1]), "{name}");
        }
    }

    #[test]
    fn functions_on_the_path_lead_to_a_call() {
        let frame = |index: u32, function: &str, inlined_into: &[&str]| PathFrame {
            index,
            caller: index.checked_sub(1),
            offset: 0,
            module: None,
            function: function.to_owned(),
            file: Some("/a/x.cc".to_owned()),
            line: Some(10 + index),
            inlined_into: inlined_into.iter().copied().map(str::to_owned).collect(),
        };
        let paths = vec![frame(0, "run(int)", &["main"]), frame(1, "solve", &[]), frame(2, "assemble", &[])];
        let on_path = |index, path| CallSite { path, ..site(index, "dot", None, None) };
        let callsites = vec![on_path(0, Some(1)), on_path(1, Some(2)), on_path(2, None)];
        let definitions = Definitions { callsites, paths, ..Definitions::default() };
        let below = |name: &str| sites_below(&name.parse().unwrap(), &definitions).unwrap_or_default();
        for (name, sites) in [
            ("dot", &[0, 1, 2][..]),
            ("solve", &[0, 1]),
            ("run", &[0, 1]),
            ("main", &[0, 1]),
            ("x.cc:12", &[1]),
            ("nowhere", &[]),
        ] {
            assert_eq!(below(name), sites, "{name}");
        }
        // The same function, by way of different callers.
        for (site, place) in [(0, "dot <- x.cc:11"), (1, "dot <- x.cc:12"), (2, "dot")] {
            assert_eq!(SourceLine::of(&definitions, Some(site)).to_string(), place);
        }
        let at = |name: &str| sites_at(&name.parse().unwrap(), &definitions).unwrap_or_default();
        for (name, sites) in [
            ("dot", &[0, 1, 2][..]),
            ("dot^x.cc:12", &[1]),
            ("dot <- x.cc:12", &[1]),
            ("dot^solve", &[0, 1]),
            ("solve^dot", &[]),
        ] {
            assert_eq!(at(name), sites, "{name}");
        }
        let printed = "dot^x.cc:12".parse::<Location>().unwrap().to_string();
        assert_eq!(printed, "dot^x.cc:12");
    }

    #[test]
    fn a_line_may_have_several_sites() {
        let sites =
            defining([in_file(0, "/a/x.c", 3), site(1, "main", None, Some(3)), in_file(2, "/b/x.c", 3)]);
        assert_eq!(sites_at(&line("x.c", 3), &sites).unwrap(), [0, 2]);
        assert_eq!(sites_at(&line("b/x.c", 3), &sites).unwrap(), [2]);
    }

    #[test]
    fn an_unknown_location_lists_those_with_calls() {
        let sites = defining([in_file(0, "/a/x.c", 3), in_file(1, "/a/y.c", 9)]);
        let message = |wanted| sites_at(&wanted, &sites).unwrap_err().0;
        assert_eq!(message(line("x.c", 4)), "no call was made at x.c:4; calls were made at x.c:3");
        assert!(message(line("z.c", 4)).ends_with("calls were made at x.c:3, y.c:9"));
        let without_lines = defining([site(0, "main", None, None)]);
        assert!(sites_at(&line("x.c", 3), &without_lines).unwrap_err().0.contains("-g"));
    }
}

//! Places of the program, and regions of it, as people name them.

use crate::blame::Occasion;
use kizami_graph::Strand;
use kizami_trace::{Definitions, RegionSpan};
use serde::{Deserialize, Serialize};

/// A place calls are made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceLine {
    /// The last part of the path of the source file.
    pub file: Option<String>,
    /// Line there.
    pub line: Option<u32>,
    /// Function the call is in.
    pub function: String,
}

impl SourceLine {
    /// The place with this index.
    pub fn of(definitions: &Definitions, site: Option<u32>) -> SourceLine {
        match site.and_then(|site| definitions.callsites.get(site as usize)) {
            Some(site) => SourceLine {
                file: site.file.as_ref().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned()),
                line: site.line,
                function: site.function.clone(),
            },
            None => SourceLine { file: None, line: None, function: "(unknown place)".to_owned() },
        }
    }
}

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}"),
            (Some(file), None) => write!(f, "{} in {file}", self.function),
            _ => write!(f, "{}", self.function),
        }
    }
}

/// Regions the program named, and who was in them when.
pub(crate) struct Regions<'a> {
    pub definitions: &'a Definitions,
    pub strands: &'a [Strand],
    pub spans: &'a [RegionSpan],
}

impl Regions<'_> {
    /// The innermost one somebody was in then.
    pub(crate) fn innermost(&self, occasion: Occasion) -> Option<&str> {
        let strand = self.strands.get(occasion.strand as usize)?;
        let there = |span: &&RegionSpan| {
            (span.rank, span.thread.0) == (strand.rank, strand.thread)
                && (span.start..span.end).contains(&occasion.at)
        };
        let innermost = self.spans.iter().filter(there).max_by_key(|span| span.depth)?;
        self.definitions.regions.get(innermost.region as usize).map(|region| &region.name[..])
    }
}

//! Regions of the program, as people name them.

use kizami_blame::Occasion;
use kizami_graph::Strand;
use kizami_trace::{Definitions, RegionSpan};

/// Regions the program named, and who was in them when.
pub(crate) struct Regions<'a> {
    pub definitions: &'a Definitions,
    pub strands: &'a [Strand],
    pub spans: &'a [RegionSpan],
}

impl Regions<'_> {
    /// The innermost region a rank was in then.
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

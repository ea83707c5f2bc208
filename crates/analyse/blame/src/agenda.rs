//! What there is to do for each strand of a share, in order: from the last wait of the run to the first.

use crate::case::Case;
use kizami_replay::prefetch;
use std::ops::Range;

/// One thing to do for a strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// This wait of its own has got all that is passed on to it.
    Leave(u32),
    /// It was waited for by this group, alone.
    LookBack(u32),
    /// It was late for this group, as number of several.
    LookBackAmong(u32, u32),
}

/// Items as they are kept: the second number of those that leave, and of those that were late alone.
const LEAVES: u32 = u32::MAX;
const ALONE: u32 = u32::MAX - 1;

/// The items of some strands, and how far each is.
pub(crate) struct Agenda {
    first_strand: u32,
    /// Of each strand: the next item, and where its items end.
    ahead: Vec<Range<usize>>,
    items: Vec<(u32, u32)>,
}

impl Agenda {
    pub(crate) fn new(case: &Case<'_>, strands: Range<u32>) -> Agenda {
        let mut counts = vec![0usize; strands.len()];
        each_item(case, &strands, |strand, _| counts[strand] += 1);
        let mut end = 0;
        let mut ahead: Vec<Range<usize>> = counts
            .into_iter()
            .map(|count| {
                end += count;
                end - count..end - count
            })
            .collect();
        let mut items = vec![(0, 0); end];
        each_item(case, &strands, |strand, item| {
            let place = &mut ahead[strand].end;
            items[*place] = item;
            *place += 1;
        });
        Agenda { first_strand: strands.start, ahead, items }
    }

    /// Asks for the memory that says how far a strand is.
    #[inline]
    pub(crate) fn fetch_place(&self, strand: u32) {
        prefetch(&self.ahead, (strand - self.first_strand) as usize, 1);
    }

    /// Asks for the memory of what is next for a strand.
    #[inline]
    pub(crate) fn fetch(&self, strand: u32) {
        prefetch(&self.items, self.ahead[(strand - self.first_strand) as usize].start, 1);
    }

    /// What is next for a strand.
    pub(crate) fn next(&self, strand: u32) -> Option<Item> {
        let ahead = &self.ahead[(strand - self.first_strand) as usize];
        let (index, second) = *self.items[ahead.clone()].first()?;
        Some(match second {
            LEAVES => Item::Leave(index),
            ALONE => Item::LookBack(index),
            number => Item::LookBackAmong(index, number),
        })
    }

    /// That is done.
    pub(crate) fn done(&mut self, strand: u32) {
        self.ahead[(strand - self.first_strand) as usize].start += 1;
    }

    /// Whether all is done.
    pub(crate) fn is_empty(&self) -> bool {
        self.ahead.iter().all(Range::is_empty)
    }
}

/// Tells the items of some strands, those of each in order.
fn each_item(case: &Case<'_>, strands: &Range<u32>, mut tell: impl FnMut(usize, (u32, u32))) {
    let mut tell = |strand: u32, item| {
        if strands.contains(&strand) {
            tell((strand - strands.start) as usize, item);
        }
    };
    let mut group = 0;
    while let Some(waits) = case.group(group) {
        for (index, wait) in (group..).zip(waits) {
            tell(wait.strand, (index, LEAVES));
        }
        match case.late_together(group) {
            Some(late) => (0..).zip(late).for_each(|(number, late)| tell(late.strand, (group, number))),
            None => tell(waits[0].of_strand, (group, ALONE)),
        }
        group += waits.len() as u32;
    }
}

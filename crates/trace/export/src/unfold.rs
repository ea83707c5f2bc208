//! From rows to properly nested entries and exits, the form in which other trace formats think.
//!
//! Within each thread a [`Sink`] receives regions and calls in the order of time, every region left after all
//! that was entered in it, and no time before the last one. A region's edge that falls inside a call
//! (marks are MPI calls themselves) moves to the call's end; regions that overlap without nesting are cut at
//! the end of the outer one. Rows that are a part of another row (the requests of one `MPI_Startall`) add
//! their messages to that row's call and make no call of their own.
//!
//! Between threads of a rank there is no order; ranks come one after the other.

use super::ExportProgress;
use super::source::{RowCounter, Rows};
use crate::ExportError;
use kizami_model::{Call, Moment, Rank, ThreadIndex};
use kizami_trace::{RankInfo, RegionSpan};
use kizami_traffic::{Beginning, Ending, Numbering, Traffic};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::iter::Peekable;
use std::path::Path;

/// A call with what begins and ends in it.
#[derive(Debug)]
pub(super) struct UnfoldedCall {
    pub call: Call,
    /// When it begins, not before anything written earlier.
    pub start: Moment,
    /// When it ends, not before it begins.
    pub end: Moment,
    pub beginnings: Vec<Beginning>,
    pub endings: Vec<Ending>,
}

/// A thread of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub rank: Rank,
    pub thread: ThreadIndex,
}

/// Who writes it down.
pub(super) trait Sink {
    /// A region begins.
    fn enter_region(&mut self, place: Place, at: Moment, region: u32) -> Result<(), ExportError>;
    /// The region entered last ends.
    fn leave_region(&mut self, place: Place, at: Moment, region: u32) -> Result<(), ExportError>;
    /// A whole call.
    fn call(&mut self, place: Place, call: &UnfoldedCall) -> Result<(), ExportError>;
    /// Nothing more comes from this rank. Told for each rank of the run, also for silent ones.
    fn end_rank(&mut self, rank: Rank) -> Result<(), ExportError>;
}

/// What went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unfolded {
    /// Rows read.
    pub rows: u64,
    /// Halves of messages whose other side or communicator is not known.
    pub left_out: u64,
}

/// Tells `sink` everything in the rows of these ranks. `out` is where the export goes, for errors.
pub(super) fn unfold(
    rows: Rows,
    ranks: &[RankInfo],
    sink: &mut dyn Sink,
    numbering: Numbering,
    out: &Path,
    progress: ExportProgress,
) -> Result<Unfolded, ExportError> {
    let mut calls = rows.calls.peekable();
    let mut spans = rows.region_spans.into_iter().peekable();
    let mut counter = RowCounter::new(rows.count, progress);
    let mut left_out = 0;
    for info in ranks {
        let mut rank = RankTimeline::new(info.rank, numbering);
        while let Some(span) = spans.next_if(|span| span.rank <= info.rank) {
            rank.add_span(span);
        }
        while let Some(call) = next_of_rank(&mut calls, info.rank)? {
            rank.take(call, sink)?;
            counter.row();
        }
        left_out += rank.finish(sink)?;
        sink.end_rank(info.rank)?;
    }
    match calls.next() {
        None => Ok(Unfolded { rows: counter.finish(), left_out }),
        Some(Err(error)) => Err(error),
        Some(Ok(call)) => Err(ExportError::Export {
            path: out.to_path_buf(),
            what: format!(
                "rank {} has rows, but they are out of order or the rank is not in defs/ranks; seal the trace \
                 again if its raw/ folder was kept, or record it again",
                call.rank
            ),
        }),
    }
}

fn next_of_rank(
    calls: &mut Peekable<impl Iterator<Item = Result<Call, ExportError>>>,
    rank: Rank,
) -> Result<Option<Call>, ExportError> {
    calls.next_if(|call| call.as_ref().map_or(true, |call| call.rank == rank)).transpose()
}

/// One rank being written.
struct RankTimeline {
    rank: Rank,
    traffic: Traffic,
    threads: BTreeMap<ThreadIndex, ThreadTimeline>,
}

impl RankTimeline {
    fn new(rank: Rank, numbering: Numbering) -> RankTimeline {
        RankTimeline { rank, traffic: Traffic::new(numbering), threads: BTreeMap::new() }
    }

    fn thread(&mut self, thread: ThreadIndex) -> &mut ThreadTimeline {
        let place = Place { rank: self.rank, thread };
        self.threads.entry(thread).or_insert_with(|| ThreadTimeline::new(place))
    }

    fn add_span(&mut self, span: RegionSpan) {
        self.thread(span.thread).to_enter.push_back(span);
    }

    fn take(&mut self, call: Call, sink: &mut dyn Sink) -> Result<(), ExportError> {
        let (mut beginnings, mut endings) = (Vec::new(), Vec::new());
        self.traffic.of_call(&call, &mut beginnings, &mut endings);
        let thread = self.thread(call.thread);
        match &mut thread.current {
            Some(current) if call.calls == 0 && current.call.start == call.start => {
                current.beginnings.append(&mut beginnings);
                current.endings.append(&mut endings);
                Ok(())
            }
            _ => {
                thread.write_current(sink)?;
                let (start, end) = (call.start, call.end);
                thread.current = Some(UnfoldedCall { call, start, end, beginnings, endings });
                Ok(())
            }
        }
    }

    /// Writes what is left; returns how many halves of messages could not be written.
    fn finish(&mut self, sink: &mut dyn Sink) -> Result<u64, ExportError> {
        for thread in self.threads.values_mut() {
            thread.write_current(sink)?;
            thread.write_regions_until(Moment(i64::MAX), sink)?;
        }
        Ok(self.traffic.left_out)
    }
}

/// One thread being written.
struct ThreadTimeline {
    place: Place,
    /// Stays in regions that are still to come, by start.
    to_enter: VecDeque<RegionSpan>,
    sorted: bool,
    /// Regions entered and not left, the innermost last: which, and when it ends.
    open: Vec<(u32, Moment)>,
    /// The last row, held until it is sure that no part of it follows.
    current: Option<UnfoldedCall>,
    /// The latest time written.
    written_until: Moment,
}

impl ThreadTimeline {
    fn new(place: Place) -> ThreadTimeline {
        let (to_enter, open) = (VecDeque::new(), Vec::new());
        ThreadTimeline { place, to_enter, sorted: false, open, current: None, written_until: Moment(0) }
    }

    fn write_current(&mut self, sink: &mut dyn Sink) -> Result<(), ExportError> {
        let Some(mut current) = self.current.take() else { return Ok(()) };
        self.write_regions_until(current.start, sink)?;
        current.start = current.start.max(self.written_until);
        current.end = current.end.max(current.start);
        self.written_until = current.end;
        sink.call(self.place, &current)
    }

    /// Leaves and enters all regions whose edge is not after `until`.
    fn write_regions_until(&mut self, until: Moment, sink: &mut dyn Sink) -> Result<(), ExportError> {
        if !self.sorted {
            // Of regions that begin together the longest is the outermost.
            let spans = self.to_enter.make_contiguous();
            spans.sort_by_key(|span| (span.start, span.depth, Reverse(span.end)));
            self.sorted = true;
        }
        loop {
            let next_start = self.to_enter.front().map_or(Moment(i64::MAX), |span| span.start);
            match self.open.last() {
                Some(&(region, end)) if end <= until && end <= next_start => {
                    self.open.pop();
                    self.written_until = self.written_until.max(end);
                    sink.leave_region(self.place, self.written_until, region)?;
                }
                _ => {
                    if next_start > until {
                        return Ok(());
                    }
                    let Some(span) = self.to_enter.pop_front() else { return Ok(()) };
                    let outer_end = self.open.last().map_or(Moment(i64::MAX), |&(_, end)| end);
                    self.open.push((span.region, span.end.min(outer_end)));
                    self.written_until = self.written_until.max(span.start);
                    sink.enter_region(self.place, self.written_until, span.region)?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{self, row};

    /// Writes down what it receives in short words.
    #[derive(Default)]
    struct Diary(Vec<String>);

    impl Sink for Diary {
        fn enter_region(&mut self, _: Place, at: Moment, region: u32) -> Result<(), ExportError> {
            self.0.push(format!("{} enter {region}", at.0));
            Ok(())
        }
        fn leave_region(&mut self, _: Place, at: Moment, region: u32) -> Result<(), ExportError> {
            self.0.push(format!("{} leave {region}", at.0));
            Ok(())
        }
        fn call(&mut self, _: Place, call: &UnfoldedCall) -> Result<(), ExportError> {
            self.0.push(format!("{}-{} call", call.start.0, call.end.0));
            Ok(())
        }
        fn end_rank(&mut self, rank: Rank) -> Result<(), ExportError> {
            self.0.push(format!("end {rank}"));
            Ok(())
        }
    }

    fn diary(calls: &[(i64, i64)], spans: &[(i64, i64)]) -> Vec<String> {
        let calls = calls.iter().map(|(start, end)| row(0, "MPI_Barrier", *start, *end)).collect();
        let spans = spans.iter().zip(0..).map(|((start, end), region)| RegionSpan {
            rank: Rank(0),
            thread: ThreadIndex(0),
            start: Moment(*start),
            end: Moment(*end),
            region,
            depth: 0,
        });
        let source = made_up::source(calls, spans.collect());
        let mut diary = Diary::default();
        let ranks = &source.definitions.ranks[..1];
        unfold(source.rows, ranks, &mut diary, Numbering::Off, Path::new("out"), &|_, _| ()).unwrap();
        diary.0
    }

    #[test]
    fn an_edge_inside_a_call_moves_to_its_end() {
        assert_eq!(
            diary(&[(10, 20), (30, 40)], &[(15, 35)]),
            ["10-20 call", "20 enter 0", "30-40 call", "40 leave 0", "end 0"]
        );
    }

    #[test]
    fn edges_at_a_call_are_outside_it() {
        assert_eq!(diary(&[(10, 20)], &[(10, 20)]), ["10 enter 0", "10-20 call", "20 leave 0", "end 0"]);
        assert_eq!(diary(&[(10, 20)], &[(5, 10)]), ["5 enter 0", "10 leave 0", "10-20 call", "end 0"]);
    }

    #[test]
    fn regions_that_overlap_are_cut_to_nest() {
        assert_eq!(
            diary(&[], &[(0, 50), (20, 80), (90, 90)]),
            ["0 enter 0", "20 enter 1", "50 leave 1", "50 leave 0", "90 enter 2", "90 leave 2", "end 0"]
        );
    }

    #[test]
    fn time_never_goes_back() {
        assert_eq!(
            diary(&[(10, 30), (20, 25), (28, 40)], &[]),
            ["10-30 call", "30-30 call", "30-40 call", "end 0"]
        );
    }

    #[test]
    fn rows_of_a_rank_without_a_definition_are_an_error() {
        let source =
            made_up::source(vec![row(0, "MPI_Barrier", 0, 1), row(9, "MPI_Barrier", 0, 1)], Vec::new());
        let ranks = &source.definitions.ranks;
        let out = Path::new("out");
        let error = unfold(source.rows, ranks, &mut Diary::default(), Numbering::Off, out, &|_, _| ());
        assert!(error.unwrap_err().to_string().contains("rank 9"));
    }
}

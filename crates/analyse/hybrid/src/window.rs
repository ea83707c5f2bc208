//! The part of a run in which the program works, as everywhere: from the first rank that leaves `MPI_Init` to the last
//! that reaches `MPI_Finalize`. Without MPI, all that was recorded.

use crate::regions::Regions;
use kizami_model::{Call, Kind, Length, Moment};
use kizami_trace::{RankInfo, RankSelection, Trace, TraceError};

/// From when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From.
    pub from: Moment,
    /// To.
    pub to: Moment,
}

impl Window {
    /// Of a trace with these ranks and regions.
    pub fn of(trace: &Trace, ranks: &[RankInfo], regions: &Regions) -> Result<Window, TraceError> {
        let (mut left_init, mut came_to_finalize): (Option<Moment>, Option<Moment>) = (None, None);
        let mut all: Option<Window> = None;
        for call in trace.calls(RankSelection::All)? {
            let call: Call = call?;
            all = Some(Window::around(all, call.start, call.end));
            match call.op.function().map(|function| function.kind) {
                Some(Kind::Init) => left_init = Some(left_init.map_or(call.end, |end| end.min(call.end))),
                Some(Kind::Finalize) => came_to_finalize = came_to_finalize.max(Some(call.start)),
                _ => {}
            }
        }
        if all.is_none() {
            for rank in ranks {
                if let (Some(first), Some(last)) = (rank.first, rank.last) {
                    all = Some(Window::around(all, first, last));
                }
            }
            for region in regions.ranks.iter().flat_map(|rank| &rank.outer) {
                all = Some(Window::around(all, region.row.start, region.row.end));
            }
        }
        let all = all.unwrap_or(Window { from: Moment::START, to: Moment::START });
        Ok(Window { from: left_init.unwrap_or(all.from), to: came_to_finalize.unwrap_or(all.to) })
    }

    fn around(known: Option<Window>, from: Moment, to: Moment) -> Window {
        known.map_or(Window { from, to }, |known| Window { from: known.from.min(from), to: known.to.max(to) })
    }

    /// How long it is.
    pub fn length(&self) -> Length {
        self.part(self.from, self.to)
    }

    /// The part of a stretch that lies in it.
    pub fn part(&self, from: Moment, to: Moment) -> Length {
        to.min(self.to).saturating_since(from.max(self.from)).at_least_zero()
    }
}

//! One setting, made ready for the walk: how long things take in it.

use crate::lane_moment::LaneMoment;
use crate::setting::{Factor, Network, PlaceFactor, Setting};
use kizami_model::{Family, Length, Op};
use kizami_network::collectives::cost_ns;
use kizami_network::{Fit, LogGops};

/// Times the messages of the algorithm a collective is taken to be made of, at most.
const MOST_MESSAGES: f64 = 2.0;

/// A setting with what must be looked up for each step in lists.
pub(super) struct Lane {
    cpu: Factor,
    /// By call site; only as long as needed.
    places: Vec<Option<PlaceFactor>>,
    travel: Travel,
    eager_limit_bytes: Option<u64>,
    /// By call site; only as long as needed.
    overlapped: Vec<bool>,
    pub without_tracer: bool,
}

/// How things travel.
enum Travel {
    AsRecorded,
    Ideal,
    Changed { recorded: LogGops, changed: LogGops, way_ns: f64, per_byte_ns: f64 },
    Model(LogGops),
}

/// What the recorded run says about a step that may have waited.
#[derive(Clone, Copy)]
pub(super) struct Recorded {
    /// What the step takes itself once nobody is waited for.
    pub own: Length,
    /// From the moment the last one waited for sent, posted or came, to the end.
    pub way: Length,
    /// What of it was spent in computation: between polls.
    pub busy: Length,
}

/// What a way is that a step waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A message of so many bytes, to here or from here.
    Message(u64),
    /// A message from here that waits for its receiver because MPI had no room for so many bytes.
    Unbuffered(u64),
    /// A collective: the function, how many ranks, bytes.
    Collective(Op, u32, u64),
}

impl Lane {
    pub(super) fn new(setting: &Setting, fit: &Fit) -> Lane {
        let longest = setting.places.keys().map(|site| *site as usize + 1).max().unwrap_or(0);
        let mut places = vec![None; longest];
        for (site, factor) in &setting.places {
            places[*site as usize] = Some(factor.clone());
        }
        let longest = setting.overlapped.iter().map(|site| *site as usize + 1).max().unwrap_or(0);
        let mut overlapped = vec![false; longest];
        setting.overlapped.iter().for_each(|site| overlapped[*site as usize] = true);
        let travel = match setting.network {
            Network::AsRecorded => Travel::AsRecorded,
            Network::Ideal => Travel::Ideal,
            Network::Model(model) => Travel::Model(model),
            Network::Changed { latency, bandwidth } => {
                // The whole latency, with what sender and receiver spend on it: that is what people measure and mean.
                let recorded = LogGops { latency_ns: fit.latency_ns(), overhead_ns: 0.0, ..fit.model() };
                let changed = LogGops {
                    latency_ns: recorded.latency_ns * latency,
                    per_byte_ns: recorded.per_byte_ns / bandwidth,
                    ..recorded
                };
                let way_ns = changed.latency_ns - recorded.latency_ns;
                let per_byte_ns = changed.per_byte_ns - recorded.per_byte_ns;
                Travel::Changed { recorded, changed, way_ns, per_byte_ns }
            }
        };
        Lane {
            cpu: setting.cpu,
            places,
            travel,
            eager_limit_bytes: setting.eager_limit_bytes,
            overlapped,
            without_tracer: setting.without_tracer,
        }
    }

    pub(super) fn is_model(&self) -> bool {
        matches!(self.travel, Travel::Model(_))
    }

    /// Whether what a send waited for is not to be waited for here, because MPI takes the message from its sender.
    #[inline]
    pub(super) fn buffers(&self, way: Way) -> bool {
        match (way, self.eager_limit_bytes) {
            (Way::Unbuffered(bytes), Some(limit_bytes)) => bytes <= limit_bytes,
            _ => false,
        }
    }

    /// Whether there are waits that are hidden behind computation.
    pub(super) fn overlaps_any(&self) -> bool {
        !self.overlapped.is_empty()
    }

    /// Whether those of calls at this place are.
    #[inline]
    pub(super) fn overlaps(&self, site: Option<u32>) -> bool {
        site.and_then(|site| self.overlapped.get(site as usize)).is_some_and(|overlapped| *overlapped)
    }

    pub(super) fn model(&self) -> Option<&LogGops> {
        match &self.travel {
            Travel::Model(model) => Some(model),
            _ => None,
        }
    }

    /// How long the computation takes that leads up to a call at a place.
    #[inline]
    pub(super) fn gap(&self, rank: u32, site: Option<u32>, gap: Length) -> Length {
        let place = site.and_then(|site| self.places.get(site as usize)).and_then(Option::as_ref);
        let factor = match place {
            None => self.cpu,
            Some(factor) => Factor(self.cpu.0 * factor.of(rank).0),
        };
        factor.of(gap)
    }

    /// How long a way takes that took so long, from the start of the other side on.
    #[inline]
    pub(super) fn way(&self, recorded: Length, way: Way) -> Length {
        // A way never becomes shorter than nothing; one that was, because clocks disagree, stays as it is.
        let least = recorded.min(Length::ZERO);
        match (&self.travel, way) {
            (Travel::AsRecorded | Travel::Model(_), _) => recorded,
            (Travel::Ideal, _) => least,
            (Travel::Changed { way_ns, per_byte_ns, .. }, Way::Message(bytes) | Way::Unbuffered(bytes)) => {
                let change = Length::from_nanos_f64(way_ns + per_byte_ns * bytes as f64);
                recorded.saturating_add(change).max(least)
            }
            (Travel::Changed { recorded: before, changed, .. }, Way::Collective(op, ranks, bytes)) => {
                let (old_ns, new_ns) =
                    (cost_ns(op, ranks, bytes, before), cost_ns(op, ranks, bytes, changed));
                if old_ns <= 0.0 {
                    return recorded;
                }
                // The library may send more or fewer messages in a row than the algorithm does that is taken here;
                // what takes much longer than that was not spent in messages.
                let messages = (recorded.0 as f64 / old_ns).clamp(0.0, MOST_MESSAGES);
                let change = Length::from_nanos_f64(messages * (new_ns - old_ns));
                recorded.saturating_add(change).max(least)
            }
        }
    }

    /// When a step ends that begins at `start`, where what it waits for last was sent, posted or came at `late` and
    /// everything else is there at `floor`.
    #[inline]
    pub(super) fn end(
        &self,
        start: LaneMoment,
        late: Option<(LaneMoment, Way)>,
        floor: LaneMoment,
        communicates: bool,
        recorded: Recorded,
    ) -> LaneMoment {
        let arrival = |(late, way): (LaneMoment, Way)| late.saturating_add(self.way(recorded.way, way));
        let (own, there) = match (&self.travel, communicates) {
            (Travel::Ideal, true) => (recorded.busy, late.map(arrival)),
            (Travel::Model(_), true) => (recorded.busy, None),
            _ => (recorded.own, late.map(arrival)),
        };
        start.saturating_add(own).max(there.unwrap_or(LaneMoment::NEVER)).max(floor)
    }
}

/// Whether a function's time is spent in communication: it passes on an ideal network.
pub(super) fn communicates(op: Op) -> bool {
    op.function().is_some_and(|function| {
        matches!(function.family, Family::PointToPoint | Family::Completion | Family::Collective)
    })
}

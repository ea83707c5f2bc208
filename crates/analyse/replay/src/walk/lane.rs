//! One setting, made ready for the walk: how long things take in it.

use crate::lane_moment::LaneMoment;
use crate::setting::{Factor, Network, Pieces, PlaceFactor, Setting};
use crate::step_changes::{StepChange, StepChanges};
use kizami_model::kind::{Kind, WindowCall};
use kizami_model::{Family, Length, Op};
use kizami_network::collectives::cost_ns;
use kizami_network::{Costs, Fit, LogGops};
use rustc_hash::FxHashSet;
use std::sync::Arc;

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
    overlapped: Vec<Option<Pieces>>,
    left_out: Sites,
    posted_early: Sites,
    ideal_at: Sites,
    steps: Option<Arc<StepChanges>>,
    pub without_tracer: bool,
}

/// Some call sites; only as long as needed.
struct Sites(Vec<bool>);

impl Sites {
    fn new(sites: &FxHashSet<u32>) -> Sites {
        let longest = sites.iter().map(|site| *site as usize + 1).max().unwrap_or(0);
        let mut all = vec![false; longest];
        sites.iter().for_each(|site| all[*site as usize] = true);
        Sites(all)
    }

    #[inline]
    fn has(&self, site: Option<u32>) -> bool {
        !self.0.is_empty() && site.and_then(|site| self.0.get(site as usize)).is_some_and(|there| *there)
    }
}

/// How things travel.
enum Travel {
    AsRecorded,
    Ideal,
    Changed { recorded: LogGops, changed: LogGops, way_ns: f64, per_byte_ns: f64 },
    Model(Costs),
}

/// What the recorded run says about a step that may have waited.
#[derive(Clone, Copy)]
pub(super) struct Recorded {
    /// What the step takes itself once no rank is waited for.
    pub own: Length,
    /// From the moment the last one waited for sent, posted or came, to the end.
    pub way: Length,
    /// What of it was spent in computation: between polls.
    pub busy: Length,
    /// It communicates in no time.
    pub ideal: bool,
    /// What of its own time a message was still on its way, though no rank was waited for.
    pub inside: Inside,
}

/// A message that is on its way while a step takes its own time.
#[derive(Clone, Copy, Default)]
pub(super) struct Inside {
    pub length: Length,
    /// It sets out only when both sides are there.
    pub meets: bool,
}

impl Recorded {
    /// The same in a call that takes so much longer itself; below zero, shorter.
    fn longer(self, by: Length) -> Recorded {
        let more = |length: Length| length.saturating_add(by).max(length.min(Length::ZERO));
        let own = more(self.own);
        let inside = Inside { length: self.inside.length.min(own.at_least_zero()), ..self.inside };
        Recorded { own, way: more(self.way), inside, ..self }
    }

    /// Of a step at a place, as a lane has it; none if the call is left out there.
    #[inline]
    pub(super) fn in_lane(self, lane: &Lane, site: Option<u32>, step: u64, spent: Spent) -> Option<Recorded> {
        let recorded = match lane.change(step) {
            Some(change) if change.left_out => return None,
            Some(change) => self.longer(change.inside),
            None => self,
        };
        if lane.leaves_out(site) {
            return None;
        }
        Some(Recorded { ideal: spent != Spent::Else && lane.ideal_at.has(site), ..recorded })
    }
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
        let longest = setting.overlapped.keys().map(|site| *site as usize + 1).max().unwrap_or(0);
        let mut overlapped = vec![None; longest];
        for (site, pieces) in &setting.overlapped {
            overlapped[*site as usize] = Some(*pieces);
        }
        let travel = match &setting.network {
            Network::AsRecorded => Travel::AsRecorded,
            Network::Ideal => Travel::Ideal,
            Network::Model(model) => Travel::Model(Costs::Model(*model)),
            Network::Measured(measured) => Travel::Model(Costs::Measured(measured.clone())),
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
            left_out: Sites::new(&setting.left_out),
            posted_early: Sites::new(&setting.posted_early),
            ideal_at: Sites::new(&setting.ideal_at),
            steps: setting.steps.clone().filter(|steps| !steps.is_empty()),
            without_tracer: setting.without_tracer,
        }
    }

    pub(super) fn is_model(&self) -> bool {
        matches!(self.travel, Travel::Model(_))
    }

    /// Whether what a send waited for is not to be waited for here, because MPI takes the message from its sender, or
    /// because its receive is posted early.
    #[inline]
    pub(super) fn buffers(&self, way: Way, site: Option<u32>) -> bool {
        match (way, self.eager_limit_bytes) {
            (Way::Unbuffered(bytes), Some(limit_bytes)) if bytes <= limit_bytes => true,
            (Way::Unbuffered(_), _) => self.posted_early.has(site),
            _ => false,
        }
    }

    /// What is different about a step; none if nothing is.
    #[inline]
    pub(super) fn change(&self, step: u64) -> Option<StepChange> {
        self.steps.as_ref().and_then(|steps| steps.of(step))
    }

    /// Asks for the memory that says whether a step is different.
    #[inline]
    pub(super) fn fetch_marks(&self, step: u64) {
        self.steps.iter().for_each(|steps| steps.marks().fetch(step));
    }

    /// The same for what is different about it, or about the next one that is different.
    #[inline]
    pub(super) fn fetch_changes(&self, step: u64) {
        self.steps.iter().for_each(|steps| steps.fetch(step));
    }

    /// Whether calls at this place are left out.
    #[inline]
    pub(super) fn leaves_out(&self, site: Option<u32>) -> bool {
        self.left_out.has(site)
    }

    /// Whether waits of calls at this place are hidden behind computation, and in how many pieces what comes is worked on.
    #[inline]
    pub(super) fn overlaps(&self, site: Option<u32>) -> Option<Pieces> {
        site.and_then(|site| self.overlapped.get(site as usize)).copied().flatten()
    }

    /// How long what is waited for at a place is on its way, if it took so long.
    #[inline]
    pub(super) fn way_to(&self, site: Option<u32>, recorded: Length, way: Way) -> Length {
        if self.ideal_at.has(site) { recorded.min(Length::ZERO) } else { self.way(recorded, way) }
    }

    pub(super) fn model(&self) -> Option<&Costs> {
        match &self.travel {
            Travel::Model(model) => Some(model),
            _ => None,
        }
    }

    /// How long the computation takes that leads up to a step at a place.
    #[inline]
    pub(super) fn gap(&self, rank: u32, site: Option<u32>, step: u64, gap: Length) -> Length {
        let gap = self.scaled_gap(rank, site, gap);
        match self.change(step) {
            Some(change) => gap.saturating_add(change.before).at_least_zero(),
            None => gap,
        }
    }

    #[inline]
    fn scaled_gap(&self, rank: u32, site: Option<u32>, gap: Length) -> Length {
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
        spent: Spent,
        recorded: Recorded,
    ) -> LaneMoment {
        let arrival = |(late, way): (LaneMoment, Way)| late.saturating_add(self.way(recorded.way, way));
        if let (Travel::Changed { .. }, Some((late, way)), true) =
            (&self.travel, late, recorded.inside.length > Length::ZERO && !recorded.ideal)
        {
            // Of such a step only that is different that the message is on its way for.
            let sets_out = if recorded.inside.meets { late.max(start) } else { late };
            let there = sets_out.saturating_add(self.way(recorded.way, way)).max(start);
            return there.saturating_add(recorded.own - recorded.inside.length).max(floor);
        }
        let (own, there) = match (&self.travel, spent) {
            _ if recorded.ideal => {
                (recorded.busy, late.map(|(late, _)| late.saturating_add(recorded.way.min(Length::ZERO))))
            }
            (Travel::Ideal, Spent::OneSided | Spent::TwoSided) => (recorded.busy, late.map(arrival)),
            (Travel::Model(_), Spent::TwoSided) => (recorded.busy, None),
            _ => (recorded.own, late.map(arrival)),
        };
        start.saturating_add(own).max(there.unwrap_or(LaneMoment::MINUS_INFINITY)).max(floor)
    }
}

/// What a function's time is spent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// Something else than communication.
    Else,
    /// One-sided communication, which no model of a network knows.
    OneSided,
    /// Messages and collectives.
    TwoSided,
}

impl Spent {
    pub(super) fn of(op: Op) -> Spent {
        use WindowCall::{Ask, Free, New};
        let family = op.function().map(|function| function.family);
        match (op.kind(), family) {
            // Making and freeing windows allocates and registers memory.
            (Kind::Window(New | Free | Ask), _) => Spent::Else,
            (Kind::Window(_), _) => Spent::OneSided,
            (_, Some(Family::PointToPoint | Family::Completion | Family::Collective)) => Spent::TwoSided,
            _ => Spent::Else,
        }
    }
}

/// Whether a function's time is spent in communication: it passes on an ideal network.
pub fn communicates(op: Op) -> bool {
    Spent::of(op) != Spent::Else
}

//! When a step ends: from whom it waited for, in recorded time and in each lane.
//!
//! Those a step waits for come one by one (`came`). The one that was there last in the recorded run is kept as *late*:
//! it decides how the recorded call is divided into waiting and what was left to do. All others only set a *floor*: the
//! step cannot end before they are there. When nobody is missing any more, the step ends (`end`).

use super::super::lane::{Inside, Lane, Recorded, Way};
use super::super::observer::{Observer, Seen, Wait, WaitKind};
use super::super::pending::Arrival;
use super::super::strand::{Last, Late, Walking};
use super::Worker;
use crate::lane_moment::LaneMoment;
use crate::setting::Pieces;
use kizami_graph::{Polls, Step, StepKind, Tie, TieKind};
use kizami_model::kind::Form;
use kizami_model::{Kind, Length};
use kizami_network::{Costs, Fit, Messages};

/// A step whose partners are all there: how the recorded call is divided.
struct Ending<const LANES: usize> {
    length: Length,
    /// The last of those it waits for.
    late: Option<Late<LANES>>,
    /// Whether that one came only after the call had begun.
    waited: bool,
    /// It is of failed polls before one that found what they looked for.
    polling: bool,
    polls: Polls,
    /// From the moment the one waited for came to the end; the whole call if nobody was waited for.
    rest: Length,
}

impl<const LANES: usize> Ending<LANES> {
    #[inline]
    fn of(step: &Step, walking: &Walking<LANES>) -> Ending<LANES> {
        let (length, late) = (step.length(), walking.late);
        let waited = late.is_some_and(|late| {
            let on_the_way = late.kind == WaitKind::Sender && late.there > step.start;
            on_the_way || late.arrival.recorded >= step.start
        });
        let rest = match late {
            Some(late) if waited => step.end.saturating_since(late.arrival.recorded),
            _ => length,
        };
        let polls = walking.polls.unwrap_or(Polls { tracer: Length::ZERO, inside: length });
        Ending { length, late, waited, polling: step.kind() == StepKind::Polling, polls, rest }
    }

    /// What is to be taken out of the call for the tracer's sake: what it took between polls, and of what could not be
    /// taken out of gaps before as much as there is room for. Only the part of the call that waited for nobody can be
    /// made shorter; polls that found nothing only waited.
    #[inline]
    fn cut(&self, debt: &mut Length) -> Length {
        let open = if self.waited && self.polling { Length::ZERO } else { self.rest.min(self.length) };
        let between_polls = self.polls.tracer.min(open).at_least_zero();
        let paid = (*debt).min(open - between_polls).at_least_zero();
        *debt -= paid;
        between_polls + paid
    }

    /// What was computed between polls.
    #[inline]
    fn between_polls(&self) -> Length {
        self.length.saturating_sub(self.polls.inside).at_least_zero()
    }

    /// What the recorded call says about the same call elsewhere, with so much cut out of it.
    #[inline]
    fn recorded(&self, step: &Step, cut: Length, fit: &Fit) -> Recorded {
        match self.late {
            // Polls end when they see what they look for, or a little earlier: they do nothing else.
            Some(_) if self.waited && self.polling => Recorded {
                own: Length::ZERO,
                way: self.rest,
                busy: Length::ZERO,
                ideal: false,
                inside: Inside::default(),
            },
            Some(late) if self.waited => {
                let way = self.rest - cut;
                let own = match late.way {
                    Way::Message(bytes) | Way::Unbuffered(bytes) => {
                        fit.handling_within(bytes, way.min(self.length)).at_least_zero()
                    }
                    Way::Collective(..) => Length::ZERO,
                };
                let inside = within_own(&late, own, fit);
                Recorded { own, way, busy: Length::ZERO, ideal: false, inside }
            }
            Some(late) => {
                let (own, least) = (self.length - cut, late.least_way(fit));
                let way = least.min(step.end.saturating_since(late.arrival.recorded));
                let inside = inside(step, &late, (own, least), fit);
                Recorded { own, way, busy: self.between_polls(), ideal: false, inside }
            }
            None => {
                let (own, busy) = (self.length - cut, self.between_polls());
                Recorded { own, way: Length::ZERO, busy, ideal: false, inside: Inside::default() }
            }
        }
    }
}

impl<const LANES: usize, O: Observer<LANES>> Worker<'_, LANES, O> {
    /// Somebody the step waits for came at this moment.
    pub(super) fn came(&mut self, strand: u32, step: &Step, tie: Tie, arrival: Arrival<LANES>) {
        let awaited = tie.kind();
        if awaited.awaits_readiness() {
            let came = arrival.recorded - Length(i64::from(awaited == TieKind::AwaitsReady));
            let in_vain =
                came >= step.end && step.kind() != StepKind::Polling || awaited == TieKind::MayAwaitPost;
            // A message may be too large for a model's buffers, though it was buffered in the recorded run.
            if matches!(awaited, TieKind::AwaitsPost | TieKind::MayAwaitPost) || !in_vain {
                self.came_in_models(strand, step, tie, &arrival);
            }
            // Who was ready only after the call was over was not waited for.
            if in_vain {
                return;
            }
        } else if self.modelled {
            self.came_in_models(strand, step, tie, &arrival);
        }
        let (kind, way, least_way) = self.meaning(step, tie, awaited);
        let late = Late { arrival, kind, way, there: arrival.recorded.saturating_add(least_way) };
        let walking = &mut self.walking[strand as usize];
        let other = match walking.late {
            Some(before) if before.there >= late.there => Some(late),
            before => {
                walking.late = Some(late);
                before
            }
        };
        if let Some(other) = other {
            set_floor(walking, step, other, self.lanes, self.fit);
        }
    }

    /// What the one waited for is to the step, what travels between them, and how long that takes at least.
    #[inline]
    fn meaning(&self, step: &Step, tie: Tie, awaited: TieKind) -> (WaitKind, Way, Length) {
        let bytes = tie.bytes();
        let kind = match awaited {
            TieKind::AwaitsPost | TieKind::MayAwaitPost => {
                return (WaitKind::Receiver, Way::Unbuffered(bytes), Length::ZERO);
            }
            TieKind::AwaitsReady => return (WaitKind::Receiver, Way::Message(bytes), Length::ZERO),
            TieKind::LooksReady => return (WaitKind::Window, Way::Message(bytes), Length::ZERO),
            TieKind::AwaitsAll => WaitKind::All,
            TieKind::AwaitsLower => WaitKind::Lower,
            TieKind::AwaitsRoot => WaitKind::Root,
            _ => return (WaitKind::Sender, Way::Message(bytes), self.fit.way(bytes)),
        };
        let ranks = self.graph.members.sizes[tie.place() as usize];
        (kind, Way::Collective(step.op(), ranks, bytes), Length::ZERO)
    }

    /// Somebody came, in lanes with a model of the network: there every way is worked out.
    fn came_in_models(&mut self, strand: u32, step: &Step, tie: Tie, arrival: &Arrival<LANES>) {
        let kind = step.op().kind();
        let receives = Receives {
            exchanges: matches!(kind, Kind::SendReceive(_)),
            alone: matches!(kind, Kind::SendReceive(Form::Blocking) | Kind::Receive(Form::Blocking)),
        };
        let walking = &mut self.walking[strand as usize];
        for (lane, setting) in self.lanes.iter().enumerate() {
            let Some(model) = setting.model() else { continue };
            if let Some(there) = there_in_model(walking, (lane, model), tie, arrival.replayed[lane], receives)
            {
                walking.floor[lane] = walking.floor[lane].max(there);
            }
        }
    }

    pub(super) fn end(&mut self, strand: u32, index: u64, step: &Step) {
        let communicates = self.communicates.get(usize::from(step.op().0)).copied().unwrap_or(false);
        let walking = &mut self.walking[strand as usize];
        let ending = Ending::of(step, walking);
        let cut = ending.cut(&mut walking.debt);
        let (mut end, mut free) = ([LaneMoment::default(); LANES], [LaneMoment::default(); LANES]);
        let mut pieces = [Pieces::Endless; LANES];
        for (lane, setting) in self.lanes.iter().enumerate() {
            let cut = if setting.without_tracer { cut } else { Length::ZERO };
            let recorded = ending.recorded(step, cut, self.fit);
            let Some(recorded) = recorded.in_lane(setting, step.site(), index, communicates) else {
                (end[lane], free[lane]) = (walking.start[lane], walking.start[lane]);
                continue;
            };
            end[lane] =
                end_in_lane(walking, lane, setting, (ending.late, step.site()), communicates, recorded);
            free[lane] = end[lane];
            if self.overlapping
                && let Some(overlapped) = setting.overlaps(step.site())
            {
                pieces[lane] = overlapped;
                let start = unheld_start(walking, lane, setting);
                let unheld = setting.end(start, None, LaneMoment::NEVER, communicates, recorded);
                free[lane] = unheld.min(end[lane]);
            }
        }
        walking.removed = walking.removed.saturating_add(ending.polls.tracer);
        let without_tracer = step.end.saturating_sub(walking.removed);
        let (start, missed) = (walking.start, walking.missed);
        if step.kind() != StepKind::Part {
            let (recorded_start, recorded_end) = (step.start, step.end);
            walking.last = Some(Last { recorded_start, recorded_end, start, end, free, pieces });
        }
        if step.kind() == StepKind::Call {
            self.learn(step, &ending);
            self.counts.followed += u64::from(ending.late.is_some());
            self.counts.unmatched += u64::from(missed);
        }
        self.counts.direct_only = self.counts.direct_only.max(without_tracer);
        let wait = ending.late.filter(|late| late.arrival.recorded > step.start).map(|late| Wait {
            kind: late.kind,
            until: late.arrival.recorded,
            strand: late.arrival.strand,
            step: late.arrival.step,
        });
        let all = ending.late.filter(|late| late.kind == WaitKind::All);
        let all_came = all.map(|late| late.arrival.recorded);
        let strand = strand + self.range.start;
        self.observer.step(&Seen { strand, index, step, start, end, wait, all_came });
    }

    /// What a call that waited for somebody says about the network.
    #[inline]
    fn learn(&mut self, step: &Step, ending: &Ending<LANES>) {
        let Some(late) = ending.late else { return };
        match (late.way, late.kind) {
            // Learned once, in the first walk.
            (Way::Collective(op, ranks, bytes), WaitKind::All) if LANES == 0 => {
                self.learned.learn_collective(op, ranks, bytes, ending.rest);
            }
            (Way::Message(bytes), WaitKind::Sender) => {
                let ago = step.start.saturating_since(late.arrival.recorded);
                if ago <= Length::ZERO {
                    self.learned.learn_way(bytes, step.end.saturating_since(late.arrival.recorded));
                } else {
                    self.learned.learn_handling(bytes, ago, ending.length);
                }
            }
            _ => {}
        }
    }
}

/// The step does not end before what one of several it waits for sent is there.
#[inline]
fn set_floor<const LANES: usize>(
    walking: &mut Walking<LANES>,
    step: &Step,
    other: Late<LANES>,
    lanes: &[Lane; LANES],
    fit: &Fit,
) {
    let way = other.least_way(fit).min(step.end.saturating_since(other.arrival.recorded));
    for (lane, setting) in lanes.iter().enumerate() {
        if !setting.is_model() && !setting.buffers(other.way, step.site()) {
            let there = other.arrival.replayed[lane].saturating_add(setting.way(way, other.way));
            walking.floor[lane] = walking.floor[lane].max(there);
        }
    }
}

/// What of the own time of a step that waited for a message may have been the message's way: all of it, if nobody saw what
/// taking one costs that is there, or if it only sets out when both sides are.
fn within_own<const LANES: usize>(late: &Late<LANES>, own: Length, fit: &Fit) -> Inside {
    let is_the_way = match late.way {
        Way::Message(bytes) | Way::Unbuffered(bytes) => {
            !fit.knows_handling(bytes) || fit.waits_for_both(bytes)
        }
        Way::Collective(..) => false,
    };
    Inside { length: if is_the_way { own } else { Length::ZERO }, meets: false }
}

/// For how long a message that nobody waited for was on its way within a step that took so long itself.
fn inside<const LANES: usize>(
    step: &Step,
    late: &Late<LANES>,
    (own, least_way): (Length, Length),
    fit: &Fit,
) -> Inside {
    let within = |length: Length| length.clamp(Length::ZERO, own.at_least_zero());
    match late.way {
        Way::Collective(..) => Inside::default(),
        Way::Unbuffered(_) => Inside { length: within(least_way), meets: true },
        Way::Message(bytes) if fit.waits_for_both(bytes) => Inside { length: within(least_way), meets: true },
        Way::Message(_) => {
            let there = late.arrival.recorded.saturating_add(least_way);
            Inside { length: within(there.saturating_since(step.start)), meets: false }
        }
    }
}

/// How a step receives.
#[derive(Clone, Copy)]
struct Receives {
    /// It sends as well: two ranks that exchange share the way between them.
    exchanges: bool,
    /// The message is taken by the call that asks for it, and no other on its way meanwhile.
    alone: bool,
}

/// When what the step waits for is there in a lane with a model, if the other side sent, posted or came at `other`; none
/// if it need not be waited for.
fn there_in_model<const LANES: usize>(
    walking: &mut Walking<LANES>,
    (lane, model): (usize, &Costs),
    tie: Tie,
    other: LaneMoment,
    receives: Receives,
) -> Option<LaneMoment> {
    let bytes = tie.bytes();
    let shared_ns = if receives.exchanges { model.exchange_ns(bytes) - model.message_ns(bytes) } else { 0.0 };
    let large = bytes > model.eager_limit_bytes();
    let asking = Length::from_nanos_f64(model.asking_ns());
    match tie.kind() {
        TieKind::AwaitsPost | TieKind::MayAwaitPost if !large => None,
        kind if kind.awaits_readiness() => {
            // It has asked, hears that the receiver is ready, and is free when the last byte has left.
            let asked = walking.left[lane].saturating_add(asking);
            let heard = other.max(asked).saturating_add(asking);
            let leaving = Length::from_nanos_f64((model.leaving_ns(bytes) + shared_ns).max(0.0));
            Some(heard.max(walking.busy_until[lane]).saturating_add(leaving))
        }
        TieKind::Awaits | TieKind::Looks => {
            let taking_ns = if receives.alone { model.receiving_ns(bytes) } else { model.taking_ns(bytes) };
            walking.handling[lane] += Length::from_nanos_f64(taking_ns);
            let leaves = if large {
                // The sender asks, and hears that the receiver is ready.
                let asked = other.saturating_add(asking);
                asked.max(walking.start[lane]).saturating_add(asking)
            } else {
                other
            };
            // What is not spent on taking it is spent on its way.
            let way_ns = model.message_ns(bytes) - model.sending_ns(bytes) - taking_ns + shared_ns;
            Some(leaves.saturating_add(Length::from_nanos_f64(way_ns.max(0.0))))
        }
        _ => Some(other),
    }
}

#[inline]
fn end_in_lane<const LANES: usize>(
    walking: &Walking<LANES>,
    lane: usize,
    setting: &Lane,
    (late, site): (Option<Late<LANES>>, Option<u32>),
    communicates: bool,
    recorded: Recorded,
) -> LaneMoment {
    if setting.is_model() {
        // Whoever was waited for has set the floor; then what came is taken.
        let there = walking.busy_until[lane].max(walking.floor[lane]);
        let start = there.saturating_add(walking.handling[lane]);
        return setting.end(start, None, LaneMoment::NEVER, communicates, recorded);
    }
    let late = late.filter(|late| !setting.buffers(late.way, site));
    let late = late.map(|late| (late.arrival.replayed[lane], late.way));
    setting.end(walking.start[lane], late, walking.floor[lane], communicates, recorded)
}

/// When the step would begin its own part if nobody had been waited for in overlapped calls.
#[inline]
fn unheld_start<const LANES: usize>(walking: &Walking<LANES>, lane: usize, setting: &Lane) -> LaneMoment {
    let unheld = walking.unheld[lane];
    if !setting.is_model() {
        return unheld;
    }
    let sending = walking.busy_until[lane].saturating_since(walking.start[lane]);
    unheld.saturating_add(sending).saturating_add(walking.handling[lane])
}

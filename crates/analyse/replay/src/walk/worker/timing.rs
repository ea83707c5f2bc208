//! When a step ends: from whom it waited for, in recorded time and in each lane.
//!
//! Those a step waits for come one by one (`came`). The one that was there last in the recorded run is kept as *late*:
//! it decides how the recorded call is divided into waiting and what was left to do. All others only set a *floor*: the
//! step cannot end before they are there. When none is missing any more, the step ends (`end`).

use super::super::lane::{Inside, Recorded, Spent, Way};
use super::super::lane_states::InModel;
use super::super::observer::{EndedStep, Observer, Wait, WaitKind};
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
struct Ending {
    length: Length,
    /// The last of those it waits for.
    late: Option<Late>,
    /// Whether that one came only after the call had begun.
    waited: bool,
    /// It is of failed polls before one that found what they looked for.
    polling: bool,
    polls: Polls,
    /// From the moment the one waited for came to the end; the whole call if no rank was waited for.
    rest: Length,
}

impl Ending {
    #[inline]
    fn of<const LANES: usize>(step: &Step, walking: &Walking<LANES>) -> Ending {
        let (length, late) = (step.length(), walking.late);
        let waited = late.is_some_and(|late| {
            let on_the_way = late.kind == WaitKind::Sender && late.there > step.start;
            on_the_way || late.recorded >= step.start
        });
        let rest = match late {
            Some(late) if waited => step.end.saturating_since(late.recorded),
            _ => length,
        };
        let polls = walking.polls.unwrap_or(Polls { tracer: Length::ZERO, inside: length });
        Ending { length, late, waited, polling: step.kind() == StepKind::Polling, polls, rest }
    }

    /// What is to be taken out of the call for the tracer's sake: what it took between polls, and of what could not be
    /// removed from gaps before as much as there is room for. Only the part of the call that did not wait can be
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
                let way = least.min(step.end.saturating_since(late.recorded));
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
    pub(super) fn came(&mut self, strand: u32, step: &Step, tie: Tie, arrival: &Arrival<LANES>) {
        let awaited = tie.kind();
        if awaited.awaits_readiness() {
            let came = arrival.recorded - Length(i64::from(awaited == TieKind::AwaitsReady));
            let in_vain =
                came >= step.end && step.kind() != StepKind::Polling || awaited == TieKind::MayAwaitPost;
            // A message may be too large for a model's buffers, though it was buffered in the recorded run.
            if matches!(awaited, TieKind::AwaitsPost | TieKind::MayAwaitPost) || !in_vain {
                self.came_in_models(strand, step, tie, arrival);
            }
            // Who was ready only after the call was over was not waited for.
            if in_vain {
                return;
            }
        } else {
            self.came_in_models(strand, step, tie, arrival);
        }
        let (kind, way, least_way) = self.meaning(step, tie, awaited);
        let Arrival { recorded, strand: who, step: by, .. } = *arrival;
        let late =
            Late { recorded, strand: who, step: by, kind, way, there: recorded.saturating_add(least_way) };
        let walking = &mut self.walking[strand as usize];
        match walking.late {
            Some(before) if before.there >= late.there => {
                self.set_floor(strand, step, late, arrival.replayed)
            }
            before => {
                let before_at = walking.late_at;
                (walking.late, walking.late_at) = (Some(late), arrival.replayed);
                if let Some(before) = before {
                    self.set_floor(strand, step, before, before_at);
                }
            }
        }
    }

    /// The step does not end before what one of several it waits for sent is there.
    #[inline]
    fn set_floor(&mut self, strand: u32, step: &Step, other: Late, at: [LaneMoment; LANES]) {
        let floor = &mut self.walking[strand as usize].floor;
        let way = other.least_way(self.fit).min(step.end.saturating_since(other.recorded));
        let others = self.lanes.with_other_way(step.site());
        let before = *floor;
        for (floor, at) in floor.iter_mut().zip(at) {
            *floor = at.saturating_add(way).max(*floor);
        }
        for lane in others.each() {
            let setting = &self.lanes.each[lane];
            floor[lane] = before[lane];
            if !setting.is_model() && !setting.buffers(other.way, step.site()) {
                let there = at[lane].saturating_add(setting.way_to(step.site(), way, other.way));
                floor[lane] = floor[lane].max(there);
            }
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
    #[inline]
    fn came_in_models(&mut self, strand: u32, step: &Step, tie: Tie, arrival: &Arrival<LANES>) {
        for lane in self.lanes.modelled.each() {
            let Some(model) = self.lanes.each[lane].model() else { continue };
            let walking = &mut self.walking[strand as usize];
            let state = &mut self.in_models[strand as usize][lane];
            let (start, other) = (walking.start[lane], arrival.replayed[lane]);
            if let Some(there) = there_in_model(state, model, tie, (start, other), Receives::of(step)) {
                walking.floor[lane] = walking.floor[lane].max(there);
            }
        }
    }

    pub(super) fn end(&mut self, strand: u32, index: u64, step: &Step) {
        let walking = &mut self.walking[strand as usize];
        let ending = Ending::of(step, walking);
        let cut = ending.cut(&mut walking.debt);
        let end = self.ends(strand, index, step, (&ending, cut));
        let walking = &mut self.walking[strand as usize];
        walking.removed = walking.removed.saturating_add(ending.polls.tracer);
        let without_tracer = step.end.saturating_sub(walking.removed);
        let (start, missed) = (walking.start, walking.missed);
        if step.kind() != StepKind::Part {
            let (recorded_start, recorded_end) = (step.start, step.end);
            walking.last = Some(Last { recorded_start, recorded_end, start, end });
        }
        if step.kind() == StepKind::Call {
            // Learned once, in the first walk.
            if LANES == 0 {
                self.learn(step, &ending);
            }
            self.counts.followed += u64::from(ending.late.is_some());
            self.counts.unmatched += u64::from(missed);
        }
        self.counts.direct_only = self.counts.direct_only.max(without_tracer);
        let wait = ending.late.filter(|late| late.recorded > step.start).map(|late| Wait {
            kind: late.kind,
            until: late.recorded,
            strand: late.strand,
            step: late.step,
        });
        let all = ending.late.filter(|late| late.kind == WaitKind::All);
        let all_came = all.map(|late| late.recorded);
        let strand = strand + self.range.start;
        self.observer.step(&EndedStep { strand, index, step, start, end, wait, all_came });
    }

    /// When a step ends in each lane, if so much is to be cut out of it where the tracer is missing.
    #[inline]
    fn ends(
        &mut self,
        strand: u32,
        index: u64,
        step: &Step,
        (ending, cut): (&Ending, Length),
    ) -> [LaneMoment; LANES] {
        let Walking { start, late_at, floor, .. } = &self.walking[strand as usize];
        let recorded = ending.recorded(step, Length::ZERO, self.fit);
        // Nobody, who is waited for nowhere, is there before everything that happens.
        let mut end: [LaneMoment; LANES] = std::array::from_fn(|lane| {
            let there = late_at[lane].saturating_add(recorded.way);
            start[lane].saturating_add(recorded.own).max(there).max(floor[lane])
        });
        let mut others = self.lanes.with_other_end(step.site(), index);
        let mut without_tracer = recorded;
        if cut != Length::ZERO {
            others = others.and(self.lanes.without_tracer);
            without_tracer = ending.recorded(step, cut, self.fit);
        }
        for lane in others.each() {
            let recorded = if self.lanes.each[lane].without_tracer { without_tracer } else { recorded };
            end[lane] = self.end_in_lane(strand, lane, (index, step), ending.late, recorded);
        }
        end
    }

    /// When a step ends in a lane in which anything about it may be different.
    fn end_in_lane(
        &mut self,
        strand: u32,
        lane: usize,
        (index, step): (u64, &Step),
        late: Option<Late>,
        recorded: Recorded,
    ) -> LaneMoment {
        let (setting, site) = (&self.lanes.each[lane], step.site());
        let spent = self.spent.get(usize::from(step.op().0)).copied().unwrap_or(Spent::Else);
        let walking = &self.walking[strand as usize];
        let recorded = recorded.in_lane(setting, site, index, spent);
        let model =
            self.in_models.get(strand as usize).map(|states| states[lane]).filter(|_| setting.is_model());
        let end = match (recorded, model) {
            (None, _) => walking.start[lane],
            (Some(recorded), Some(state)) => {
                // Whoever was waited for has set the floor; then what came is taken.
                let there = state.busy_until.max(walking.floor[lane]);
                let start = there.saturating_add(state.handling);
                setting.end(start, None, LaneMoment::MINUS_INFINITY, spent, recorded)
            }
            (Some(recorded), None) => {
                let late = late.filter(|late| !setting.buffers(late.way, site));
                let late = late.map(|late| (walking.late_at[lane], late.way));
                setting.end(walking.start[lane], late, walking.floor[lane], spent, recorded)
            }
        };
        if step.kind() != StepKind::Part && self.lanes.overlapping.has(lane) {
            let overlap = &mut self.overlaps[strand as usize][lane];
            (overlap.free, overlap.pieces) = (end, Pieces::Endless);
            if let (Some(recorded), Some(pieces)) = (recorded, setting.overlaps(site)) {
                // When the step would begin its own part if no rank had been waited for in overlapped calls.
                let start = model.map_or(overlap.unheld, |state| {
                    let sending = state.busy_until.saturating_since(walking.start[lane]);
                    overlap.unheld.saturating_add(sending).saturating_add(state.handling)
                });
                // Nor is any on its way any more.
                let own = recorded.own - recorded.inside.length;
                let recorded = Recorded { own, inside: Inside::default(), ..recorded };
                let unheld = setting.end(start, None, LaneMoment::MINUS_INFINITY, spent, recorded);
                (overlap.free, overlap.pieces) = (unheld.min(end), pieces);
            }
        }
        end
    }

    /// What a call that waited says about the network.
    #[inline]
    fn learn(&mut self, step: &Step, ending: &Ending) {
        let Some(late) = ending.late else { return };
        match (late.way, late.kind) {
            (Way::Collective(op, ranks, bytes), WaitKind::All) => {
                self.learned.learn_collective(op, ranks, bytes, ending.rest);
            }
            (Way::Message(bytes), WaitKind::Sender) => {
                let ago = step.start.saturating_since(late.recorded);
                if ago <= Length::ZERO {
                    self.learned.learn_way(bytes, step.end.saturating_since(late.recorded));
                } else {
                    self.learned.learn_handling(bytes, ago, ending.length);
                }
            }
            _ => {}
        }
    }
}

/// What of the own time of a step that waited for a message may have been the message's way: all of it, if there is no record
/// of what taking one costs that is there, or if it only sets out when both sides are.
fn within_own(late: &Late, own: Length, fit: &Fit) -> Inside {
    let is_the_way = match late.way {
        Way::Message(bytes) | Way::Unbuffered(bytes) => {
            !fit.knows_handling(bytes) || fit.waits_for_both(bytes)
        }
        Way::Collective(..) => false,
    };
    Inside { length: if is_the_way { own } else { Length::ZERO }, meets: false }
}

/// For how long a message that no rank waited for was on its way within a step that took so long itself.
fn inside(step: &Step, late: &Late, (own, least_way): (Length, Length), fit: &Fit) -> Inside {
    let within = |length: Length| length.clamp(Length::ZERO, own.at_least_zero());
    match late.way {
        Way::Collective(..) => Inside::default(),
        Way::Unbuffered(_) => Inside { length: within(least_way), meets: true },
        Way::Message(bytes) if fit.waits_for_both(bytes) => Inside { length: within(least_way), meets: true },
        Way::Message(_) => {
            let there = late.recorded.saturating_add(least_way);
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

impl Receives {
    fn of(step: &Step) -> Receives {
        let kind = step.op().kind();
        Receives {
            exchanges: matches!(kind, Kind::SendReceive(_)),
            alone: matches!(kind, Kind::SendReceive(Form::Blocking) | Kind::Receive(Form::Blocking)),
        }
    }
}

/// When what a step that begins at `start` waits for is there in a lane with a model, if the other side sent, posted or
/// came at `other`; none if it need not be waited for.
fn there_in_model(
    state: &mut InModel,
    model: &Costs,
    tie: Tie,
    (start, other): (LaneMoment, LaneMoment),
    receives: Receives,
) -> Option<LaneMoment> {
    let bytes = tie.bytes();
    let shared_ns = if receives.exchanges { model.exchange_ns(bytes) - model.message_ns(bytes) } else { 0.0 };
    let large = bytes > model.eager_limit_bytes();
    let asking = Length::from_nanos_f64(model.asking_ns());
    match tie.kind() {
        TieKind::AwaitsPost | TieKind::MayAwaitPost if !large => None,
        kind if kind.awaits_readiness() => {
            // It has sent the request, learns that the receiver is ready, and is free when the last byte has left.
            let asked = state.left.saturating_add(asking);
            let heard = other.max(asked).saturating_add(asking);
            let leaving = Length::from_nanos_f64((model.leaving_ns(bytes) + shared_ns).max(0.0));
            Some(heard.max(state.busy_until).saturating_add(leaving))
        }
        TieKind::Awaits | TieKind::Looks => {
            let taking_ns = if receives.alone { model.receiving_ns(bytes) } else { model.taking_ns(bytes) };
            state.handling += Length::from_nanos_f64(taking_ns);
            let leaves = if large {
                // The sender sends the request, and learns that the receiver is ready.
                let asked = other.saturating_add(asking);
                asked.max(start).saturating_add(asking)
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

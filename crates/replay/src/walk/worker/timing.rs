//! When a step ends: from what it waited for, in recorded time and in each lane.

use super::super::board::Note;
use super::super::lane::{Recorded, Way};
use super::super::observer::{Observer, Seen, Wait, WaitKind};
use super::super::strand::{Last, Late};
use super::Worker;
use kizami_graph::{Step, StepKind, Tie, TieKind};

impl<const LANES: usize, O: Observer<LANES>> Worker<'_, LANES, O> {
    /// Somebody the step waits for came at this moment.
    pub(super) fn came(&mut self, strand: u32, step: &Step, tie: Tie, note: Note<LANES>) {
        let bytes = tie.bytes();
        let (kind, way, least_ns) = match tie.kind() {
            kind if kind.awaits_readiness() => {
                let late_ns = note.recorded_ns - i64::from(kind == TieKind::AwaitsReady);
                let in_vain = late_ns >= step.end_ns && step.kind() != StepKind::Polling;
                // A large message may be too large for a model's buffers, though it was buffered in the recorded run.
                if kind == TieKind::AwaitsPost || !in_vain {
                    self.came_in_models(strand, tie, &note);
                }
                // Who was ready only after the call was over was not waited for.
                if in_vain {
                    return;
                }
                let wait = if kind == TieKind::LooksReady { WaitKind::Window } else { WaitKind::Receiver };
                let way = match kind {
                    TieKind::AwaitsPost => Way::Unbuffered(bytes),
                    _ => Way::Message(bytes),
                };
                (wait, way, 0)
            }
            TieKind::AwaitsAll | TieKind::AwaitsLower | TieKind::AwaitsRoot => {
                let ranks = self.graph.members.sizes[tie.place() as usize];
                let kind = match tie.kind() {
                    TieKind::AwaitsRoot => WaitKind::Root,
                    TieKind::AwaitsLower => WaitKind::Lower,
                    _ => WaitKind::All,
                };
                (kind, Way::Collective(step.op(), ranks, bytes), 0)
            }
            _ => (WaitKind::Sender, Way::Message(bytes), self.fit.way_ns(bytes)),
        };
        if self.modelled && !tie.kind().awaits_readiness() {
            self.came_in_models(strand, tie, &note);
        }
        let walking = &mut self.walking[strand as usize];
        let there_ns = note.recorded_ns.saturating_add(least_ns);
        let late = Late { note, kind, way, there_ns };
        let other = match walking.late {
            Some(before) if before.there_ns >= there_ns => Some(late),
            before => {
                walking.late = Some(late);
                before
            }
        };
        if let Some(other) = other {
            let way_ns = match other.way {
                Way::Message(bytes) if other.kind == WaitKind::Sender => self.fit.way_ns(bytes),
                _ => 0,
            };
            let way_ns = way_ns.min(step.end_ns.saturating_sub(other.note.recorded_ns));
            for (lane, setting) in self.lanes.iter().enumerate() {
                if !setting.is_model() && !setting.buffers(other.way) {
                    let there_ns = other.note.new_ns[lane].saturating_add(setting.way_ns(way_ns, other.way));
                    walking.floor_ns[lane] = walking.floor_ns[lane].max(there_ns);
                }
            }
        }
    }

    /// The same in lanes with a model of the network: there every way is worked out.
    fn came_in_models(&mut self, strand: u32, tie: Tie, note: &Note<LANES>) {
        for (lane, setting) in self.lanes.iter().enumerate() {
            let Some(model) = setting.model() else { continue };
            let walking = &mut self.walking[strand as usize];
            let bytes = tie.bytes();
            let large = bytes > model.eager_limit_bytes;
            let there_ns = match tie.kind() {
                TieKind::AwaitsPost | TieKind::AwaitsReady | TieKind::LooksReady
                    if large || tie.kind() != TieKind::AwaitsPost =>
                {
                    // It has asked, hears that the receiver is ready, and is free when the last byte has left.
                    let latency_ns = model.latency_ns.round() as i64;
                    let asked_ns = walking.left_ns[lane].saturating_add(latency_ns);
                    let heard_ns = note.new_ns[lane].max(asked_ns).saturating_add(latency_ns);
                    let leaving_ns = (model.per_byte_ns * bytes as f64).round() as i64;
                    heard_ns.max(walking.busy_ns[lane]).saturating_add(leaving_ns)
                }
                TieKind::AwaitsPost => continue,
                TieKind::Awaits | TieKind::Looks => {
                    walking.handling_ns[lane] += model.handling_ns(bytes).round() as i64;
                    let asked_ns = note.new_ns[lane].saturating_add(model.latency_ns.round() as i64);
                    let leaves_ns = if large {
                        // The sender asks, and hears that the receiver is ready.
                        asked_ns.max(walking.start_ns[lane]).saturating_add(model.latency_ns.round() as i64)
                    } else {
                        note.new_ns[lane]
                    };
                    leaves_ns.saturating_add(model.way_ns(bytes).round() as i64)
                }
                _ => note.new_ns[lane],
            };
            walking.floor_ns[lane] = walking.floor_ns[lane].max(there_ns);
        }
    }

    pub(super) fn end(&mut self, strand: u32, index: u64, step: &Step) {
        let communicates = self.communicates.get(usize::from(step.op().0)).copied().unwrap_or(false);
        let polling = step.kind() == StepKind::Polling;
        let fit = self.fit;
        let walking = &mut self.walking[strand as usize];
        let length_ns = step.length_ns();
        let late = walking.late;
        let waited = late.is_some_and(|late| match late.kind {
            WaitKind::Sender => late.there_ns > step.start_ns || late.note.recorded_ns >= step.start_ns,
            _ => late.note.recorded_ns >= step.start_ns,
        });
        let (within_ns, inside_ns) = walking.polls.unwrap_or((0, length_ns));
        let rest_ns = match late {
            Some(late) if waited => step.end_ns.saturating_sub(late.note.recorded_ns),
            _ => length_ns,
        };
        // What the tracer took is taken out of the part of the call that waited for nobody; polls that found nothing
        // only waited.
        let open_ns = if waited && polling { 0 } else { rest_ns.min(length_ns) };
        let busy_ns = open_ns - within_ns.min(open_ns).max(0);
        let paid_ns = walking.debt_ns.min(busy_ns).max(0);
        walking.debt_ns -= paid_ns;
        let cut_ns = open_ns - busy_ns + paid_ns;
        let (mut end_ns, mut free_ns) = ([0; LANES], [0; LANES]);
        for (lane, setting) in self.lanes.iter().enumerate() {
            let cut_ns = if setting.without_tracer { cut_ns } else { 0 };
            let recorded = match late {
                // Polls end when they see what they look for, or a little earlier: they do nothing else.
                Some(_) if waited && polling => Recorded { own_ns: 0, way_ns: rest_ns, busy_ns: 0 },
                Some(late) if waited => {
                    let way_ns = rest_ns - cut_ns;
                    let own_ns = match late.way {
                        Way::Message(bytes) | Way::Unbuffered(bytes) => {
                            fit.handling_ns(bytes).min(way_ns).min(length_ns).max(0)
                        }
                        Way::Collective(..) => 0,
                    };
                    Recorded { own_ns, way_ns, busy_ns: 0 }
                }
                Some(late) => {
                    let recorded_ns = step.end_ns.saturating_sub(late.note.recorded_ns);
                    let way_ns = match late.way {
                        Way::Message(bytes) if late.kind == WaitKind::Sender => fit.way_ns(bytes),
                        _ => 0,
                    };
                    let busy_ns = length_ns.saturating_sub(inside_ns).max(0);
                    Recorded { own_ns: length_ns - cut_ns, way_ns: way_ns.min(recorded_ns), busy_ns }
                }
                None => {
                    let busy_ns = length_ns.saturating_sub(inside_ns).max(0);
                    Recorded { own_ns: length_ns - cut_ns, way_ns: 0, busy_ns }
                }
            };
            end_ns[lane] = if setting.is_model() {
                let start_ns = walking.busy_ns[lane].max(walking.floor_ns[lane]);
                let start_ns = start_ns.saturating_add(walking.handling_ns[lane]);
                setting.end_ns(start_ns, None, i64::MIN, communicates, recorded)
            } else {
                let late = late.filter(|late| !setting.buffers(late.way));
                let late_ns = late.map(|late| (late.note.new_ns[lane], late.way));
                setting.end_ns(
                    walking.start_ns[lane],
                    late_ns,
                    walking.floor_ns[lane],
                    communicates,
                    recorded,
                )
            };
            free_ns[lane] = end_ns[lane];
            if self.overlapping && setting.overlaps(step.site()) {
                let mut own_ns = walking.unheld_ns[lane];
                if setting.is_model() {
                    own_ns += walking.busy_ns[lane] - walking.start_ns[lane] + walking.handling_ns[lane];
                }
                free_ns[lane] =
                    setting.end_ns(own_ns, None, i64::MIN, communicates, recorded).min(end_ns[lane]);
            }
        }
        let call = step.kind() == StepKind::Call;
        if let Some(late) = late
            && let (Way::Collective(op, ranks, bytes), WaitKind::All, true) = (late.way, late.kind, call)
            // Learned once, in the first walk.
            && LANES == 0
        {
            self.learned.learn_collective(op, ranks, bytes, rest_ns);
        }
        if let Some(late) = late
            && let (Way::Message(bytes), WaitKind::Sender, true) = (late.way, late.kind, call)
        {
            let ago_ns = step.start_ns.saturating_sub(late.note.recorded_ns);
            if ago_ns <= 0 {
                self.learned.learn_way(bytes, step.end_ns.saturating_sub(late.note.recorded_ns));
            } else {
                self.learned.learn_handling(bytes, ago_ns, length_ns);
            }
        }
        self.counts.followed += u64::from(late.is_some() && call);
        self.counts.unmatched += u64::from(walking.missed && call);
        walking.removed_ns = walking.removed_ns.saturating_add(within_ns);
        self.counts.direct_only_ns =
            self.counts.direct_only_ns.max(step.end_ns.saturating_sub(walking.removed_ns));
        let start_ns = walking.start_ns;
        if step.kind() != StepKind::Part {
            walking.last =
                Some(Last { recorded_ns: (step.start_ns, step.end_ns), start_ns, end_ns, free_ns });
        }
        let wait = late.filter(|late| late.note.recorded_ns > step.start_ns).map(|late| Wait {
            kind: late.kind,
            until_ns: late.note.recorded_ns,
            strand: late.note.strand,
            step: late.note.step,
        });
        let all_came_ns = late.filter(|late| late.kind == WaitKind::All).map(|late| late.note.recorded_ns);
        let strand = strand + self.range.start;
        self.observer.step(&Seen { strand, index, step, start_ns, end_ns, wait, all_came_ns });
    }
}

//! The walk: gives every step its time in the run without the tracer.
//!
//! Threads are walked in happened-before order. One that needs to know when another came is parked until that
//! one has been walked there. Threads are kept within a slice of recorded time of each other, so that what is
//! remembered is what was under way. If all are parked, something awaited is not in the trace, or was not
//! really awaited; then the one whose call ended first in the recorded run goes on without it: nothing it
//! waited for can come from calls that ended later.
//!
//! The rules. Between calls: the gap, without what the tracer took in it. In a call that waited for nobody:
//! its recorded length. In one that waited: `end' = max(start', arrival') + (end - max(start, arrival))`, where
//! arrival is when the last of those it waited for sent, posted or came. With nothing taken out, every time comes
//! out exactly as it was recorded.
//!
//! It knows only what calls said about each other. The engine that replays whole runs under other settings can
//! take its place: it needs the same steps and links, and gives the same times back.

use super::gather::ThreadSteps;
use super::latency::Latencies;
use super::meeting::{Answer, Board, Meetings, Moment};
use super::spool::{Link, Spool, Step, StepKind, Tie};
use std::collections::{BTreeSet, VecDeque};

/// Slices of recorded time the run is cut into.
const SLICES: i64 = 4_096;
/// Steps between two reports.
const REPORT_STEPS: u64 = 1 << 16;

/// What came of the walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Walked {
    /// The last end of all, with delays taken out of each thread alone.
    pub direct_only_ns: i64,
    /// Calls whose waiting was followed.
    pub followed: u64,
    /// Calls whose partners did not come, and messages nobody took.
    pub unmatched: u64,
}

/// Walks all threads. `span_ns` is the length of the recorded run; `sizes` are those of communicators.
pub(super) fn walk(
    spool: &mut Spool,
    threads: &[ThreadSteps],
    sizes: Vec<u32>,
    span_ns: i64,
    progress: &dyn Fn(u64),
) -> Walked {
    let mut walk = Walk {
        spool,
        threads: threads.iter().map(|thread| Walking::new(thread.first_step)).collect(),
        slice_ns: (span_ns / SLICES).max(1),
        horizon_ns: i64::MIN,
        ready: VecDeque::new(),
        later: Vec::new(),
        parked: BTreeSet::new(),
        departures: Board::default(),
        postings: Board::default(),
        meetings: Meetings::new(sizes),
        latencies: Latencies::new(),
        walked: Walked { direct_only_ns: i64::MIN, ..Walked::default() },
        steps: 0,
        progress,
    };
    walk.line_up(threads);
    walk.run();
    let mut walked = walk.walked;
    walked.unmatched += walk.departures.left();
    walked
}

/// One thread on its way.
struct Walking {
    step: u64,
    last: Option<Last>,
    /// What could not be taken out of gaps and is still to be taken out of calls.
    debt_ns: i64,
    /// All that was to be taken out so far.
    removed_ns: i64,
    /// How much earlier the thread began.
    shift_ns: i64,
    /// The step it is in, if it has begun it.
    within: Option<Within>,
    /// What it is parked for.
    parked_for: Option<Link>,
    /// Threads of the same rank that have not begun, the first last; only the first thread of a rank has any.
    heirs: Vec<u32>,
}

/// The call before.
#[derive(Clone, Copy)]
struct Last {
    start: Moment,
    end: Moment,
}

impl Last {
    fn length_ns(&self, clock: impl Fn(Moment) -> i64) -> i64 {
        clock(self.end).saturating_sub(clock(self.start))
    }
}

/// A step that has begun.
struct Within {
    start_ns: i64,
    /// Links looked at so far.
    links: u32,
    arrival: Option<Arrival>,
    /// No end is before this: messages need their time.
    not_before_ns: i64,
    missed: bool,
}

/// The last of those who were waited for.
#[derive(Clone, Copy)]
struct Arrival {
    moment: Moment,
    /// Size of the message, if it was one.
    message_bytes: Option<u64>,
}

impl Walking {
    fn new(first_step: u64) -> Walking {
        Walking {
            step: first_step,
            last: None,
            debt_ns: 0,
            removed_ns: 0,
            shift_ns: 0,
            within: None,
            parked_for: None,
            heirs: Vec::new(),
        }
    }
}

struct Walk<'a> {
    spool: &'a mut Spool,
    threads: Vec<Walking>,
    slice_ns: i64,
    /// Steps that begin later in the recorded run have to wait for the others.
    horizon_ns: i64,
    ready: VecDeque<u32>,
    later: Vec<(i64, u32)>,
    /// By the recorded end of the call they are parked in.
    parked: BTreeSet<(i64, u32)>,
    departures: Board,
    postings: Board,
    meetings: Meetings,
    latencies: Latencies,
    walked: Walked,
    steps: u64,
    progress: &'a dyn Fn(u64),
}

impl Walk<'_> {
    /// The first thread of each rank begins; it starts the others.
    fn line_up(&mut self, threads: &[ThreadSteps]) {
        let mut first = 0;
        for (index, thread) in threads.iter().enumerate() {
            if index == 0 || threads[first].rank != thread.rank {
                first = index;
                self.ready.push_back(index as u32);
            } else {
                self.threads[first].heirs.insert(0, index as u32);
            }
        }
    }

    fn run(&mut self) {
        loop {
            if let Some(thread) = self.ready.pop_front() {
                self.advance(thread);
            } else if let Some(next_ns) = self.later.iter().map(|(start_ns, _)| *start_ns).min() {
                self.horizon_ns = next_ns.saturating_add(self.slice_ns);
                self.ready.extend(self.later.drain(..).map(|(_, thread)| thread));
            } else if let Some((_, thread)) = self.parked.pop_first() {
                self.go_on_without(thread);
            } else {
                return;
            }
        }
    }

    /// Walks a thread until it is parked, too far ahead or done.
    fn advance(&mut self, thread: u32) {
        loop {
            let index = self.threads[thread as usize].step;
            let step = self.spool.step(index);
            if self.threads[thread as usize].within.is_none() {
                if step.start_ns > self.horizon_ns {
                    return self.later.push((step.start_ns, thread));
                }
                self.begin(thread, &step);
            }
            if !self.wait(thread, &step) {
                return;
            }
            self.end(thread, index, &step);
            if step.next == 0 {
                return self.release_heirs(thread, i64::MAX);
            }
            self.threads[thread as usize].step = index + step.next;
            self.steps += 1;
            if self.steps.is_multiple_of(REPORT_STEPS) {
                (self.progress)(self.steps);
            }
        }
    }

    fn begin(&mut self, thread: u32, step: &Step) {
        let walking = &mut self.threads[thread as usize];
        let start_ns = match (walking.last, step.kind) {
            (None, _) => step.start_ns.saturating_sub(walking.shift_ns),
            (Some(last), StepKind::Part) => {
                let into_ns = step.start_ns.saturating_sub(last.start.recorded_ns);
                let shorter_ns =
                    last.length_ns(|at| at.recorded_ns).saturating_sub(last.length_ns(|at| at.new_ns));
                last.start.new_ns.saturating_add(into_ns.saturating_sub(shorter_ns.clamp(0, into_ns.max(0))))
            }
            (Some(last), _) => {
                let gap_ns = step.start_ns.saturating_sub(last.end.recorded_ns);
                let wanted_ns = step.before_ns.saturating_add(walking.debt_ns);
                let taken_ns = wanted_ns.min(gap_ns).max(0);
                walking.removed_ns = walking.removed_ns.saturating_add(step.before_ns);
                walking.debt_ns = wanted_ns - taken_ns;
                last.end.new_ns.saturating_add(gap_ns - taken_ns)
            }
        };
        walking.within =
            Some(Within { start_ns, links: 0, arrival: None, not_before_ns: i64::MIN, missed: false });
        if step.kind != StepKind::Polling {
            self.tell(step, Moment { recorded_ns: step.start_ns, new_ns: start_ns });
        }
        let shift_ns = step.start_ns.saturating_sub(start_ns);
        self.threads[thread as usize].shift_ns = shift_ns;
        self.release_heirs(thread, step.end_ns);
    }

    /// Tells the others what they may be waiting for.
    fn tell(&mut self, step: &Step, start: Moment) {
        let mut woken = Vec::new();
        for number in 0..step.links.1 {
            let link = self.spool.link(step.links.0 + u64::from(number));
            match link.tie {
                Tie::Departs => woken.extend(self.departures.tell(link.key, start)),
                Tie::Posts => woken.extend(self.postings.tell(link.key, start)),
                Tie::Enters | Tie::Passes | Tie::EntersAsRoot | Tie::PassesAsRoot => {
                    let root = matches!(link.tie, Tie::EntersAsRoot | Tie::PassesAsRoot);
                    self.meetings.come(link.key, link.bytes, start, root, &mut woken);
                    if matches!(link.tie, Tie::Passes | Tie::PassesAsRoot) {
                        self.meetings.leave(link.key);
                    }
                }
                Tie::Awaits | Tie::Looks | Tie::AwaitsPost | Tie::AwaitsAll | Tie::AwaitsRoot => {}
            }
        }
        for thread in woken {
            self.wake(thread);
        }
    }

    fn wake(&mut self, thread: u32) {
        let walking = &mut self.threads[thread as usize];
        if walking.parked_for.take().is_some() {
            let end_ns = self.spool.step(walking.step).end_ns;
            self.parked.remove(&(end_ns, thread));
            self.ready.push_back(thread);
        }
    }

    /// Looks for all the step waits for; false if the thread had to be parked.
    fn wait(&mut self, thread: u32, step: &Step) -> bool {
        loop {
            let Some(within) = &self.threads[thread as usize].within else { return true };
            let number = within.links;
            if number >= step.links.1 {
                return true;
            }
            let link = self.spool.link(step.links.0 + u64::from(number));
            if link.tie.tells() {
                self.seen(thread, step, link, None);
                continue;
            }
            // Polls only look: the call behind them takes.
            let takes = step.kind != StepKind::Polling;
            let came = match link.tie {
                Tie::AwaitsPost => self.postings.ask(link.key, thread, takes),
                Tie::AwaitsAll | Tie::AwaitsRoot => {
                    match self.meetings.ask(link.key, thread, link.tie == Tie::AwaitsRoot) {
                        Answer::Came(moment) => Some(moment),
                        Answer::Wait => None,
                        Answer::Mixed => {
                            self.miss(thread, step, link);
                            continue;
                        }
                    }
                }
                _ => self.departures.ask(link.key, thread, takes && link.tie == Tie::Awaits),
            };
            let Some(moment) = came else {
                self.threads[thread as usize].parked_for = Some(link);
                self.parked.insert((step.end_ns, thread));
                return false;
            };
            self.seen(thread, step, link, Some(moment));
        }
    }

    /// A link has been looked at, and this is when its other side came.
    fn seen(&mut self, thread: u32, step: &Step, link: Link, came: Option<Moment>) {
        if matches!(link.tie, Tie::AwaitsAll | Tie::AwaitsRoot) && step.kind != StepKind::Polling {
            self.meetings.leave(link.key);
        }
        let Some(within) = &mut self.threads[thread as usize].within else { return };
        within.links += 1;
        // Who came after the call was over was not waited for. Polls end before what they look for is there.
        let Some(moment) =
            came.filter(|moment| moment.recorded_ns < step.end_ns || step.kind == StepKind::Polling)
        else {
            return;
        };
        let message_bytes = matches!(link.tie, Tie::Awaits | Tie::Looks).then_some(link.bytes);
        if let Some(bytes) = message_bytes
            && step.kind != StepKind::Polling
        {
            let way_ns = self.latencies.least_ns(bytes).min(step.end_ns.saturating_sub(moment.recorded_ns));
            within.not_before_ns = within.not_before_ns.max(moment.new_ns.saturating_add(way_ns));
        }
        within.arrival = Some(match within.arrival {
            None => Arrival { moment, message_bytes },
            Some(before) => {
                let later = moment.recorded_ns > before.moment.recorded_ns;
                Arrival {
                    moment: Moment {
                        recorded_ns: moment.recorded_ns.max(before.moment.recorded_ns),
                        new_ns: moment.new_ns.max(before.moment.new_ns),
                    },
                    message_bytes: if later { message_bytes } else { before.message_bytes },
                }
            }
        });
    }

    /// The other side of a link is not to be had.
    fn miss(&mut self, thread: u32, step: &Step, link: Link) {
        if let Some(within) = &mut self.threads[thread as usize].within {
            within.missed = true;
        }
        self.seen(thread, step, link, None);
    }

    /// All are parked, and this one's call ended first.
    fn go_on_without(&mut self, thread: u32) {
        let walking = &mut self.threads[thread as usize];
        let Some(link) = walking.parked_for.take() else { return };
        let step = self.spool.step(walking.step);
        match link.tie {
            Tie::Awaits | Tie::Looks => self.departures.give_up(link.key),
            Tie::AwaitsPost => self.postings.give_up(link.key),
            _ => {}
        }
        if link.tie == Tie::AwaitsPost {
            // A large message that was buffered all the same: its sender never waited.
            self.seen(thread, &step, link, None);
        } else {
            self.miss(thread, &step, link);
        }
        self.ready.push_back(thread);
    }

    fn end(&mut self, thread: u32, index: u64, step: &Step) {
        let walking = &mut self.threads[thread as usize];
        let Some(within) = walking.within.take() else { return };
        let start_ns = within.start_ns;
        // The last one to come to a collective waited for nobody, but may not be the last any more.
        let waited = within.arrival.filter(|arrival| arrival.moment.recorded_ns >= step.start_ns);
        let end_ns = match waited {
            Some(arrival) if step.kind == StepKind::Polling => {
                let behind_ns = step.end_ns.saturating_sub(arrival.moment.recorded_ns);
                start_ns.max(arrival.moment.new_ns.saturating_add(behind_ns))
            }
            _ => {
                let from_ns = waited.map_or(step.start_ns, |arrival| arrival.moment.recorded_ns);
                let rest_ns = step.end_ns.saturating_sub(from_ns);
                let busy_ns = rest_ns - step.within_ns.min(rest_ns).max(0);
                let paid_ns = walking.debt_ns.min(busy_ns).max(0);
                walking.debt_ns -= paid_ns;
                let new_from_ns = waited.map_or(start_ns, |arrival| start_ns.max(arrival.moment.new_ns));
                new_from_ns.saturating_add(busy_ns - paid_ns).max(within.not_before_ns)
            }
        };
        if let Some(Arrival { moment, message_bytes: Some(bytes) }) = waited
            && step.kind == StepKind::Call
        {
            self.latencies.learn(bytes, step.end_ns.saturating_sub(moment.recorded_ns));
        }
        self.walked.followed += u64::from(within.arrival.is_some() && step.kind == StepKind::Call);
        self.walked.unmatched += u64::from(within.missed && step.kind == StepKind::Call);
        walking.removed_ns = walking.removed_ns.saturating_add(step.within_ns);
        let direct_ns = step.end_ns.saturating_sub(walking.removed_ns);
        self.walked.direct_only_ns = self.walked.direct_only_ns.max(direct_ns);
        if step.kind != StepKind::Part {
            walking.last = Some(Last {
                start: Moment { recorded_ns: step.start_ns, new_ns: start_ns },
                end: Moment { recorded_ns: step.end_ns, new_ns: end_ns },
            });
        }
        self.spool.set_times(index, start_ns, end_ns);
    }

    /// Threads that began before `until_ns` begin as much earlier as the thread that started them.
    fn release_heirs(&mut self, thread: u32, until_ns: i64) {
        while let Some(heir) = self.threads[thread as usize].heirs.last().copied() {
            let first = self.spool.step(self.threads[heir as usize].step);
            if first.start_ns >= until_ns {
                return;
            }
            self.threads[thread as usize].heirs.pop();
            let (shift_ns, removed_ns) =
                (self.threads[thread as usize].shift_ns, self.threads[thread as usize].removed_ns);
            let walking = &mut self.threads[heir as usize];
            (walking.shift_ns, walking.removed_ns) = (shift_ns, removed_ns);
            self.ready.push_back(heir);
        }
    }
}

//! The search for who is to blame, among the strands of one share.
//!
//! Every strand is followed from its last item to its first (`agenda`). Where it was late for others, it can only be said
//! what that cost once it is known what was passed on to those who waited: it stops there until each of them has left that
//! wait behind. So a wait is passed on once, with its load complete, and in the order of the waits of each strand, whichever
//! partition looks at which strand and whichever comes first.
//!
//! Partitions exchange [`News`]: the owner of the step that was waited for receives what was passed on
//! to waits of others, sends them the cost of being late if several were, and receives what these did.

mod fetching;

use crate::agenda::{Agenda, Item};
use crate::arrivals::Arrival;
use crate::back::look_back;
use crate::case::Case;
use crate::culprit::{Blame, Culprit, Doing, Excess, Fine, Occasion, Waited, add, middle};
use crate::culprits::Culprits;
use crate::excesses::Excesses;
use crate::lateness::{Cost, Lateness, Load};
use crate::loads::Loads;
use crate::waits::LongWait;
use kizami_model::{Kind, Length, Moment};
use kizami_parallel::Mailbox;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Strands that are followed between two exchanges.
const FOLLOWED_AT_A_TIME: usize = 16;

/// Messages between partitions.
pub(crate) enum News {
    /// This wait has got all that is passed on to it.
    Left(u32, Vec<Load>),
    /// What it costs to be late for this group.
    Cost(u32, Arc<Delay>),
    /// What those of a share who were late for this group did.
    Did(u32, Vec<Done>),
}

/// What it costs to be late for a group.
#[derive(Default)]
pub(crate) struct Delay {
    lateness: Lateness,
    /// When the first began to wait.
    from: Moment,
    /// When most of them came.
    usual: Moment,
}

/// What several who are late did at one time.
pub(crate) struct Done {
    doing: Doing,
    /// What it cost directly.
    direct: Fine,
    /// Until when it was done at the latest.
    until: Moment,
    worst: Occasion,
}

/// A group of waits for several who were late together.
struct Gathering<'a> {
    late: &'a [Arrival],
    delay: Arc<Delay>,
    /// Those of this share who are still to be looked at.
    left: usize,
    /// Partitions that have yet to report what their ranks did.
    silent: usize,
    doings: Vec<Done>,
}

/// What came of one share.
pub(crate) struct ShareResult {
    /// In the order of strands.
    pub culprits: Vec<(Culprit, Blame)>,
    pub waited: FxHashMap<Doing, Waited>,
    /// In the order of steps.
    pub excesses: Vec<Excess>,
}

/// The search in one share.
pub(crate) struct Inquiry<'a> {
    case: &'a Case<'a>,
    own: usize,
    strands: Range<u32>,
    agenda: Agenda,
    /// By strand: the group it cannot go on for.
    stopped: Vec<Option<u32>>,
    /// Strands that can go on.
    ready: VecDeque<u32>,
    gatherings: FxHashMap<u32, Gathering<'a>>,
    outgoing: Vec<Vec<News>>,
    loads: Loads<'a>,
    excesses: Excesses,
    culprits: Culprits,
    waited: FxHashMap<Doing, Waited>,
    /// Kept for their memory.
    delay: Delay,
    carried: Vec<Load>,
    lengths: Vec<Length>,
    doings: Vec<Done>,
}

impl<'a> Inquiry<'a> {
    pub(crate) fn new(case: &'a Case<'a>, own: usize) -> Inquiry<'a> {
        let strands = case.shares.strands(case.graph, own);
        Inquiry {
            case,
            own,
            agenda: Agenda::new(case, strands.clone()),
            stopped: vec![None; strands.len()],
            ready: strands.clone().collect(),
            gatherings: FxHashMap::default(),
            outgoing: (0..case.shares.count()).map(|_| Vec::new()).collect(),
            loads: Loads::new(&case.places),
            excesses: Excesses::new(case.graph),
            culprits: Culprits::new(strands.clone()),
            waited: FxHashMap::default(),
            delay: Delay::default(),
            carried: Vec::new(),
            lengths: Vec::new(),
            doings: Vec::new(),
            strands,
        }
    }

    /// Looks at everything, while others look at other shares.
    pub(crate) fn look(mut self, mailbox: &Mailbox<'_, News>) -> ShareResult {
        let mut mail = Vec::new();
        loop {
            mail.drain(..).for_each(|news| self.receive(news));
            // Others may wait for what is found here, and have found what is waited for.
            for _ in 0..FOLLOWED_AT_A_TIME {
                let Some(strand) = self.ready.pop_front() else { break };
                self.fetch();
                self.follow(strand);
            }
            for (share, news) in self.outgoing.iter_mut().enumerate() {
                mailbox.send(share, news);
            }
            mail = mailbox.take();
            if self.ready.is_empty() && mail.is_empty() {
                let Some(late) = mailbox.wait() else { break };
                mail = late;
            }
        }
        debug_assert!(
            self.agenda.is_empty() || mailbox.is_broken(),
            "waits are passed on to earlier ones only"
        );
        self.end()
    }

    /// Follows a strand as far as it can be followed.
    fn follow(&mut self, strand: u32) {
        while let Some(item) = self.agenda.next(strand) {
            let stopped = match item {
                Item::Leave(wait) => {
                    self.leave(wait);
                    None
                }
                Item::LookBack(group) => (!self.was_late(group)).then_some(group),
                Item::LookBackAmong(group, number) => (!self.was_late_among(group, number)).then_some(group),
            };
            if stopped.is_some() {
                self.stopped[(strand - self.strands.start) as usize] = stopped;
                return;
            }
            self.agenda.done(strand);
        }
    }

    fn receive(&mut self, news: News) {
        match news {
            News::Left(wait, mut loads) => {
                self.loads.of_wait(wait).append(&mut loads);
                self.left(self.case.group_of(wait));
            }
            News::Cost(group, delay) => self.gather(group, delay, 0),
            News::Did(group, doings) => self.did(group, doings),
        }
    }

    /// Nothing will be passed on to this wait any more.
    fn leave(&mut self, wait: u32) {
        let group = self.case.group_of(wait);
        let asked = self.case.share_of(self.case.waits[group as usize].of_strand);
        if asked == self.own {
            return self.left(group);
        }
        let mut loads = Vec::new();
        self.loads.take(wait, &mut loads);
        self.outgoing[asked].push(News::Left(wait, loads));
    }

    /// One wait of a group that this partition owns is done.
    fn left(&mut self, group: u32) {
        if !self.case.completes(group) {
            return;
        }
        let case = self.case;
        let Some(late) = case.late_together(group) else {
            return self.go_on(case.waits[group as usize].of_strand, group);
        };
        let mut delay = Delay::default();
        self.work_out(group, late, &mut delay);
        let delay = Arc::new(delay);
        let mut shares: Vec<usize> = late.iter().map(|late| case.share_of(late.strand)).collect();
        shares.sort_unstable();
        shares.dedup();
        shares.retain(|share| *share != self.own);
        for share in &shares {
            self.outgoing[*share].push(News::Cost(group, delay.clone()));
        }
        self.gather(group, delay, shares.len());
    }

    /// Those of this share who were late for a group can go on. So many other partitions will report what their ranks did.
    fn gather(&mut self, group: u32, delay: Arc<Delay>, silent: usize) {
        let case = self.case;
        let late = case.late_together(group).unwrap_or_default();
        let own = || late.iter().filter(|late| self.strands.contains(&late.strand));
        let gathering = Gathering { late, delay, left: own().count(), silent, doings: Vec::new() };
        let strands: Vec<u32> = own().map(|late| late.strand).collect();
        self.gatherings.insert(group, gathering);
        strands.into_iter().for_each(|strand| self.go_on(strand, group));
    }

    /// A strand goes on if it has stopped for this group.
    fn go_on(&mut self, strand: u32, group: u32) {
        let stopped = &mut self.stopped[(strand - self.strands.start) as usize];
        if *stopped == Some(group) {
            *stopped = None;
            self.ready.push_back(strand);
        }
    }

    /// One was late for a group, alone. False if it cannot be said yet what that cost.
    fn was_late(&mut self, group: u32) -> bool {
        let case = self.case;
        let Some(waits) = case.group(group).filter(|_| case.is_complete(group)) else { return false };
        let late = Arrival { at: waits[0].until, step: waits[0].of, strand: waits[0].of_strand };
        let (mut delay, mut doings) = (std::mem::take(&mut self.delay), std::mem::take(&mut self.doings));
        self.work_out(group, &[late], &mut delay);
        self.look_back(group, late, &delay, &mut doings);
        self.note_who_waited(waits, &doings);
        doings.clear();
        (self.delay, self.doings) = (delay, doings);
        true
    }

    /// The same of one of several.
    fn was_late_among(&mut self, group: u32, number: u32) -> bool {
        let Some(mut gathering) = self.gatherings.remove(&group) else { return false };
        let late = gathering.late[number as usize];
        self.look_back(group, late, &gathering.delay, &mut gathering.doings);
        gathering.left -= 1;
        self.keep_or_end(group, gathering);
        true
    }

    /// Another partition reports what its late ranks did.
    fn did(&mut self, group: u32, doings: Vec<Done>) {
        let Some(mut gathering) = self.gatherings.remove(&group) else { return };
        gathering.silent -= 1;
        doings.into_iter().for_each(|done| done.add_to(&mut gathering.doings));
        self.keep_or_end(group, gathering);
    }

    /// Once it is known what all late ranks did: notes it, or reports it to the owner of the group.
    fn keep_or_end(&mut self, group: u32, gathering: Gathering<'a>) {
        if gathering.left > 0 || gathering.silent > 0 {
            self.gatherings.insert(group, gathering);
            return;
        }
        let Some(waits) = self.case.group(group) else { return };
        let asked = self.case.share_of(waits[0].of_strand);
        if asked == self.own {
            self.note_who_waited(waits, &gathering.doings);
        } else {
            self.outgoing[asked].push(News::Did(group, gathering.doings));
        }
    }

    /// What it costs to be late for a group whose loads are complete.
    fn work_out(&mut self, group: u32, late: &[Arrival], delay: &mut Delay) {
        let case = self.case;
        let Some(waits) = case.group(group) else { return };
        self.carried.clear();
        (group..group + waits.len() as u32).for_each(|wait| self.loads.take(wait, &mut self.carried));
        delay.lateness.set(case.graph, waits, &self.carried, late);
        let until = waits[0].until;
        self.lengths.clear();
        self.lengths.extend(waits.iter().map(|wait| until - came(case, wait)));
        delay.from = waits.iter().map(|wait| wait.from).min().unwrap_or(until);
        delay.usual = until - middle(&mut self.lengths);
    }

    /// What one who was late for a group did meanwhile. The ranks it should have come with came at the normal time.
    fn look_back(&mut self, group: u32, late: Arrival, delay: &Delay, doings: &mut Vec<Done>) {
        let case = self.case;
        let Case { graph, waits, by_step, .. } = *case;
        let until = waits[group as usize].until;
        let rank = graph.strands[late.strand as usize].rank;
        let (rank, ranks) = (rank.0, f64::from(graph.weight(rank)));
        let Delay { lateness, from, usual } = delay;
        let (first, last) = ((*from).min(*usual), late.at.min(until));
        let mut costs = lateness.costs();
        look_back(graph, late, first, last, &mut |doing, from, until, step| {
            // Where it waited itself, that is passed on; the rest is to blame on what it did.
            let mut waited = (from, from);
            if let (Doing::Calling(..), Some(earlier)) = (doing, by_step.find(step)) {
                let other = &waits[earlier as usize];
                waited = (other.from.clamp(from, until), other.until.clamp(from, until));
                // Only if clocks disagree is one that was left behind waited in now.
                if waited.1 > waited.0 && case.group_of(earlier) > group {
                    lateness.pass_on(waited.0, waited.1, ranks, self.loads.of_wait(earlier));
                }
            }
            let mut excess = Length::ZERO;
            // Backwards, as all of it.
            for (from, until) in [(waited.1, until), (from, waited.0)] {
                if until <= from {
                    continue;
                }
                excess += (until - from.max(*usual)).at_least_zero();
                let cost = costs.between(from, until).of_ranks(ranks);
                // Before any rank waited.
                if cost.sum_ns() <= 0.0 {
                    continue;
                }
                let Cost { direct_ns, propagated_ns, whole_ns } = cost;
                self.culprits.add(late.strand, doing, &Blame { direct_ns, propagated_ns, whole_ns });
                let at = from + (until - from) / 2;
                let worst = Occasion { cost_ns: cost.sum_ns(), strand: late.strand, at };
                Done { doing, direct: Fine::of_ns(direct_ns), until, worst }.add_to(doings);
            }
            if excess > Length::ZERO && doing != Doing::Starting {
                let inside = matches!(doing, Doing::Calling(..));
                self.excesses.add(Excess { step, length: excess, rank, inside });
            }
        });
    }

    /// Who waited while these things were done, and where.
    fn note_who_waited(&mut self, waits: &[LongWait], doings: &[Done]) {
        let strands = &self.case.graph.strands;
        for Done { doing, direct, until, worst } in doings {
            let held = |wait: &&LongWait| wait.from < *until;
            let all: Length = waits.iter().filter(held).map(|wait| *until - wait.from).sum();
            let waited = self.waited.entry(*doing).or_default();
            waited.worst = waited.worst.worse(*worst);
            // Mostly all of them waited in the same call.
            for alike in waits.chunk_by(|a, b| (a.op, a.site(), a.pattern) == (b.op, b.site(), b.pattern)) {
                let mut time = None;
                for wait in alike.iter().filter(held) {
                    waited.ranks.insert(strands[wait.strand as usize].rank.0);
                    let part = (*until - wait.from).0 as f64 / all.0 as f64;
                    let more = Fine::of_ns(direct.as_ns() * part);
                    time = Some(time.map_or(more, |time: Fine| time.plus(more)));
                }
                if let Some(time) = time {
                    add(&mut waited.at, (alike[0].op, alike[0].site()), time);
                    add(&mut waited.patterns, alike[0].pattern, time);
                }
            }
        }
    }

    fn end(self) -> ShareResult {
        ShareResult {
            culprits: self.culprits.end(self.case.graph),
            waited: self.waited,
            excesses: self.excesses.end(),
        }
    }
}

impl Done {
    /// Adds it to what others did. The order makes no difference.
    fn add_to(self, doings: &mut Vec<Done>) {
        match doings.iter_mut().find(|done| done.doing == self.doing) {
            Some(done) => {
                done.direct = done.direct.plus(self.direct);
                done.until = done.until.max(self.until);
                done.worst = done.worst.worse(self.worst);
            }
            None => doings.push(self),
        }
    }
}

/// When a rank entered what it waits for. Only where a call of its own began that, that is not when it began to wait.
fn came(case: &Case<'_>, wait: &LongWait) -> Moment {
    match wait.op.kind() {
        Kind::Complete => case.arrivals.came(case.graph, wait),
        _ => wait.from,
    }
}

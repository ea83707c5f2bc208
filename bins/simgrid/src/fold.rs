//! Loops of a run: its ranks do the same again and again, so the first rounds say what the others take.
//!
//! A loop is a stretch of a script in which every step is what the one a period before it was: the same peers, tags, bytes and
//! requests. All ranks must go round as often, and in a round every message that is sent must be received and every member
//! must take part in as many collectives. Then rounds can be left out of all scripts and what is left still fits together.
//!
//! Promises: nothing is left out unless the last rounds that were played took equally long on all ranks, and computation in
//! those left out was recorded to be as long. Who asks hears otherwise, and plays all of it.

use crate::script::{Action, Message, Script};
use crate::translate::Play;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// Rounds that are played before some are left out, and after.
const FIRST: usize = 12;
const LAST: usize = 2;
/// Rounds whose lengths are compared.
const COMPARED: usize = 4;
/// Fewer than so many rounds are not worth it.
const LEAST_LEFT_OUT: usize = 8;
/// How far rounds may differ that count as equal.
const TOLERANCE: f64 = 0.01;
/// Periods that are tried for each rank.
const TRIED: usize = 64;

/// The loop of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rounds {
    start: usize,
    period: usize,
    count: usize,
}

impl Rounds {
    /// Steps of some of its rounds.
    fn steps(self, rounds: Range<usize>) -> Range<usize> {
        self.start + rounds.start * self.period..self.start + rounds.end * self.period
    }
}

/// The loop of all ranks.
#[derive(Clone, Debug)]
pub struct Fold {
    /// How often they go round.
    pub rounds: usize,
    /// By rank.
    ranks: Vec<Rounds>,
}

impl Fold {
    /// Looks for it.
    pub fn find(play: &Play) -> Option<Fold> {
        let found: Option<Vec<Rounds>> = play.scripts.iter().map(|script| rounds_of(script, play)).collect();
        let found = found?;
        let rounds = found.iter().map(|rounds| rounds.count).min()?;
        if rounds < FIRST + LAST + LEAST_LEFT_OUT {
            return None;
        }
        let ranks: Option<Vec<Rounds>> = found.into_iter().map(|found| of_as_many(found, rounds)).collect();
        let fold = Fold { rounds, ranks: ranks? };
        fold.fits_together(play).then_some(fold)
    }

    /// How many rounds are played.
    pub fn played(&self) -> usize {
        FIRST + LAST
    }

    /// Leaves rounds out of all scripts.
    pub fn apply(&self, play: &mut Play) {
        for (script, rounds) in play.scripts.iter_mut().zip(&self.ranks) {
            script.left_out = rounds.steps(FIRST..self.rounds - LAST);
        }
    }

    /// Gives the rows that were left out their times, and those behind them. False if rounds did not take equally long; then
    /// nothing is changed.
    pub fn fill(&self, play: &Play, times: &mut [[i64; 2]]) -> bool {
        let lengths: Vec<[f64; 2]> = play
            .scripts
            .iter()
            .zip(&self.ranks)
            .map(|(script, rounds)| lengths(script, *rounds, times))
            .collect();
        let mean = lengths.iter().map(|[last, _]| last).sum::<f64>() / lengths.len().max(1) as f64;
        let near = |one: f64, other: f64| (one - other).abs() <= TOLERANCE * other.max(1.0);
        let alike = |(script, rounds): (&Script, &Rounds)| self.computes_alike(script, *rounds, mean);
        if !lengths.iter().all(|[last, before]| near(*last, mean) && near(*before, mean))
            || !play.scripts.iter().zip(&self.ranks).all(alike)
        {
            return false;
        }
        let left_out = self.rounds - LAST - FIRST;
        for (script, rounds) in play.scripts.iter().zip(&self.ranks) {
            let row = script.first_row as usize;
            let later =
                |time: [i64; 2], rounds: usize| time.map(|ns| ns + (mean * rounds as f64).round() as i64);
            let steps = script.left_out.clone();
            for (number, step) in steps.clone().enumerate() {
                let like = step - (number / rounds.period + 1) * rounds.period;
                times[row + step] = later(times[row + like], number / rounds.period + 1);
            }
            for step in steps.end..script.steps.len() {
                times[row + step] = later(times[row + step], left_out);
            }
        }
        true
    }

    /// When the first rank is through with the rounds before those that are left out.
    pub fn cut_ns(&self, play: &Play, times: &[[i64; 2]]) -> i64 {
        let ends = play.scripts.iter().zip(&self.ranks);
        let ends = ends.map(|(script, rounds)| end_of(script, *rounds, FIRST - 1, times));
        ends.min().unwrap_or(0)
    }

    /// Whether a rank computes as long in the rounds that are left out as in those that were compared, measured by what a
    /// round takes.
    fn computes_alike(&self, script: &Script, rounds: Rounds, round_ns: f64) -> bool {
        let computed = |steps: Range<usize>| {
            let count = steps.len() as f64 / rounds.period as f64;
            script.steps[steps].iter().map(|step| step.before_ns as f64).sum::<f64>() / count
        };
        let before = computed(rounds.steps(FIRST - COMPARED..FIRST));
        let left_out = computed(script.left_out.clone());
        (before - left_out).abs() <= TOLERANCE * round_ns.max(1.0)
    }

    /// Whether every message of a round is sent and received in it, and members take part in as many collectives.
    fn fits_together(&self, play: &Play) -> bool {
        let mut open: FxHashMap<(u32, usize, usize, i32), i64> = FxHashMap::default();
        let mut collectives: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
        for (rank, (script, rounds)) in play.scripts.iter().zip(&self.ranks).enumerate() {
            let mut own: FxHashMap<u32, u64> = FxHashMap::default();
            let mut message = |message: &Message, sends: bool| {
                let members = &play.communicators[message.comm as usize].members;
                let other = members.get(message.peer as usize).copied().flatten();
                let other = other.map_or(usize::MAX, |other| other.0 as usize);
                let (from, to) = if sends { (rank, other) } else { (other, rank) };
                *open.entry((message.comm, from, to, message.tag)).or_default() += if sends { 1 } else { -1 };
            };
            for step in &script.steps[rounds.steps(0..1)] {
                match &step.action {
                    Action::Send(_, sent) | Action::SendLater(_, sent, _) => message(sent, true),
                    Action::Receive(received) | Action::ReceiveLater(received, _) => message(received, false),
                    Action::SendReceive(sent, received) => {
                        message(sent, true);
                        message(received, false);
                    }
                    Action::Collective(collective) | Action::CollectiveLater(collective, _) => {
                        *own.entry(collective.comm).or_default() += 1;
                    }
                    Action::NewCommunicator { parent, .. } => *own.entry(*parent).or_default() += 1,
                    Action::Keep
                    | Action::Look { .. }
                    | Action::Probe(_)
                    | Action::Complete(_)
                    | Action::OnWindow(..) => {}
                }
            }
            own.into_iter().for_each(|(comm, count)| collectives.entry(comm).or_default().push(count));
        }
        let all_take_part = |(comm, counts): (&u32, &Vec<u64>)| {
            counts.len() == play.communicators[*comm as usize].members.len()
                && counts.windows(2).all(|pair| pair[0] == pair[1])
        };
        open.values().all(|count| *count == 0) && collectives.iter().all(all_take_part)
    }
}

/// How long rounds took on a rank: the mean of the last ones before the cut, and of those before them.
fn lengths(script: &Script, rounds: Rounds, times: &[[i64; 2]]) -> [f64; 2] {
    let end = |round: usize| end_of(script, rounds, round, times);
    [FIRST - 1, FIRST - 1 - COMPARED].map(|last| (end(last) - end(last - COMPARED)) as f64 / COMPARED as f64)
}

/// When a round ended on a rank.
fn end_of(script: &Script, rounds: Rounds, round: usize, times: &[[i64; 2]]) -> i64 {
    times[script.first_row as usize + rounds.steps(round..round + 1).end - 1][1]
}

/// The same loop with another number of rounds, if several of its rounds make one of those.
fn of_as_many(found: Rounds, rounds: usize) -> Option<Rounds> {
    let times = found.count / rounds;
    // What is left over is less than a round at either end.
    (found.count - times * rounds <= times).then_some(Rounds {
        period: found.period * times,
        count: rounds,
        ..found
    })
}

/// The longest loop of a script.
fn rounds_of(script: &Script, play: &Play) -> Option<Rounds> {
    let shapes: Vec<u64> = script.steps.iter().map(|step| shape(&step.action, script, play)).collect();
    let middle = shapes.len() / 2;
    let again = (middle + 1..shapes.len()).filter(|step| shapes[*step] == shapes[middle]);
    let mut best: Option<Rounds> = None;
    for period in again.map(|step| step - middle).take(TRIED) {
        let same = |step: usize| shapes[step] == shapes[step + period];
        let start = (0..=middle).rev().take_while(|step| same(*step)).last();
        let Some(start) = start else { continue };
        let end = (middle..shapes.len() - period).take_while(|step| same(*step)).last().unwrap_or(middle);
        let count = (end + 1 + period - start) / period;
        // A longer period is worth it only if it covers clearly more.
        if best.is_none_or(|best| count * period > best.count * best.period + best.count * best.period / 8) {
            best = Some(Rounds { start, period, count });
        }
    }
    best
}

/// What makes two steps the same.
fn shape(action: &Action, script: &Script, play: &Play) -> u64 {
    let mut hasher = FxHasher::default();
    std::mem::discriminant(action).hash(&mut hasher);
    let message = |message: &Message, hasher: &mut FxHasher| {
        (message.comm, message.peer, message.tag, message.bytes).hash(hasher);
    };
    match action {
        Action::Keep | Action::Look { .. } => {}
        Action::Send(mode, sent) => {
            mode.hash(&mut hasher);
            message(sent, &mut hasher);
        }
        Action::SendLater(mode, sent, request) => {
            (mode, request).hash(&mut hasher);
            message(sent, &mut hasher);
        }
        Action::Receive(received) | Action::Probe(received) => message(received, &mut hasher),
        Action::ReceiveLater(received, request) => {
            request.hash(&mut hasher);
            message(received, &mut hasher);
        }
        Action::SendReceive(sent, received) => {
            message(sent, &mut hasher);
            message(received, &mut hasher);
        }
        Action::Complete(range) => {
            script.waits_for[range.start as usize..range.end as usize].hash(&mut hasher);
        }
        Action::Collective(collective) => collective_shape(collective, play, &mut hasher),
        Action::CollectiveLater(collective, request) => {
            request.hash(&mut hasher);
            collective_shape(collective, play, &mut hasher);
        }
        Action::NewCommunicator { parent, .. } => parent.hash(&mut hasher),
        Action::OnWindow(window, on) => (window, on).hash(&mut hasher),
    }
    hasher.finish()
}

fn collective_shape(collective: &crate::script::Collective, play: &Play, hasher: &mut FxHasher) {
    (collective.kind, collective.comm, collective.root, collective.bytes).hash(hasher);
    if let Some(amounts) = collective.amounts.map(|index| &play.amounts[index as usize]) {
        (&amounts.given, &amounts.got).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Step;
    use kizami_model::CommKind;
    use kizami_model::kind::SendMode;
    use kizami_trace::definitions::{CommIdentity, Communicator};

    const ROUNDS: usize = 50;

    /// Two ranks that send each other a message in each round, the first after it has computed.
    fn exchange(computes_ns: impl Fn(usize) -> i64) -> Play {
        let members = vec![Some(kizami_model::Rank(0)), Some(kizami_model::Rank(1))];
        let world = Communicator {
            index: 0,
            identity: CommIdentity(0),
            parent: None,
            kind: CommKind::World,
            name: None,
            size: 2,
            members,
            remote_members: Vec::new(),
            dims: Vec::new(),
            periodic: Vec::new(),
        };
        let message = |peer: i32| Message { comm: 0, peer, tag: 1, bytes: 8 };
        let step = |before_ns: i64, action: Action| Step { before_ns, recorded_ns: 0, action, call: 0 };
        let mut scripts = vec![Script::default(), Script::default()];
        for (script, peer) in scripts.iter_mut().zip([1, 0]) {
            script.steps.push(step(0, Action::Keep));
            for round in 0..ROUNDS {
                let actions =
                    [Action::Send(SendMode::Standard, message(peer)), Action::Receive(message(peer))];
                let [first, second] =
                    if peer == 1 { actions } else { [actions[1].clone(), actions[0].clone()] };
                script.steps.push(step(if peer == 1 { computes_ns(round) } else { 0 }, first));
                script.steps.push(step(0, second));
            }
            script.steps.push(step(0, Action::Keep));
        }
        scripts[1].first_row = scripts[0].steps.len() as u64;
        Play { scripts, communicators: vec![world], ..Play::default() }
    }

    /// Every round takes 10 ns on both.
    fn played(play: &Play) -> Vec<[i64; 2]> {
        let mut times = Vec::new();
        for script in &play.scripts {
            let mut now = 0;
            for number in 0..script.steps.len() {
                let is_played = !script.left_out.contains(&number);
                let start = now;
                now += if is_played && number > 0 { 5 } else { 0 };
                times.push([start, now]);
            }
        }
        times
    }

    #[test]
    fn rounds_that_repeat_are_left_out_and_get_their_times() {
        let mut play = exchange(|_| 5);
        let whole = played(&play);
        let fold = Fold::find(&play).expect("it goes round");
        assert_eq!(fold.rounds, ROUNDS);
        fold.apply(&mut play);
        let mut times = played(&play);
        assert_ne!(times, whole);
        assert!(fold.fill(&play, &mut times));
        assert_eq!(times, whole);
    }

    #[test]
    fn other_computation_in_rounds_that_would_be_left_out_is_noticed() {
        let mut play = exchange(|round| if round < 20 { 5 } else { 9 });
        let fold = Fold::find(&play).expect("it goes round");
        fold.apply(&mut play);
        assert!(!fold.fill(&play, &mut played(&play)));
    }

    #[test]
    fn rounds_in_which_a_message_is_left_over_are_no_loop() {
        let mut play = exchange(|_| 5);
        for step in &mut play.scripts[1].steps {
            if let Action::Receive(message) = &mut step.action {
                message.tag = 2;
            }
        }
        assert!(Fold::find(&play).is_none());
        assert!(Fold::find(&Play { scripts: vec![Script::default()], ..Play::default() }).is_none());
    }
}

//! Findings: what made others wait, put together by place, the most costly first.
//!
//! Blame for the same doing of different ranks is one finding: either some ranks take longer than the others there,
//! be it one or many together, or who comes last changes from time to time. Each finding of computation comes with the setting in which the time
//! that others waited for is taken away; replaying it tells the gain.

use crate::blame::{Blamed, Doing, Excess, Waited};
use crate::profile::Profile;
use crate::source_line::{Regions, SourceLine};
use kizami_model::Length;
use kizami_replay::{Factor, PlaceFactor, Setting};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Ranks that have this part of a finding's blame together are named, and those that have hardly less than they.
const MOST_OF_THE_BLAME: f64 = 0.8;
const HARDLY_LESS: f64 = 0.5;
/// More ranks than this, or stretches of ranks, are not named one by one.
const FEW_RANKS: usize = 4;
/// More than a few ranks are late together if so many of them have yet to come while others wait, on average. Those who
/// take turns come one after the other: about a third of them are late.
const MOST_ARE_LATE: f64 = 0.75;

/// What the ones who were waited for did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// They computed.
    Computation,
    /// They were inside a call.
    Call,
    /// They had not made their first call.
    Start,
}

/// What fixing something would gain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// How much shorter the run would be.
    pub ns: i64,
    /// How far off that may be.
    pub error_ns: i64,
    /// The same as parts of the run.
    pub share: f64,
    /// The error as a part of the run.
    pub share_error: f64,
    /// The error knows nothing of noise: the run has no loop to tell how far two runs differ.
    pub noise_left_out: bool,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The whole of it in a sentence.
    pub sentence: String,
    /// What was done.
    pub cause: Cause,
    /// Ranks that did it: those that have most of the blame; none if many take turns, or cannot be named shortly.
    pub ranks: Vec<u32>,
    /// Where: the call that computation leads up to, or the call itself.
    pub place: SourceLine,
    /// The call there.
    pub function: String,
    /// Where the call before it is made.
    pub after: Option<SourceLine>,
    /// The innermost region the program named, where it cost most.
    pub region: Option<String>,
    /// How long others waited for just this, over all ranks.
    pub waiting_ns: i64,
    /// How long others waited for those who waited for it.
    pub propagated_ns: i64,
    /// Both as a part of the time of all ranks.
    pub share: f64,
    /// How many ranks waited directly.
    pub waiting_ranks: usize,
    /// Where they waited most.
    pub waiting_in: Option<(String, SourceLine)>,
    /// What taking away the time others waited for would gain; none where that cannot be replayed.
    pub gain: Option<Gain>,
}

/// A finding with what is needed to replay it.
pub(crate) struct Suspect {
    pub finding: Finding,
    /// The run without it.
    pub without: Option<Setting>,
    pub error_ns: f64,
}

/// What one doing of several ranks cost.
#[derive(Default)]
struct Group {
    direct_ns: f64,
    propagated_ns: f64,
    /// What all who were late together made others wait.
    whole_ns: f64,
    by_rank: Vec<(u32, f64, Excess)>,
}

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    /// A few ranks or stretches of ranks.
    Named(Vec<u32>),
    /// So many, late together.
    Many(usize),
    /// Many, one after the other.
    InTurns,
}

/// Puts blame together; gives at most `most` findings. `all_ns` is the time of all ranks together.
pub(crate) fn suspects(
    blamed: &Blamed,
    profile: &Profile,
    regions: &Regions<'_>,
    all_ns: f64,
    most: usize,
) -> Vec<Suspect> {
    let mut groups: FxHashMap<Doing, Group> = FxHashMap::default();
    for (culprit, blame) in &blamed.culprits {
        let group = groups.entry(culprit.doing).or_default();
        group.direct_ns += blame.direct_ns;
        group.propagated_ns += blame.propagated_ns;
        group.whole_ns += blame.whole_ns;
        group.by_rank.push((culprit.rank, blame.direct_ns + blame.propagated_ns, blame.excess));
    }
    let mut order: Vec<(Doing, Group)> = groups.into_iter().collect();
    order.sort_by(|a, b| {
        let cost = |group: &Group| group.direct_ns + group.propagated_ns;
        cost(&b.1).total_cmp(&cost(&a.1)).then(a.0.cmp(&b.0))
    });
    add_up(order.iter_mut().map(|(_, group)| group));
    order.truncate(most);
    let nobody = Waited::default();
    let suspect = |(doing, group)| {
        let waited = blamed.waited.get(&doing).unwrap_or(&nobody);
        suspect(doing, group, waited, profile, regions, all_ns)
    };
    order.into_iter().map(suspect).collect()
}

/// Makes all costs whole nanoseconds, so that they add up to what they did before.
fn add_up<'a>(groups: impl Iterator<Item = &'a mut Group>) {
    let mut sum_ns = 0.0f64;
    for ns in groups.flat_map(|group| [&mut group.direct_ns, &mut group.propagated_ns]) {
        let before_ns = sum_ns.round();
        sum_ns += *ns;
        *ns = sum_ns.round() - before_ns;
    }
}

fn suspect(
    doing: Doing,
    mut group: Group,
    waited: &Waited,
    profile: &Profile,
    regions: &Regions<'_>,
    all_ns: f64,
) -> Suspect {
    let definitions = regions.definitions;
    group.by_rank.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let cost_ns = group.direct_ns + group.propagated_ns;
    let (cause, site, function, after) = match doing {
        Doing::Computing(site) => {
            let of_rank = profile.computation.get(&(site, group.by_rank[0].0));
            let after = of_rank.and_then(|computation| computation.after);
            (Cause::Computation, site, function_at(profile, site), Some(SourceLine::of(definitions, after)))
        }
        Doing::Calling(op, site) => (Cause::Call, site, op.name().to_owned(), None),
        Doing::Starting => (Cause::Start, None, "MPI_Init".to_owned(), None),
    };
    let most = waited.at.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let waiting_in = most.map(|((op, site), _)| (op.name().to_owned(), SourceLine::of(definitions, *site)));
    let who = who(&group, cost_ns);
    let mut finding = Finding {
        sentence: String::new(),
        cause,
        ranks: if let Who::Named(ranks) = &who { ranks.clone() } else { Vec::new() },
        place: SourceLine::of(definitions, site),
        function,
        after,
        region: regions.innermost(waited.worst).map(str::to_owned),
        waiting_ns: group.direct_ns as i64,
        propagated_ns: group.propagated_ns as i64,
        share: if all_ns > 0.0 { cost_ns / all_ns } else { 0.0 },
        waiting_ranks: waited.ranks.len(),
        waiting_in,
        gain: None,
    };
    finding.sentence = finding.say(&who);
    let without = match doing {
        Doing::Computing(Some(site)) => without(site, &group, profile),
        _ => None,
    };
    let error_ns = group.by_rank.iter().map(|(_, _, excess)| excess.error_ns().powi(2)).sum::<f64>().sqrt();
    Suspect { finding, without, error_ns }
}

/// The ranks that have most of the blame.
fn who(group: &Group, cost_ns: f64) -> Who {
    let mut named = Vec::new();
    let (mut theirs, mut least) = (0.0, 0.0);
    for (rank, ns, _) in &group.by_rank {
        if theirs >= MOST_OF_THE_BLAME * cost_ns {
            if *ns < HARDLY_LESS * least {
                break;
            }
        } else {
            least = *ns;
        }
        named.push(*rank);
        theirs += ns;
    }
    named.sort_unstable();
    let late_together = group.whole_ns / cost_ns;
    match named.len() {
        ranks if ranks <= FEW_RANKS => Who::Named(named),
        ranks if late_together < MOST_ARE_LATE * ranks as f64 => Who::InTurns,
        _ if stretches(&named).count() <= FEW_RANKS => Who::Named(named),
        ranks => Who::Many(ranks),
    }
}

/// Ranks that follow each other: the first and the last of each stretch. Two ranks are no stretch.
fn stretches(ranks: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    ranks.chunk_by(|a, b| a + 1 == *b).flat_map(|stretch| match stretch {
        [first, second] => vec![(*first, *first), (*second, *second)],
        _ => vec![(stretch[0], stretch[stretch.len() - 1])],
    })
}

/// Ranks in words, such as `rank 0` or `ranks 1-3, 5 and 7`.
pub(crate) fn in_words(ranks: &[u32]) -> String {
    let name = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let names: Vec<String> = stretches(ranks).map(name).collect();
    match &names[..] {
        [one] if ranks.len() == 1 => format!("rank {one}"),
        [] => "ranks".to_owned(),
        [one] => format!("ranks {one}"),
        [most @ .., last] => format!("ranks {} and {last}", most.join(", ")),
    }
}

/// The run with the time taken away that others waited for.
fn without(site: u32, group: &Group, profile: &Profile) -> Option<Setting> {
    let longest = group.by_rank.iter().map(|(rank, ..)| *rank as usize + 1).max()?;
    let mut factors = vec![Factor::default(); longest];
    for (rank, _, excess) in &group.by_rank {
        let computation =
            profile.computation.get(&(Some(site), *rank)).filter(|known| known.time > Length::ZERO);
        // What lies before the part of the run that is looked at is left alone.
        let Some(computation) = computation else { continue };
        factors[*rank as usize] = Factor((1.0 - excess.ns / computation.time.0 as f64).clamp(0.0, 1.0));
    }
    let mut setting = Setting::default();
    setting.places.insert(site, PlaceFactor::ByRank(factors));
    Some(setting)
}

/// The function called at a place.
pub(crate) fn function_at(profile: &Profile, site: Option<u32>) -> String {
    let most = profile.calls.iter().filter(|((_, at), _)| *at == site).max_by_key(|(_, calls)| calls.calls);
    most.map_or("the end", |((op, _), _)| op.name()).to_owned()
}

impl Finding {
    /// The sentence without the gain.
    fn say(&self, who: &Who) -> String {
        let who = match who {
            Who::InTurns => "ranks take turns to come last: they".to_owned(),
            Who::Named(ranks) => in_words(ranks),
            Who::Many(ranks) => format!("{ranks} ranks"),
        };
        let verb =
            |one: &str, many: &str| if self.ranks.len() == 1 { one.to_owned() } else { many.to_owned() };
        let did = match self.cause {
            Cause::Computation => {
                let between = match &self.after {
                    Some(after) if after.line.is_some() => format!("between {after} and {}", self.place),
                    _ => format!("before {}", self.place),
                };
                format!("{} longer than others {between}", verb("computes", "compute"))
            }
            Cause::Call => format!("{} in {} at {}", verb("is", "are"), self.function, self.place),
            Cause::Start => verb("starts late", "start late"),
        };
        let waiting = match (&self.waiting_in, self.waiting_ranks) {
            (Some((function, place)), 1) => format!("; 1 rank waits for that in {function} at {place}"),
            (Some((function, place)), many) => {
                format!("; {many} ranks wait for that, most in {function} at {place}")
            }
            (None, _) => String::new(),
        };
        let region = self.region.as_ref().map(|name| format!(", region {name}")).unwrap_or_default();
        format!("{who} {did}{region}{waiting}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_follow_each_other_are_named_together() {
        let words = [
            (&[0][..], "rank 0"),
            (&[1, 2], "ranks 1 and 2"),
            (&[1, 2, 3], "ranks 1-3"),
            (&[0, 1, 5, 6, 7], "ranks 0, 1 and 5-7"),
        ];
        for (ranks, expected) in words {
            assert_eq!(in_words(ranks), expected);
        }
    }

    /// Ranks that have an equal part of the blame, so many of which are late at a time.
    fn equal(ranks: impl Iterator<Item = u32>, late: f64) -> Who {
        let by_rank: Vec<_> = ranks.map(|rank| (rank, 1.0, Excess::default())).collect();
        let cost_ns = by_rank.len() as f64;
        who(&Group { whole_ns: late * cost_ns, by_rank, ..Group::default() }, cost_ns)
    }

    #[test]
    fn many_ranks_are_late_together_or_take_turns() {
        assert_eq!(equal(0..4, 1.0), Who::Named(vec![0, 1, 2, 3]));
        assert_eq!(equal(0..10, 1.0), Who::InTurns);
        assert_eq!(equal(0..10, 10.0), Who::Named((0..10).collect()));
        assert_eq!(equal((0..20).map(|rank| 2 * rank), 20.0), Who::Many(20));
    }
}

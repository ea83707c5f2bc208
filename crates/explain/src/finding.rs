//! Findings: what made others wait, put together by place, the most costly first.
//!
//! Blame for the same doing of different ranks is one finding: either some ranks take longer than the others there,
//! or who comes last changes from time to time. Each finding of computation comes with the setting in which the time
//! that others waited for is taken away; replaying it tells the gain.

use crate::blame::{Blame, Culprit, Doing, Excess};
use crate::place::Place;
use crate::profile::Profile;
use kizami_model::Op;
use kizami_replay::{Factor, PlaceFactor, Setting};
use kizami_store::Definitions;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// Ranks that have this part of a finding's blame together are named.
const MOST_OF_THE_BLAME: f64 = 0.8;
/// More ranks than this are not named one by one.
const FEW_RANKS: usize = 4;

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
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The whole of it in a sentence.
    pub sentence: String,
    /// What was done.
    pub cause: Cause,
    /// Ranks that did it: those that have most of the blame; none if it is spread over many.
    pub ranks: Vec<u32>,
    /// Where: the call that computation leads up to, or the call itself.
    pub place: Place,
    /// The call there.
    pub function: String,
    /// Where the call before it is made.
    pub after: Option<Place>,
    /// How long others waited for just this, over all ranks.
    pub waiting_ns: i64,
    /// How long others waited for those who waited for it.
    pub propagated_ns: i64,
    /// Both as a part of the time of all ranks.
    pub share: f64,
    /// How many ranks waited directly.
    pub waiting_ranks: usize,
    /// Where they waited most.
    pub waiting_in: Option<(String, Place)>,
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
    by_rank: Vec<(u32, f64, Excess)>,
    waiting: FxHashSet<u32>,
    at: FxHashMap<(u16, Option<u32>), f64>,
}

/// Puts blame together; gives at most `most` findings. `all_ns` is the time of all ranks together.
pub(crate) fn suspects(
    blamed: &FxHashMap<Culprit, Blame>,
    profile: &Profile,
    definitions: &Definitions,
    all_ns: f64,
    most: usize,
) -> Vec<Suspect> {
    let mut groups: FxHashMap<Doing, Group> = FxHashMap::default();
    for (culprit, blame) in blamed {
        let group = groups.entry(culprit.doing).or_default();
        group.direct_ns += blame.direct_ns;
        group.propagated_ns += blame.propagated_ns;
        group.by_rank.push((culprit.rank, blame.direct_ns + blame.propagated_ns, blame.excess));
        group.waiting.extend(&blame.waiting);
        for (at, ns) in &blame.at {
            *group.at.entry(*at).or_default() += ns;
        }
    }
    let mut order: Vec<(Doing, Group)> = groups.into_iter().collect();
    order.sort_by(|a, b| {
        let cost = |group: &Group| group.direct_ns + group.propagated_ns;
        cost(&b.1).total_cmp(&cost(&a.1)).then(a.0.cmp(&b.0))
    });
    order.truncate(most);
    order.into_iter().map(|(doing, group)| suspect(doing, group, profile, definitions, all_ns)).collect()
}

fn suspect(
    doing: Doing,
    mut group: Group,
    profile: &Profile,
    definitions: &Definitions,
    all_ns: f64,
) -> Suspect {
    group.by_rank.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let cost_ns = group.direct_ns + group.propagated_ns;
    let (cause, site, function, after) = match doing {
        Doing::Computing(site) => {
            let of_rank = profile.computation.get(&(site, group.by_rank[0].0));
            let after = of_rank.and_then(|computation| computation.after);
            (Cause::Computation, site, function_at(profile, site), Some(Place::of(definitions, after)))
        }
        Doing::Calling(op, site) => (Cause::Call, site, Op(op).name().to_owned(), None),
        Doing::Starting => (Cause::Start, None, "MPI_Init".to_owned(), None),
    };
    let most = group.at.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
    let waiting_in = most.map(|((op, site), _)| (Op(*op).name().to_owned(), Place::of(definitions, *site)));
    let mut finding = Finding {
        sentence: String::new(),
        cause,
        ranks: named_ranks(&group, cost_ns),
        place: Place::of(definitions, site),
        function,
        after,
        waiting_ns: group.direct_ns.round() as i64,
        propagated_ns: group.propagated_ns.round() as i64,
        share: if all_ns > 0.0 { cost_ns / all_ns } else { 0.0 },
        waiting_ranks: group.waiting.len(),
        waiting_in,
        gain: None,
    };
    finding.sentence = finding.say();
    let without = match doing {
        Doing::Computing(Some(site)) => without(site, &group, profile),
        _ => None,
    };
    let error_ns = group.by_rank.iter().map(|(_, _, excess)| excess.error_ns().powi(2)).sum::<f64>().sqrt();
    Suspect { finding, without, error_ns }
}

/// The ranks that have most of the blame, if they are few.
fn named_ranks(group: &Group, cost_ns: f64) -> Vec<u32> {
    let mut named = Vec::new();
    let mut theirs = 0.0;
    for (rank, ns, _) in &group.by_rank {
        if theirs >= MOST_OF_THE_BLAME * cost_ns {
            break;
        }
        named.push(*rank);
        theirs += ns;
    }
    if named.len() > FEW_RANKS {
        named.clear();
    }
    named.sort_unstable();
    named
}

/// The run with the time taken away that others waited for.
fn without(site: u32, group: &Group, profile: &Profile) -> Option<Setting> {
    let longest = group.by_rank.iter().map(|(rank, ..)| *rank as usize + 1).max()?;
    let mut factors = vec![Factor::default(); longest];
    for (rank, _, excess) in &group.by_rank {
        let computation = profile.computation.get(&(Some(site), *rank)).filter(|known| known.ns > 0)?;
        factors[*rank as usize] = Factor((1.0 - excess.ns / computation.ns as f64).clamp(0.0, 1.0));
    }
    let mut setting = Setting::default();
    setting.places.insert(site, PlaceFactor::ByRank(factors));
    Some(setting)
}

/// The function called at a place.
pub(crate) fn function_at(profile: &Profile, site: Option<u32>) -> String {
    let most = profile.calls.iter().filter(|((_, at), _)| *at == site).max_by_key(|(_, calls)| calls.calls);
    most.map_or("the end", |((op, _), _)| Op(*op).name()).to_owned()
}

impl Finding {
    /// The sentence without the gain.
    fn say(&self) -> String {
        let who = match &self.ranks[..] {
            [] => "ranks take turns to come last: they".to_owned(),
            [one] => format!("rank {one}"),
            [most @ .., last] => {
                let names: Vec<String> = most.iter().map(u32::to_string).collect();
                format!("ranks {} and {last}", names.join(", "))
            }
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
        format!("{who} {did}{waiting}")
    }
}

//! What could be done about a run: each idea replayed, the best first.

use crate::analysis::Analysis;
use crate::disease::Disease;
use crate::finding::{Cause, Finding, Headline};
use crate::outcome::Outcome;
use crate::threads::RunThreads;
use crate::who::in_words;
use kizami_blame::Pattern;
use kizami_graph::TieKind;
use kizami_hybrid::{Loss, LossKind, Mended, ThreadCount};
use kizami_model::Length;
use kizami_replay::{Epochs, Factor, Gain, Network, Pieces, PlaceFactor, Setting, balance};
use kizami_trace::SourceLine;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// Places whose computation is balanced or made faster, and as many whose waits are overlapped.
const MOST_PLACES: usize = 4;
/// Less computation than this part of all is not worth looking at.
const LEAST_SHARE: f64 = 0.01;

/// Something that could be done.
#[derive(Clone, Debug, PartialEq)]
struct Candidate {
    /// In words.
    what: String,
    /// As options of `kizami replay`; none if it has none.
    option: Option<String>,
    setting: Setting,
    error_ns: f64,
    /// The gain is that of the best case.
    at_most: bool,
    /// Where the truth lies between, if that is known.
    ends: Option<[Setting; 2]>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// In words.
    pub what: String,
    /// As options of `kizami replay`; none if it has none.
    pub option: Option<String>,
    /// What it gains.
    pub gain: Gain,
    /// It gains that in the best case.
    pub at_most: bool,
    /// The least and the most that it may gain, where a run does not tell how what is different would be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_ns: Option<[i64; 2]>,
}

/// Replays all ideas for a run, the best first. If it has threads, these numbers of them are among the ideas.
pub fn what_if(
    analysis: &Analysis,
    threads: Option<(&RunThreads, &[ThreadCount])>,
    progress: &(dyn Fn(u64) + Sync),
) -> Vec<WhatIf> {
    let mut candidates = candidates(analysis);
    if let Some((threads, counts)) = threads {
        candidates.extend(of_threads(analysis, threads, counts));
    }
    let settings: Vec<&Setting> = candidates.iter().flat_map(Candidate::settings).collect();
    let mut outcomes = analysis.replay_all(&settings, progress).into_iter();
    let mut results: Vec<WhatIf> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let Some(outcome) = outcomes.next() else { break };
        let length = |outcome: Outcome| outcome.interval.length();
        let ends: Vec<Length> =
            outcomes.by_ref().take(candidate.settings().count() - 1).map(length).collect();
        let run = analysis.interval.length();
        let gains_ns = ends.iter().map(|end| (run - *end).0);
        let own_ns = (run - outcome.interval.length()).0;
        let range_ns = gains_ns.clone().map(|ns| (ns - own_ns).abs()).max().unwrap_or(0);
        let (least_ns, most_ns) =
            gains_ns.fold((own_ns, own_ns), |(least, most), ns| (least.min(ns), most.max(ns)));
        results.push(WhatIf {
            what: candidate.what,
            option: candidate.option,
            gain: analysis.gain(&outcome, candidate.error_ns.hypot(range_ns as f64)),
            at_most: candidate.at_most,
            between_ns: candidate.ends.is_some().then_some([least_ns, most_ns]),
        });
    }
    results.sort_by(|a, b| b.gain.ns.cmp(&a.gain.ns).then_with(|| a.what.cmp(&b.what)));
    results
}

impl Candidate {
    fn settings(&self) -> impl Iterator<Item = &Setting> {
        std::iter::once(&self.setting).chain(self.ends.iter().flatten())
    }
}

/// Ideas about the threads of ranks: other numbers of them, and the largest losses gone.
fn of_threads(analysis: &Analysis, threads: &RunThreads, counts: &[ThreadCount]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for count in counts {
        let [(setting, error_ns), (even, _), (as_long, _)] = analysis.with_thread_count(threads, *count);
        candidates.push(Candidate {
            what: match count {
                ThreadCount::Times(times) => format!("{times} times as many threads, each with a processor"),
                ThreadCount::Exactly(threads) => format!("{threads} threads a rank, each with a processor"),
            },
            option: Some(format!("--omp-threads {count}")),
            setting,
            error_ns,
            // Nothing is known of how several threads share what one did.
            at_most: threads.regions.of_one_thread(),
            ends: Some([even, as_long]),
        });
    }
    let told = &threads.told;
    // Waits in MPI are among the ideas anyway.
    let is_idea = |loss: &&Loss| loss.kind != LossKind::IdleInMpi && told.share(loss) >= LEAST_SHARE;
    for loss in told.losses.iter().filter(is_idea) {
        let Some(mended) = loss.kind.mended(&loss.place) else { continue };
        let Some((setting, error_ns)) = analysis.without_loss(&threads.regions, &threads.spans, loss) else {
            continue;
        };
        let Mended { what, option, at_most } = mended;
        candidates.push(Candidate { what, option, setting, error_ns, at_most, ends: None });
    }
    candidates.truncate(counts.len() + MOST_PLACES);
    candidates
}

/// Ideas: what the findings say, balance and speed where time is spent, other networks, waits hidden behind
/// computation, and room for messages.
fn candidates(analysis: &Analysis) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for suspect in &analysis.suspects {
        let finding = &suspect.finding;
        let of_finding = |what: String, option: Option<String>, setting: &Setting, error_ns: f64| Candidate {
            what,
            option,
            setting: setting.clone(),
            error_ns,
            at_most: finding.at_most,
            ends: None,
        };
        if let Some((setting, doubt_ns)) = &suspect.without {
            let (what, option) = mended(finding);
            candidates.push(of_finding(what, option, setting, *doubt_ns));
        }
    }
    let epochs = Epochs::of(&analysis.graph);
    for site in longest_computation(analysis) {
        let place = SourceLine::of(&analysis.definitions, Some(site));
        // Options name lines; a place without one cannot be asked for.
        let option = |text: String| place.line.is_some().then_some(text);
        let at = |factor| Setting { places: [(site, factor)].into_iter().collect(), ..Setting::default() };
        let balanced = balance(&analysis.graph, &epochs, &sites_of(analysis, &place, site), false);
        candidates.push(Candidate {
            what: format!("balance the computation before {place}"),
            option: option(format!("--balance {place}")),
            setting: Setting::of_steps(&analysis.graph, balanced),
            error_ns: 0.0,
            at_most: false,
            ends: None,
        });
        candidates.push(Candidate {
            what: format!("halve the computation before {place}"),
            option: option(format!("--callsite {place}=0.5")),
            setting: at(PlaceFactor::All(Factor(0.5))),
            error_ns: 0.0,
            at_most: false,
            ends: None,
        });
    }
    let networks = [
        ("an ideal network", "--network ideal", Network::Ideal),
        ("half the latency", "--latency 0.5x", Network::Changed { latency: 0.5, bandwidth: 1.0 }),
        ("twice the bandwidth", "--bandwidth 2x", Network::Changed { latency: 1.0, bandwidth: 2.0 }),
    ];
    // Where messages do not tell the bandwidth, nobody knows what twice as much of it is.
    let told = |network: &Network| {
        !matches!(network, Network::Changed { bandwidth, .. } if *bandwidth != 1.0)
            || analysis.fit.per_byte_ns() > 0.0
    };
    for (what, option, network) in networks.into_iter().filter(|(.., network)| told(network)) {
        candidates.push(Candidate {
            what: what.to_owned(),
            option: Some(option.to_owned()),
            setting: Setting { network, ..Setting::default() },
            error_ns: 0.0,
            at_most: false,
            ends: None,
        });
    }
    candidates.extend(longest_waits(analysis).into_iter().map(|(place, sites)| overlapped(&place, sites)));
    candidates.extend(largest_unbuffered_bytes(analysis).map(larger_eager_limit));
    candidates
}

/// What is done about a finding, in words and as options.
fn mended(finding: &Finding) -> (String, Option<String>) {
    let place = &finding.place;
    let what = match finding.disease {
        Disease::NeedlessBarrier => format!("leave out the barrier at {place}"),
        Disease::WrongOrder => format!("take messages at {place} as they come"),
        Disease::LateReceiver => format!("post the receives of {place} early"),
        Disease::PipelineFill => format!("hand on smaller blocks, an eighth of those before {place}"),
        Disease::SmallMessages => format!("join the small messages at {place}"),
        Disease::TinyCollectives => format!("join the small collectives at {place}"),
        Disease::CollectionLoop => format!("a collective instead of the loop at {place}"),
        Disease::Transfer | Disease::Alltoall => format!("{} at {place} in no time", finding.function),
        _ if finding.cause == Cause::Call => format!("{} at {place} holds nobody up", finding.function),
        _ => format!("{}: no longer than the others before {place}", in_words(&finding.ranks)),
    };
    let own = match finding.headline {
        Headline::Gain => finding.option.clone(),
        Headline::Balanced => place.line.map(|_| format!("--no-longer {place}")),
    };
    (what, own)
}

/// All call sites of the line a place is on; options name lines.
fn sites_of(analysis: &Analysis, place: &SourceLine, site: u32) -> Vec<u32> {
    if place.line.is_none() {
        return vec![site];
    }
    let sites = 0..analysis.definitions.callsites.len() as u32;
    sites.filter(|other| SourceLine::of(&analysis.definitions, Some(*other)) == *place).collect()
}

/// Waits at a place hidden behind what is computed next.
fn overlapped(place: &SourceLine, sites: FxHashSet<u32>) -> Candidate {
    Candidate {
        what: format!("overlap the wait at {place} with the computation behind it"),
        // Options name lines; a place without one cannot be asked for.
        option: place.line.is_some().then(|| format!("--overlap {place}")),
        setting: Setting {
            overlapped: sites.into_iter().map(|site| (site, Pieces::Endless)).collect(),
            ..Setting::default()
        },
        error_ns: 0.0,
        // Some of that computation may need what is waited for.
        at_most: true,
        ends: None,
    }
}

/// Places where most is waited for messages and in collectives, with their call sites: those of one line together,
/// as options name them.
fn longest_waits(analysis: &Analysis) -> Vec<(SourceLine, FxHashSet<u32>)> {
    let mut places: FxHashMap<SourceLine, (Length, FxHashSet<u32>)> = FxHashMap::default();
    for (key, total) in &analysis.waits.totals {
        let Some(site) = key.site.filter(|_| can_be_overlapped(key.pattern)) else { continue };
        let (time, sites) = places.entry(SourceLine::of(&analysis.definitions, Some(site))).or_default();
        *time += total.time;
        sites.insert(site);
    }
    let mut places: Vec<_> =
        places.into_iter().filter(|(_, (time, _))| analysis.share(time.0 as f64) >= LEAST_SHARE).collect();
    places.sort_by(|(a, (a_time, _)), (b, (b_time, _))| b_time.cmp(a_time).then_with(|| a.cmp(b)));
    places.into_iter().map(|(place, (_, sites))| (place, sites)).take(MOST_PLACES).collect()
}

/// Whether there is a call that only begins what is waited for.
fn can_be_overlapped(pattern: Pattern) -> bool {
    matches!(
        pattern,
        Pattern::LateSender
            | Pattern::LateSenderWrongOrder
            | Pattern::WaitAtNxN
            | Pattern::WaitAtBarrier
            | Pattern::EarlyReduce
            | Pattern::LateBroadcast
            | Pattern::EarlyScan
    )
}

/// Room for messages of up to so many bytes; limits are powers of two.
fn larger_eager_limit(bytes: u64) -> Candidate {
    let limit_bytes = bytes.checked_next_power_of_two().unwrap_or(u64::MAX);
    let size = match limit_bytes {
        u64::MAX => "unlimited".to_owned(),
        bytes if bytes >= 1 << 30 => format!("{}G", bytes >> 30),
        bytes if bytes >= 1 << 20 => format!("{}M", bytes >> 20),
        bytes if bytes >= 1 << 10 => format!("{}K", bytes >> 10),
        bytes => bytes.to_string(),
    };
    Candidate {
        what: format!("sends up to {size} do not wait for their receiver: a larger eager limit"),
        option: Some(format!("--eager-limit {size}")),
        setting: Setting { eager_limit_bytes: Some(limit_bytes), ..Setting::default() },
        error_ns: 0.0,
        at_most: false,
        ends: None,
    }
}

/// Size of the largest message whose send waited for its receiver only because MPI had no room for it.
fn largest_unbuffered_bytes(analysis: &Analysis) -> Option<u64> {
    let graph = &analysis.graph;
    let waits = analysis.waits.long.iter().filter(|wait| wait.pattern == Pattern::LateReceiver);
    let ties = waits.flat_map(|wait| graph.ties_of(&graph.steps[wait.step as usize]));
    ties.filter(|tie| tie.kind() == TieKind::AwaitsPost).map(|tie| tie.bytes()).max()
}

/// Places before which most is computed.
fn longest_computation(analysis: &Analysis) -> Vec<u32> {
    let by_site = analysis.profile.computation_by_site();
    let mut sums: Vec<(u32, Length)> =
        by_site.into_iter().filter_map(|(site, (_, time))| Some((site?, time))).collect();
    let all: Length = sums.iter().map(|(_, time)| *time).sum();
    sums.retain(|(_, time)| time.0 as f64 >= LEAST_SHARE * all.0 as f64 && *time > Length::ZERO);
    sums.sort_unstable_by_key(|(site, time)| (std::cmp::Reverse(*time), *site));
    sums.into_iter().map(|(site, _)| site).take(MOST_PLACES).collect()
}

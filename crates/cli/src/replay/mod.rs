//! `kizami replay`: how long the run would take if something were different.
//!
//! The walk is the replay's; here options become a setting, and what comes out a few lines that say what it rests on.
//! Nothing that exists is overwritten.

pub mod options;
mod places;

use crate::arguments::ReplayArguments;
use crate::drawn;
use crate::failure::{UsageError, must_be_new};
use crate::record::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use anyhow::Result;
use kizami_graph::Graph;
use kizami_model::Nanos;
use kizami_replay::{Factor, Fit, Network, PlaceFactor, Request, Setting, balance, retime};
use kizami_store::CallSite;
use kizami_store::run::ReplayedFrom;
use options::{NetworkKind, Times};
use places::sites_at;
use std::io::{self, Write};

/// Replays, and says what came of it.
pub fn run(arguments: &ReplayArguments) -> Result<u8> {
    let trace = drawn::open(&arguments.trace, arguments.threads.map(|threads| threads.get()))?;
    if let Some(output) = &arguments.output {
        must_be_new(output, "-o")?;
    }
    let sites = trace.definitions()?.callsites;
    let plan = Plan::new(arguments, &sites, trace.run().ranks)?;
    let request = Request {
        apart: false,
        output: arguments.output.as_deref(),
        threads: arguments.threads.map_or_else(all_cores, |threads| threads.get()),
        words: words(arguments),
    };
    let bar = Bar::new("replaying");
    let setting = |graph: &Graph, fit: &Fit| anyhow::Ok(plan.setting(graph, fit));
    let replayed = retime(&trace, request, setting, &|progress| {
        bar.set(progress.rows, progress.total, || quantity::counted(progress.rows, "row"));
    })?;
    drop(bar);
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &replayed)?;
        writeln!(out)?;
        return Ok(0);
    }
    let needs_fit = arguments.latency.is_some() || arguments.bandwidth.is_some();
    let mut lines = lines(&replayed, needs_fit);
    if !arguments.overlap.is_empty() {
        let best =
            "at most so much is gained: if no computation that is overlapped needs what was waited for";
        lines.push(("overlap", best.to_owned()));
    }
    for (label, text) in lines {
        writeln!(out, "{label:<12} {text}")?;
    }
    if let Some(output) = &arguments.output {
        writeln!(out, "next: kizami info {}", as_typed(output))?;
    }
    Ok(0)
}

/// As many threads as can run at once here.
pub fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The setting as far as it is known before the trace has been read.
struct Plan<'a> {
    arguments: &'a ReplayArguments,
    ranks: u32,
    /// Sites of each `--callsite` and each `--balance`, and of all `--overlap`.
    scaled: Vec<Vec<u32>>,
    balanced: Vec<Vec<u32>>,
    overlapped: Vec<Vec<u32>>,
}

impl<'a> Plan<'a> {
    /// Looks all places up, so that a wrong one is told at once.
    fn new(arguments: &'a ReplayArguments, sites: &[CallSite], ranks: u32) -> Result<Plan<'a>, UsageError> {
        let beyond = arguments.callsite.iter().find(|place| place.rank.is_some_and(|rank| rank >= ranks));
        if let Some(place) = beyond {
            let last = ranks.saturating_sub(1);
            return Err(UsageError(format!("{place} names no rank of the run; its ranks are 0 to {last}")));
        }
        let scaled = arguments.callsite.iter().map(|place| sites_at(&place.line, sites));
        let balanced = arguments.balance.iter().map(|line| sites_at(line, sites));
        let overlapped = arguments.overlap.iter().map(|line| sites_at(line, sites));
        Ok(Plan {
            arguments,
            ranks,
            scaled: scaled.collect::<Result<_, _>>()?,
            balanced: balanced.collect::<Result<_, _>>()?,
            overlapped: overlapped.collect::<Result<_, _>>()?,
        })
    }

    fn setting(&self, graph: &Graph, fit: &Fit) -> Setting {
        let arguments = self.arguments;
        let mut setting = Setting {
            // A processor that is so many times as fast takes that part of the time.
            cpu: Factor(1.0 / arguments.cpu.map_or(1.0, |times| times.0)),
            network: self.network(fit),
            eager_limit_bytes: arguments.eager_limit.map(|limit| limit.bytes),
            overlapped: self.overlapped.iter().flatten().copied().collect(),
            without_tracer: arguments.without_tracer,
            ..Setting::default()
        };
        for (place, sites) in arguments.callsite.iter().zip(&self.scaled) {
            let mut by_rank = vec![Factor::default(); self.ranks as usize];
            let factor = match place.rank {
                None => PlaceFactor::All(Factor(place.factor)),
                Some(rank) => {
                    by_rank[rank as usize] = Factor(place.factor);
                    PlaceFactor::ByRank(by_rank)
                }
            };
            sites.iter().for_each(|site| setting.scale_place(*site, self.ranks, &factor));
        }
        for sites in &self.balanced {
            let factor = PlaceFactor::ByRank(balance(graph, sites, arguments.without_tracer));
            sites.iter().for_each(|site| setting.scale_place(*site, self.ranks, &factor));
        }
        setting
    }

    fn network(&self, fit: &Fit) -> Network {
        let arguments = self.arguments;
        let times = |wish: Option<Times>| wish.map_or(1.0, |times| times.0);
        match (&arguments.loggops, arguments.network) {
            (Some(model), _) => Network::Model(model.apply(fit.model())),
            (None, Some(NetworkKind::Ideal)) => Network::Ideal,
            _ if arguments.latency.is_none() && arguments.bandwidth.is_none() => Network::AsRecorded,
            _ => {
                Network::Changed { latency: times(arguments.latency), bandwidth: times(arguments.bandwidth) }
            }
        }
    }
}

/// The setting as options, each with its value.
fn words(arguments: &ReplayArguments) -> Vec<String> {
    let mut words = Vec::new();
    if arguments.network == Some(NetworkKind::Ideal) {
        words.push("--network ideal".to_owned());
    }
    words.extend(arguments.latency.map(|times| format!("--latency {times}")));
    words.extend(arguments.bandwidth.map(|times| format!("--bandwidth {times}")));
    words.extend(arguments.loggops.map(|model| format!("--loggops {model}")));
    words.extend(arguments.eager_limit.map(|limit| format!("--eager-limit {limit}")));
    words.extend(arguments.cpu.map(|times| format!("--cpu {times}")));
    words.extend(arguments.callsite.iter().map(|place| format!("--callsite {place}")));
    words.extend(arguments.balance.iter().map(|line| format!("--balance {line}")));
    words.extend(arguments.overlap.iter().map(|line| format!("--overlap {line}")));
    words.extend(arguments.without_tracer.then(|| "--without-tracer".to_owned()));
    words
}

/// How long the run takes, against how long it took, and what that rests on.
fn lines(replayed: &ReplayedFrom, needs_fit: bool) -> Vec<(&'static str, String)> {
    let (recorded_ns, replayed_ns) = (replayed.recorded_ns, replayed.replayed_ns);
    let changed_ns = replayed_ns.saturating_sub(recorded_ns);
    let change = match changed_ns {
        0 => "as recorded".to_owned(),
        _ => {
            let how = if changed_ns < 0 { "less" } else { "more" };
            format!("{} {how}", quantity::share(changed_ns.unsigned_abs() as f64, recorded_ns as f64))
        }
    };
    let setting = if replayed.setting.is_empty() {
        String::new()
    } else {
        format!(", with {}", replayed.setting.join(" "))
    };
    let mut lines = vec![
        ("recorded", quantity::duration(Nanos(recorded_ns))),
        ("replayed", format!("{}, {change}{setting}", quantity::duration(Nanos(replayed_ns)))),
        ("network", network(replayed, needs_fit)),
        (
            "waits",
            format!("{} followed to whom they waited for", quantity::counted(replayed.followed, "call")),
        ),
    ];
    if replayed.not_followed > 0 {
        let calls = quantity::counted(replayed.not_followed, "call");
        lines.push(("not followed", format!("{calls} whose way of waiting is not known kept their length")));
    }
    if replayed.unmatched > 0 {
        let count = quantity::count(replayed.unmatched);
        lines.push(("unmatched", format!("{count} calls and messages whose other side is not in the trace")));
    }
    lines
}

/// What the recorded run says about its network.
fn network(replayed: &ReplayedFrom, needs_fit: bool) -> String {
    if replayed.latency_ns <= 0.0 && replayed.per_byte_ns <= 0.0 {
        let told = "its messages do not tell: too few were waited for";
        let so = if needs_fit { "; --latency and --bandwidth change nothing" } else { "" };
        return format!("{told}{so}");
    }
    let latency = quantity::duration(Nanos(replayed.latency_ns.round() as i64));
    let bandwidth = if replayed.per_byte_ns > 0.0 {
        format!("{}/s", quantity::bytes((1e9 / replayed.per_byte_ns) as u64))
    } else {
        "a bandwidth too high to tell".to_owned()
    };
    format!("{latency} and {bandwidth}, fitted to the fastest messages of each size")
}

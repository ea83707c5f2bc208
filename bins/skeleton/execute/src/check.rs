//! Compares what a skeleton does with a recorded run, call by call.
//!
//! Compared are order, function, peers, tags, bytes, communicator and root of every call of every rank. Failed polls are not:
//! how often a program asked depends on time. Which of several messages a wildcard took is not, either. A skeleton may leave
//! out calls that concern nobody else (asking a rank, making a datatype, reading a clock): those are compared only if asked
//! for.

use crate::ExecuteError;
use crate::arrived::fit_to_senders;
use crate::child::{Progress, gather};
use crate::oracles::Answers;
use crate::rows::{Communicators, NoTime, RankRows, site_index};
use crate::runner::{Plan, RankMode};
use crate::skeleton::Skeleton;
use kizami_model::kind::{CommunicatorCall, FileCall, Kind, WindowCall};
use kizami_model::{Call, Family, Op, Peer};
use kizami_mpi_stub::communicator::Communicator;
use kizami_trace::{Definitions, RankSelection, Trace};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// How to compare.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The program's arguments; those of the recorded run, if it is not said.
    pub arguments: Option<Vec<String>>,
    /// Whether ranks run alone or together.
    pub mode: RankMode,
    /// Also compare calls that concern nobody else.
    pub every_call: bool,
    /// Bytes that all ranks may have together; whatever there is, if it is not said.
    pub memory: Option<u64>,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// Ranks.
    pub ranks: u32,
    /// Ranks all of whose calls are the same.
    pub identical: u32,
    /// Calls that were compared.
    pub compared: u64,
    /// Kinds of ranks.
    pub kinds: u32,
    /// They ran together.
    pub together: bool,
    /// Of each other rank the first difference.
    pub differences: Vec<Difference>,
}

/// Where a rank first does something else.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Whose.
    pub rank: u32,
    /// Which of its calls, of those that are compared.
    pub call: usize,
    /// As it was recorded.
    pub recorded: String,
    /// As the skeleton has it.
    pub skeleton: String,
    /// Where it was called.
    pub place: String,
}

/// Compares a skeleton with a recorded run; tells meanwhile how far its ranks are.
pub fn check(
    skeleton: &Skeleton,
    trace: &Path,
    options: &CheckOptions,
    report: &dyn Fn(&Progress),
) -> Result<Checked, ExecuteError> {
    let trace = Trace::open(trace)?;
    let run = trace.run();
    let ranks = run.ranks;
    let recorded_arguments = || run.command.iter().skip(1).cloned().collect();
    let arguments = options.arguments.clone().unwrap_or_else(recorded_arguments);
    let plan = Plan {
        skeleton,
        oracles: Answers::find(skeleton, ranks, &[])?.values,
        ranks,
        arguments,
        mode: options.mode,
        ranks_per_node: ranks,
        threads: 1,
        for_rows: true,
        memory: options.memory,
    };
    let gathered = gather(&plan, report)?;
    let communicators = Communicators::of(ranks, &gathered.comms);
    let own = Communicators::of(ranks, &gathered.comms).definitions(skeleton);
    let recorded = trace.definitions()?;
    let sites = site_index(skeleton);
    let mut checked = Checked {
        ranks,
        identical: 0,
        compared: 0,
        kinds: gathered.kinds.len() as u32,
        together: gathered.together,
        differences: Vec::new(),
    };
    let mut by_rank = RecordedRanks::open(&trace)?;
    let rows_of = |(rank, comms): (u32, &[Communicator])| {
        let rows = RankRows { rank, ranks, comms, communicators: &communicators, sites: &sites };
        rows.expand(&gathered.kinds[gathered.kind_of[rank as usize] as usize], &mut NoTime)
    };
    let mut skeletons: Vec<Vec<Call>> =
        (0..).zip(gathered.comms.iter().map(AsRef::as_ref)).map(rows_of).collect();
    if !gathered.together {
        fit_to_senders(&mut skeletons);
    }
    for (rank, rows) in (0..).zip(skeletons) {
        let keep = |call: &Call| is_compared(call, options.every_call);
        let skeletons: Vec<Call> = rows.into_iter().filter(keep).collect();
        let real: Vec<Call> = by_rank.next(rank)?.into_iter().filter(keep).collect();
        checked.compared += real.len() as u64;
        let mut compare = Compare { recorded: &recorded, own: &own, known: HashMap::new() };
        match compare.first_difference(rank, &real, &skeletons) {
            None => checked.identical += 1,
            Some(difference) => checked.differences.push(difference),
        }
    }
    Ok(checked)
}

/// Rows of a trace, rank by rank.
pub(crate) struct RecordedRanks {
    calls: kizami_trace::Calls,
    left: Vec<Call>,
}

impl RecordedRanks {
    pub(crate) fn open(trace: &Trace) -> Result<RecordedRanks, ExecuteError> {
        Ok(RecordedRanks { calls: trace.calls(RankSelection::All)?, left: Vec::new() })
    }

    /// The rows of a rank; ranks are asked for in order.
    pub(crate) fn next(&mut self, rank: u32) -> Result<Vec<Call>, ExecuteError> {
        loop {
            if self.left.iter().any(|call| call.rank.0 > rank) {
                break;
            }
            let batch = self.calls.next_batch()?;
            if batch.is_empty() {
                break;
            }
            self.left.extend_from_slice(batch);
        }
        let (these, others) =
            std::mem::take(&mut self.left).into_iter().partition(|call| call.rank.0 == rank);
        self.left = others;
        Ok(these)
    }
}

/// Whether a call is compared: one that matters to others, or every one.
pub(crate) fn is_compared(call: &Call, every: bool) -> bool {
    let Some(function) = call.op.function() else { return false };
    // How often a program asks for what is not there yet depends on time, and so does whether it finds it at once.
    // And so does how many of several requests are done when it asks for some.
    let asks = matches!(function.name, "MPI_Iprobe" | "MPI_Improbe" | "MPI_Waitsome" | "MPI_Testsome");
    let found_nothing = function.name.starts_with("MPI_Test") && call.completes.is_empty();
    function.is_mpi() && !asks && !found_nothing && (every || concerns_others(call.op))
}

/// Whether a function concerns anybody but the rank that calls it.
pub(crate) fn concerns_others(op: Op) -> bool {
    let Some(function) = op.function() else { return false };
    match function.kind {
        Kind::Other => false,
        Kind::Communicator(CommunicatorCall::Ask | CommunicatorCall::Name) => false,
        Kind::Window(WindowCall::Ask) | Kind::File(FileCall::Ask) => false,
        _ => function.family != Family::Datatype,
    }
}

struct Compare<'a> {
    recorded: &'a Definitions,
    own: &'a Definitions,
    /// Which communicator of the recording is which of ours.
    known: HashMap<u32, u32>,
}

impl Compare<'_> {
    fn first_difference(&mut self, rank: u32, real: &[Call], skeletons: &[Call]) -> Option<Difference> {
        let most = real.len().max(skeletons.len());
        let found = (0..most).find(|index| match (real.get(*index), skeletons.get(*index)) {
            (Some(one), Some(two)) => !self.same(one, two),
            _ => true,
        })?;
        let say = |call: Option<&Call>| call.map_or("no further call".to_owned(), words);
        let site = real.get(found).and_then(|call| call.callsite);
        let site = site.and_then(|site| self.recorded.callsites.get(site as usize));
        let own_site = skeletons.get(found).and_then(|call| call.callsite);
        let own_site = own_site.and_then(|site| self.own.callsites.get(site as usize));
        let place = site.or(own_site).map_or(String::new(), |site| match (&site.file, site.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => site.function.clone(),
        });
        Some(Difference {
            rank,
            call: found,
            recorded: say(real.get(found)),
            skeleton: say(skeletons.get(found)),
            place,
        })
    }

    fn same(&mut self, real: &Call, own: &Call) -> bool {
        let wildcard = real.any_source && own.any_source;
        let same_peers = (real.peer, real.recv_peer) == (own.peer, own.recv_peer) || wildcard;
        let any_tag = real.any_tag && own.any_tag && wildcard;
        let same_tags = (real.tag, real.recv_tag) == (own.tag, own.recv_tag) || any_tag;
        let same_bytes = (real.bytes_out, real.bytes_in) == (own.bytes_out, own.bytes_in) || wildcard;
        real.op == own.op
            && real.calls == own.calls
            && same_peers
            && same_tags
            && same_bytes
            && (real.any_source, real.any_tag) == (own.any_source, own.any_tag)
            && real.root == own.root
            && self.same_comm(real.comm, own.comm)
    }

    fn same_comm(&mut self, real: Option<u32>, own: Option<u32>) -> bool {
        let (Some(real), Some(own)) = (real, own) else { return real == own };
        if let Some(known) = self.known.get(&real) {
            return *known == own;
        }
        let (Some(one), Some(two)) =
            (self.recorded.communicators.get(real as usize), self.own.communicators.get(own as usize))
        else {
            return false;
        };
        let same = one.members == two.members && one.dims == two.dims && one.periodic == two.periodic;
        if same {
            self.known.insert(real, own);
        }
        same
    }
}

/// A call in words.
fn words(call: &Call) -> String {
    let mut text = call.op.name().to_owned();
    let peer = |peer: Peer| match peer {
        Peer::None => None,
        Peer::Rank(rank) => Some(rank.0.to_string()),
        Peer::Null => Some("MPI_PROC_NULL".to_owned()),
        Peer::Any => Some("MPI_ANY_SOURCE".to_owned()),
        Peer::Unknown => Some("unknown".to_owned()),
    };
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let whole = |value: Option<i32>| value.map(|value| value.to_string());
    for (name, value) in [
        ("comm", number(call.comm.map(u64::from))),
        ("peer", peer(call.peer)),
        ("tag", whole(call.tag)),
        ("from", peer(call.recv_peer)),
        ("receive tag", whole(call.recv_tag)),
        ("root", peer(call.root)),
        ("bytes out", number(call.bytes_out)),
        ("bytes in", number(call.bytes_in)),
        ("calls", (call.calls != 1).then(|| call.calls.to_string())),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(", {name} {value}"));
        }
    }
    text
}

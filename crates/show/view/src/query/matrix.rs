//! Who sends how much to whom: by rank or by host, with mean latency and how long receivers waited.

use super::Selection;
use crate::insight::Insight;
use kizami_model::Length;
use kizami_trace::Definitions;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Rows and columns, at most; larger runs have several ranks in one.
const MOST_PLACES: usize = 256;

/// What rows and columns stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Ranks.
    #[default]
    Rank,
    /// Hosts.
    Host,
}

/// A row and column of the matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Name of the rank, ranks or host.
    pub name: String,
    /// First rank; none for a host.
    pub first_rank: Option<u32>,
    /// Last rank; none for a host.
    pub last_rank: Option<u32>,
}

/// Square matrices, by sender, then by receiver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Rows and columns.
    pub size: usize,
    /// Bytes sent.
    pub bytes: Vec<f64>,
    /// Messages sent.
    pub messages: Vec<f64>,
    /// From the start of the send to the end of the call that took it, on average.
    pub mean_latency_ns: Vec<f64>,
    /// How long receivers waited for the sender.
    pub wait_ns: Vec<f64>,
}

/// Where each rank is put, and what the places are called.
fn places(definitions: &Definitions, ranks: usize, by: By) -> (Vec<usize>, Vec<Label>) {
    match by {
        By::Host => {
            let labels =
                definitions.hosts.iter().map(|host| host.name.clone()).chain(["(unknown host)".to_owned()]);
            let unknown = definitions.hosts.len();
            let of = |rank: usize| {
                definitions.ranks.get(rank).and_then(|rank| rank.host).map(|host| host as usize)
            };
            let places: Vec<usize> =
                (0..ranks).map(|rank| of(rank).unwrap_or(unknown).min(unknown)).collect();
            let used = places.iter().max().map_or(0, |most| most + 1);
            let label = |name| Label { name, first_rank: None, last_rank: None };
            (
                places.iter().map(|place| place * used.min(MOST_PLACES) / used.max(1)).collect(),
                labels.take(used.min(MOST_PLACES)).map(label).collect(),
            )
        }
        By::Rank => {
            let size = ranks.min(MOST_PLACES);
            let first = |place: usize| (place * ranks).div_ceil(size.max(1));
            let label = |place: usize| {
                let (first, last) = (first(place) as u32, first(place + 1) as u32 - 1);
                let name = if first == last { first.to_string() } else { format!("{first}-{last}") };
                Label { name, first_rank: Some(first), last_rank: Some(last) }
            };
            ((0..ranks).map(|rank| rank * size / ranks.max(1)).collect(), (0..size).map(label).collect())
        }
    }
}

/// What the rows and columns of a run's matrix are.
pub fn labels(definitions: &Definitions, ranks: u32, by: By) -> Vec<Label> {
    places(definitions, ranks as usize, by).1
}

/// The messages under way in a selection, from or to one of its ranks.
pub fn matrix(
    insight: &Insight,
    definitions: &Definitions,
    ranks: u32,
    selection: &Selection,
    by: By,
) -> Matrix {
    let (place_of, labels) = places(definitions, ranks as usize, by);
    let size = labels.len();
    let zero = || vec![0.0; size * size];
    let mut matrix =
        Matrix { size, bytes: zero(), messages: zero(), mean_latency_ns: zero(), wait_ns: zero() };
    let mut selected = vec![false; ranks as usize];
    for rank in &selection.ranks {
        selected[*rank as usize] = true;
    }
    for ((from, to), sum) in &by_pair(insight, selection) {
        insight.each_pair(*from, *to, |from, to| {
            let is_selected = |rank: u32| selected.get(rank as usize).copied().unwrap_or(false);
            if is_selected(from) || is_selected(to) {
                let cell = place_of[from as usize] * size + place_of[to as usize];
                matrix.bytes[cell] += sum.bytes as f64;
                matrix.messages[cell] += sum.messages as f64;
                matrix.mean_latency_ns[cell] += sum.under_way.0 as f64;
                matrix.wait_ns[cell] += sum.waited.0 as f64;
            }
        });
    }
    for (sum, count) in matrix.mean_latency_ns.iter_mut().zip(&matrix.messages) {
        *sum /= count.max(1.0);
    }
    matrix
}

/// What went from one rank to another.
#[derive(Default)]
struct Sum {
    bytes: u64,
    messages: u64,
    under_way: Length,
    waited: Length,
}

/// What goes from one rank to another, by both, as far as it is under way in a selection's time.
fn by_pair(insight: &Insight, selection: &Selection) -> FxHashMap<(u32, u32), Sum> {
    let mut sums: FxHashMap<(u32, u32), Sum> = FxHashMap::default();
    for message in insight.messages_within(selection.from, selection.to) {
        let sum = sums.entry((message.from, message.to)).or_default();
        sum.bytes += message.bytes;
        sum.messages += 1;
        sum.under_way += message.under_way();
    }
    for wait in insight.waits.iter().flat_map(|list| list.iter()).filter(|wait| wait.is_for_message()) {
        let (from, until) = (wait.from().max(selection.from), wait.until().min(selection.to));
        if until > from {
            let rank = insight.rank_of(wait.strand);
            sums.entry((insight.waited_for(wait, rank), rank)).or_default().waited += until - from;
        }
    }
    sums
}

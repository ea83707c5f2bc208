//! The walk: strands in happened-before order, by one walker or several.
//!
//! Ranks are divided into shares (`shares`), and each share has a walker (`worker`). Walkers go on in rounds
//! (`rounds`) and exchange what concerns the other's ranks between them (`exchange`); those of this process are threads
//! (`threads`), others are processes (`processes`). What comes out does not depend on how many there are.

mod class_leaving;
mod collective_state;
pub mod exchange;
pub(crate) mod lane;
mod lane_states;
mod lanes;
mod lower;
mod messages;
pub mod observer;
mod pending;
pub mod processes;
mod rounds;
mod shared;
mod shares;
mod strand;
mod threads;
mod worker;

pub use collective_state::{CollectiveNews, ShareArrivals};
pub use pending::Arrival;
pub use shares::Shares;

use crate::setting::Setting;
use exchange::{Alone, Exchange};
use kizami_graph::Graph;
use kizami_model::{Length, Moment};
use kizami_network::Fit;
use kizami_parallel::map;
use lanes::Lanes;
use observer::Observer;
use rustc_hash::FxHashMap;
use threads::Common;
use worker::Worker;

/// Steps of a strand within one slice of recorded time, about.
const STEPS_IN_A_SLICE: usize = 64;

/// What came of a walk, or of one share of it.
#[derive(Clone, Debug)]
pub struct Replayed<O> {
    /// Of each share, in the order of ranks.
    pub observers: Vec<O>,
    /// Calls whose waiting was followed.
    pub followed: u64,
    /// Calls whose partners did not come, and messages that were never received.
    pub unmatched: u64,
    /// The last end of all, with the tracer overhead taken out of each strand alone.
    pub direct_only: Moment,
    /// What was learned about the network: by a walk under no setting, see [`learn`].
    pub learned: Fit,
    /// The most messages, receives and collectives that had to be remembered at a time.
    pub most_under_way: u64,
    /// Of a run stored by rank class, by place of a communicator, then by member: equal for members that left at the same
    /// moments.
    pub left: FxHashMap<u32, Vec<u64>>,
}

impl<O> Replayed<O> {
    /// The same when the observers have done their work.
    pub fn without_observers(self) -> Replayed<()> {
        let Replayed { followed, unmatched, direct_only, learned, most_under_way, left, .. } = self;
        Replayed { observers: Vec::new(), followed, unmatched, direct_only, learned, most_under_way, left }
    }

    /// Of a whole walk: all its shares, in their order.
    pub fn of_shares(shares: impl IntoIterator<Item = Replayed<O>>) -> Replayed<O> {
        let mut all = Replayed {
            observers: Vec::new(),
            followed: 0,
            unmatched: 0,
            direct_only: Moment(i64::MIN),
            learned: Fit::default(),
            most_under_way: 0,
            left: FxHashMap::default(),
        };
        for share in shares {
            all.followed += share.followed;
            all.unmatched += share.unmatched;
            all.direct_only = all.direct_only.max(share.direct_only);
            all.most_under_way += share.most_under_way;
            all.learned.merge(&share.learned);
            all.left.extend(share.left);
            all.observers.extend(share.observers);
        }
        all.learned.finish();
        all
    }
}

/// A walk made ready: what the walker of every share needs to know.
pub struct Walk<'a, const LANES: usize> {
    graph: &'a Graph,
    lanes: Lanes<LANES>,
    fit: &'a Fit,
    shares: &'a Shares,
    slice: Length,
}

impl<'a, const LANES: usize> Walk<'a, LANES> {
    /// Under several settings at once. `fit` is what a first walk has learned.
    pub fn new(
        graph: &'a Graph,
        settings: [&Setting; LANES],
        fit: &'a Fit,
        shares: &'a Shares,
    ) -> Walk<'a, LANES> {
        Walk { graph, lanes: Lanes::new(settings, fit), fit, shares, slice: slice(graph) }
    }

    /// Walks one share. All others must be walked at the same time, at the other ends of `exchange`. What comes out is to
    /// be put together by [`Replayed::of_shares`].
    pub fn share<O: Observer<LANES>>(
        &self,
        own: usize,
        observer: O,
        exchange: &mut impl Exchange<LANES>,
        progress: &dyn Fn(u64),
    ) -> Replayed<O> {
        let mut worker = Worker::new(self, own, observer);
        rounds::walk_share(&mut worker, exchange, self.slice, progress);
        worker.finish()
    }
}

/// Walks a graph once as recorded, and learns what messages cost.
pub fn learn<O: Observer<0>>(
    graph: &Graph,
    threads: usize,
    observer: impl FnMut() -> O,
    progress: &(dyn Fn(u64) + Sync),
) -> Replayed<O> {
    replay(graph, [], &Fit::default(), threads, observer, progress)
}

/// Walks a graph under several settings at once. `fit` is what a first walk has learned; `observer` is called for one
/// observer for each of the shares of ranks, in their order; `progress` is called with how many steps are done.
pub fn replay<const LANES: usize, O: Observer<LANES>>(
    graph: &Graph,
    settings: [&Setting; LANES],
    fit: &Fit,
    threads: usize,
    mut observer: impl FnMut() -> O,
    progress: &(dyn Fn(u64) + Sync),
) -> Replayed<O> {
    let shares = Shares::of(graph, threads);
    let walk = Walk::new(graph, settings, fit, &shares);
    if shares.count() == 1 {
        return Replayed::of_shares([walk.share(0, observer(), &mut Alone, &progress)]);
    }
    let common = Common::new(shares.count());
    let silent = |_| {};
    let observers: Vec<(usize, O)> = (0..shares.count()).map(|own| (own, observer())).collect();
    let walked = map(observers, |(own, observer)| {
        // All know how far all are; one reports.
        let progress: &(dyn Fn(u64) + Sync) = if own == 0 { progress } else { &silent };
        walk.share(own, observer, &mut common.exchange(own), &progress)
    });
    Replayed::of_shares(walked)
}

/// How much recorded time strands may be apart.
fn slice(graph: &Graph) -> Length {
    if graph.clocks_unaligned {
        return Length(i64::MAX);
    }
    // Strands may have their steps in common. The last step before the next strand is the last one of its rank, or about that.
    let mut firsts: Vec<u64> = graph.strands.iter().map(|strand| strand.first_step).collect();
    firsts.sort_unstable();
    firsts.dedup();
    let strands = firsts.len().max(1);
    let lasts = firsts.into_iter().skip(1).chain([graph.steps.len() as u64]);
    let ends = lasts.filter_map(|next| graph.steps.get(next.checked_sub(1)? as usize).map(|last| last.end));
    let begin = graph.begin();
    let end = ends.max().unwrap_or(begin);
    let slices = (graph.steps.len() / strands / STEPS_IN_A_SLICE).clamp(1, 1 << 20);
    (end.saturating_since(begin) / slices as i64).max(Length(1))
}

//! Where the time of all ranks goes in a run that was predicted: computation, waiting, transfer, and in which calls.
//!
//! Waiting is what calls take on a network that costs nothing, where ranks only wait for each other; transfer is what the
//! network adds to that. Both come from the same walk, so that they add up to the time inside calls. What waits because the
//! network made another rank late counts as transfer: without the network no rank would wait.

use crate::observe::{PlaceTime, Places};
use kizami_model::Length;
use kizami_model::kind::Kind;
use kizami_network::LogGops;
use kizami_replay::Network;
use kizami_trace::{Definitions, SourceLine};
use serde::Serialize;

/// Calls that are listed one by one; the others are in the sums alone.
const MOST_CALLS: usize = 6;

/// How the time of all ranks divides. The remainder to 1 is before the first and after the last call of a rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shares {
    /// Time between calls.
    pub computation: f64,
    /// Time in calls on an ideal network: waiting for other ranks.
    pub waiting: f64,
    /// Time in calls that the network adds.
    pub transfer: f64,
    /// The part of that in collectives.
    #[serde(skip)]
    pub transfer_of_collectives: f64,
    /// Calls with the largest shares, at most six, largest first.
    pub calls: Vec<CallShare>,
}

/// Calls of one function at one call site.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallShare {
    /// The MPI function.
    pub function: String,
    /// Call site.
    pub place: SourceLine,
    /// Share of waiting.
    pub waiting: f64,
    /// Share of transfer.
    pub transfer: f64,
}

impl CallShare {
    /// All of it.
    pub fn inside(&self) -> f64 {
        self.waiting + self.transfer
    }
}

impl Shares {
    /// Of all places of a walk; `share` makes a share of a time.
    pub(crate) fn of(places: &Places, definitions: &Definitions, share: &dyn Fn(Length) -> f64) -> Shares {
        let mut shares = Shares::default();
        for ((site, op), time) in places {
            let (waiting, transfer) = split(time);
            shares.computation += share(time.before);
            shares.waiting += share(waiting);
            shares.transfer += share(transfer);
            if matches!(op.kind(), Kind::Collective(..)) {
                shares.transfer_of_collectives += share(transfer);
            }
            shares.calls.push(CallShare {
                function: op.name().to_owned(),
                place: SourceLine::of(definitions, *site),
                waiting: share(waiting),
                transfer: share(transfer),
            });
        }
        shares.calls.sort_by(|one, other| {
            let by_share = other.inside().total_cmp(&one.inside());
            by_share.then_with(|| (&one.place, &one.function).cmp(&(&other.place, &other.function)))
        });
        shares.calls.truncate(MOST_CALLS);
        shares.calls.retain(|call| call.inside() > 0.0);
        shares
    }
}

/// The network that costs nothing, beside one that does. Where calls take what a model says, so they do here; times of a run
/// that were not recorded say nothing about waits.
pub(crate) fn ideal(network: &Network) -> Network {
    let free = |eager_limit_bytes| Network::Model(LogGops { eager_limit_bytes, ..LogGops::default() });
    match network {
        Network::Measured(costs) => free(costs.messages.eager_limit_bytes),
        Network::Model(model) => free(model.eager_limit_bytes),
        Network::AsRecorded | Network::Ideal | Network::Changed { .. } => Network::Ideal,
    }
}

/// Waiting and transfer.
pub(crate) fn split(time: &PlaceTime) -> (Length, Length) {
    let waiting = time.ideal.min(time.inside);
    (waiting, time.inside - waiting)
}

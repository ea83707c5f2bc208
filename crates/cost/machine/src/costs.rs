//! From the tables of a machine to what a replay asks for.

use crate::machine::{Machine, is_simulator};
use crate::tables::{CollectiveRow, MessageRow, Pattern};
use kizami_model::Op;
use kizami_network::collectives::Library;
use kizami_network::{Curve, FirstCalls, MeasuredCosts, MeasuredMessages};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where it was not seen: messages above wait for their receiver in common MPI libraries.
const COMMON_EAGER_LIMIT_BYTES: u64 = 64 << 10;
/// A send that takes this share of its message's whole way has waited for it.
const WAITED_SHARE: f64 = 0.8;
/// A first call that takes this many times as long as normal sets something up.
const MUCH_LONGER: f64 = 2.0;

impl Machine {
    /// What its messages and collectives cost. Rows that were disturbed count only where there are no others.
    pub fn costs(&self) -> MeasuredCosts {
        let mut costs = MeasuredCosts {
            messages: self.message_costs(),
            collectives: self.curves(Pattern::Plain),
            sparse: self.curves(Pattern::Sparse),
            first_calls: self.first_calls(),
            // In a simulator memory costs nothing.
            warm: !is_simulator(&self.about.mpi),
            library: Library::of(&self.about.mpi, &self.about.command),
            ..MeasuredCosts::default()
        };
        costs.walking_errors = costs.errors_of_walking();
        costs
    }

    /// What was measured of one pattern, by operation and ranks.
    fn curves(&self, pattern: Pattern) -> FxHashMap<(Op, u32), Curve> {
        let mut curves: FxHashMap<(Op, u32), Vec<(u64, f64)>> = FxHashMap::default();
        // What the library chooses counts, and a forced algorithm only where there is nothing else.
        let own: FxHashSet<(&str, u32)> = self
            .collectives
            .iter()
            .filter(|row| row.pattern == pattern.name() && row.algorithm.is_none())
            .map(|row| (row.operation.as_str(), row.ranks))
            .collect();
        let chosen = |row: &CollectiveRow| {
            row.algorithm.is_none() || !own.contains(&(row.operation.as_str(), row.ranks))
        };
        let of_pattern = |row: &&CollectiveRow| row.pattern == pattern.name() && chosen(row);
        let mut rows: Vec<&CollectiveRow> = self.collectives.iter().filter(of_pattern).collect();
        // Of several rows of one size the last counts.
        rows.sort_by_key(|row| row.disturbed.is_none());
        for row in rows {
            if let Some(op) = Op::by_name(&row.operation) {
                curves.entry((op, row.ranks)).or_default().push((row.bytes, row.span_ns));
            }
        }
        curves.into_iter().map(|(key, points)| (key, Curve::new(points))).collect()
    }

    fn message_costs(&self) -> MeasuredMessages {
        // The farthest pair counts: most pairs of a large run are far apart.
        let far = ["switch", "node", "socket", "core"]
            .into_iter()
            .find(|place| self.messages.iter().any(|row| row.place == *place && row.kind == "pingpong"));
        let rows = |kind: &str| {
            let mut rows: Vec<&MessageRow> = self
                .messages
                .iter()
                .filter(|row| row.kind == kind && far.is_none_or(|far| row.place == far))
                .collect();
            // Of several rows of one size the last counts.
            rows.sort_by_key(|row| row.disturbed.is_none());
            Curve::new(rows.into_iter().map(|row| (row.bytes, row.time_ns)))
        };
        let (round_trip_half, send) = (rows("pingpong"), rows("send"));
        MeasuredMessages {
            eager_limit_bytes: eager_limit(&round_trip_half, &send),
            receive: rows("receive"),
            stream: rows("stream"),
            exchange: self.shift(),
            round_trip_half,
            send,
        }
    }

    /// All send to the next one, at the smallest number of ranks above two: with more of them nothing is different that
    /// is not different for messages as well.
    fn shift(&self) -> Curve {
        let shifts = || self.collectives.iter().filter(|row| row.pattern == Pattern::Shift.name());
        let ranks = shifts().map(|row| row.ranks);
        let Some(ranks) = ranks.clone().filter(|ranks| *ranks > 2).min().or(ranks.min()) else {
            return Curve::default();
        };
        Curve::new(shifts().filter(|row| row.ranks == ranks).map(|row| (row.bytes, row.span_ns)))
    }

    /// How much longer than normal first calls take, where that is more than chance.
    fn first_calls(&self) -> FirstCalls {
        let (mut found, library) = (FirstCalls::default(), Library::of(&self.about.mpi, &self.about.command));
        let trusted = |row: &&CollectiveRow| {
            row.pattern == Pattern::Plain.name() && row.disturbed.is_none() && row.algorithm.is_none()
        };
        for row in self.collectives.iter().filter(trusted) {
            let (Some(first_ns), Some(op)) = (row.first_ns, Op::by_name(&row.operation)) else { continue };
            if first_ns > MUCH_LONGER * row.span_ns {
                let how = library.algorithm(op, row.ranks, row.bytes, None);
                found.learn(op, row.ranks, how.as_ref(), first_ns - row.span_ns);
            } else {
                found.learn_none(row.ranks);
            }
        }
        found
    }
}

/// The largest size up to which a send is over well before its message is there.
fn eager_limit(round_trip_half: &Curve, send: &Curve) -> u64 {
    let quick = |(bytes, ns): &&(u64, f64)| *ns < WAITED_SHARE * round_trip_half.at(*bytes);
    let quick_ones = send.points().iter().take_while(quick);
    quick_ones.map(|(bytes, _)| *bytes).last().unwrap_or(COMMON_EAGER_LIMIT_BYTES)
}

//! What a recorded run says about its network.
//!
//! A receive that began before its message was sent shows the whole way of the message; one that began long after
//! shows what taking a message costs. Of both the fastest by size count: ranks mostly wait for each other when
//! something else went wrong, and that does not belong to the message. A straight line through the fastest ways gives
//! the latency and the time per byte. If all messages have one size, small collectives give the latency: they are
//! messages in a row. If there are no messages at all, collectives of all sizes give both.

use crate::LogGops;
use crate::collectives::cost_ns;
use kizami_model::{Length, Op, Shape};
use kizami_stats::{sorted, upper_median};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Sizes are distinguished by their number of bits.
const CLASSES: usize = 65;
/// A message that was sent this much longer ago than it needs, when its receive began, was there already.
const SURELY_THERE: Length = Length(100_000);
/// With fewer messages of a size than this the fastest is not believed to be typical.
const FEW: u64 = 4;

/// Collectives of more bytes say nothing about the latency.
const SMALL_BYTES: u64 = 1 << 10;
/// Collectives of fewer bytes say little about the bandwidth.
const LARGE_BYTES: u64 = 16 << 10;
/// A network in which every message takes 1.
const COUNTING: LogGops = LogGops {
    latency_ns: 1.0,
    overhead_ns: 0.0,
    gap_ns: 0.0,
    per_byte_ns: 0.0,
    overhead_per_byte_ns: 0.0,
    eager_limit_bytes: u64::MAX,
};

/// Where nothing was seen: messages above wait for their receiver in common MPI libraries.
const COMMON_EAGER_LIMIT_BYTES: u64 = 64 << 10;

/// The fastest of none.
const UNOBSERVED: Length = Length(i64::MAX);

/// What messages of one size took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Ways {
    /// Messages whose whole way was seen.
    count: u64,
    /// Their sizes, added up.
    bytes: u64,
    #[serde(rename = "fastest_ns")]
    fastest: Length,
    /// Fastest receive of a message that was there already.
    #[serde(rename = "handling_ns")]
    handling: Length,
}

impl Ways {
    /// The fastest; no time at all if none was seen.
    #[inline]
    fn way(&self) -> Length {
        if self.fastest == UNOBSERVED { Length::ZERO } else { self.fastest.at_least_zero() }
    }
}

/// Fastest receives of messages of one size, by the number of bits of how long ago they were sent. Which of them were
/// there already is only known when all ways are.
type Receives = [Length; CLASSES];

/// Messages of one size that were there before they were received: nobody saw how long they took.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hidden {
    count: u64,
    /// Their sizes, added up.
    bytes: u64,
    /// The shortest time from the start of a send to the end of its receive.
    within: Length,
}

impl Hidden {
    const NONE: Hidden = Hidden { count: 0, bytes: 0, within: UNOBSERVED };
}

/// Collectives of one kind and size: how many, how many bytes, and how long they took together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Together {
    count: u64,
    bytes: u64,
    length: Length,
}

/// All sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    classes: Vec<Ways>,
    line: (f64, f64),
    /// Too few messages were seen, and collectives gave the line.
    #[serde(default)]
    of_collectives: bool,
    /// Messages of more bytes waited for their receiver, as far as that was seen.
    #[serde(default)]
    pub eager_limit_bytes: Option<u64>,
    /// By size, while it is learned.
    #[serde(skip)]
    receives: Vec<Receives>,
    /// By size; not kept with the rest.
    #[serde(skip)]
    hidden: Vec<Hidden>,
    /// Collectives by function, ranks and class of their size; not kept with the rest. The fastest would be a rank that needs
    /// few of the messages.
    #[serde(skip)]
    collectives: FxHashMap<(u16, u32, usize), Together>,
}

impl Default for Fit {
    fn default() -> Fit {
        let unseen = Ways { count: 0, bytes: 0, fastest: UNOBSERVED, handling: UNOBSERVED };
        Fit {
            classes: vec![unseen; CLASSES],
            line: (0.0, 0.0),
            of_collectives: false,
            eager_limit_bytes: None,
            receives: Vec::new(),
            hidden: Vec::new(),
            collectives: FxHashMap::default(),
        }
    }
}

impl Fit {
    /// A message of this size took so long from the start of its send to the end of its receive, which was waiting.
    pub fn learn_way(&mut self, bytes: u64, way: Length) {
        let ways = &mut self.classes[class(bytes)];
        ways.count += 1;
        ways.bytes += bytes;
        ways.fastest = ways.fastest.min(way);
    }

    /// A receive of a message of this size that was sent so long before took so long.
    pub fn learn_handling(&mut self, bytes: u64, ago: Length, length: Length) {
        self.receives.resize(CLASSES, [UNOBSERVED; CLASSES]);
        let fastest = &mut self.receives[class(bytes)][class_of(ago)];
        *fastest = length.min(*fastest);
        self.hidden.resize(CLASSES, Hidden::NONE);
        let hidden = &mut self.hidden[class(bytes)];
        hidden.count += 1;
        hidden.bytes = hidden.bytes.saturating_add(bytes);
        hidden.within = hidden.within.min(ago.saturating_add(length));
    }

    /// A collective took so long after the last one came.
    pub fn learn_collective(&mut self, op: Op, ranks: u32, bytes: u64, length: Length) {
        let known = self.collectives.entry((op.0, ranks, class(bytes))).or_default();
        known.count += 1;
        known.bytes = known.bytes.saturating_add(bytes);
        known.length = known.length.saturating_add(length);
    }

    /// What a small message takes, as the collective has it that is called most often. Making communicators and the
    /// like is more than messages, or less.
    fn small_message_ns(&self) -> Option<f64> {
        let mut small: FxHashMap<(u16, u32), Together> = FxHashMap::default();
        for ((op, ranks, _), known) in self.data_collectives() {
            if known.bytes / known.count <= SMALL_BYTES {
                let sum = small.entry((op, ranks)).or_default();
                (sum.count, sum.length) = (sum.count + known.count, sum.length.saturating_add(known.length));
            }
        }
        let ((op, ranks), sum) = small.into_iter().max_by_key(|(which, sum)| (sum.count, *which))?;
        let in_a_row = cost_ns(Op(op), ranks, 0, &COUNTING);
        (in_a_row > 0.0 && sum.length > Length::ZERO)
            .then(|| sum.length.0 as f64 / sum.count as f64 / in_a_row)
    }

    /// Collectives that move data, in an order of their own.
    fn data_collectives(&self) -> Vec<((u16, u32, usize), Together)> {
        let data = |op: u16| Op(op).function().is_some_and(|function| function.shape == Shape::Collective);
        let known = self.collectives.iter().map(|(which, known)| (*which, *known));
        let mut all: Vec<_> = known.filter(|((op, ..), _)| data(*op)).collect();
        all.sort_by_key(|(which, _)| *which);
        all
    }

    /// Latency and time per byte as collectives have them, each being messages in a row and bytes in a row. Small ones give
    /// the first, large ones the second; the middle one of each counts, since libraries do some of them otherwise.
    fn line_of_collectives(&self) -> (f64, f64) {
        let per_byte = LogGops { latency_ns: 0.0, per_byte_ns: 1.0, ..COUNTING };
        let middle = |values: &[f64]| upper_median(&sorted(values)).unwrap_or(0.0);
        let (mut latencies, mut per_bytes) = (Vec::new(), Vec::new());
        let each = |tell: &mut dyn FnMut(u64, f64, f64, f64)| {
            for ((op, ranks, _), known) in self.data_collectives() {
                let (bytes, length_ns) =
                    (known.bytes / known.count, known.length.0 as f64 / known.count as f64);
                let cost = |network: &LogGops| cost_ns(Op(op), ranks, bytes, network);
                tell(bytes, length_ns, cost(&COUNTING), cost(&per_byte));
            }
        };
        each(&mut |bytes, length_ns, messages, _| {
            if bytes <= SMALL_BYTES && messages > 0.0 {
                latencies.push(length_ns / messages);
            }
        });
        let latency_ns = middle(&latencies);
        each(&mut |bytes, length_ns, messages, moved| {
            if bytes >= LARGE_BYTES && moved > 0.0 {
                per_bytes.push((length_ns - latency_ns * messages).max(0.0) / moved);
            }
        });
        (latency_ns, middle(&per_bytes))
    }

    /// Adds what another fit learned; the line must be fitted again.
    pub fn merge(&mut self, other: &Fit) {
        self.eager_limit_bytes = self.eager_limit_bytes.or(other.eager_limit_bytes);
        for (ours, theirs) in self.classes.iter_mut().zip(&other.classes) {
            ours.count += theirs.count;
            ours.bytes += theirs.bytes;
            ours.fastest = ours.fastest.min(theirs.fastest);
            ours.handling = ours.handling.min(theirs.handling);
        }
        self.receives.resize(CLASSES, [UNOBSERVED; CLASSES]);
        for (ours, theirs) in self.receives.iter_mut().flatten().zip(other.receives.iter().flatten()) {
            *ours = (*ours).min(*theirs);
        }
        self.hidden.resize(CLASSES, Hidden::NONE);
        for (ours, theirs) in self.hidden.iter_mut().zip(&other.hidden) {
            ours.count += theirs.count;
            ours.bytes = ours.bytes.saturating_add(theirs.bytes);
            ours.within = ours.within.min(theirs.within);
        }
        for (which, theirs) in &other.collectives {
            let ours = self.collectives.entry(*which).or_default();
            ours.count += theirs.count;
            ours.bytes = ours.bytes.saturating_add(theirs.bytes);
            ours.length = ours.length.saturating_add(theirs.length);
        }
    }

    /// Fits the line, once all is learned, and finds what receiving costs. More can be added and fitted later.
    pub fn finish(&mut self) {
        for (size, receives) in std::mem::take(&mut self.receives).into_iter().enumerate() {
            let ways = &mut self.classes[size];
            // All of these bits and more were sent longer ago.
            let there = class_of(SURELY_THERE.saturating_add(ways.way())) + 1;
            ways.handling = receives.into_iter().skip(there).min().unwrap_or(UNOBSERVED);
        }
        // Relative errors count, not absolute ones: otherwise the largest messages would rule.
        let weighted = |(bytes, way_ns): (u64, f64)| (bytes as f64, way_ns, 1.0 / way_ns.max(1.0).powi(2));
        let mut points: Vec<(f64, f64, f64)> = self.ways().map(weighted).collect();
        // A single size does not separate latency from bandwidth.
        if let ([(bytes, way_ns, _)], Some(small_ns)) = (&points[..], self.small_message_ns())
            && *bytes > 0.0
            && small_ns < *way_ns
        {
            points.push((0.0, small_ns, 1.0 / small_ns.powi(2)));
        }
        self.of_collectives = points.is_empty();
        self.line = if self.of_collectives { self.line_of_collectives() } else { line(&points) };
    }

    /// Sizes of which enough messages were seen, with how long the fastest took on its whole way, in nanoseconds.
    pub fn ways(&self) -> impl Iterator<Item = (u64, f64)> {
        let seen = self.classes.iter().filter(|ways| ways.count >= FEW);
        seen.map(|ways| (ways.bytes / ways.count, ways.way().0 as f64))
    }

    /// Sizes of messages that were there before they were received, with the shortest time within which one came, in
    /// nanoseconds: more than it took.
    pub fn hidden(&self) -> impl Iterator<Item = (u64, f64)> {
        let seen = self.hidden.iter().filter(|hidden| hidden.count > 0);
        seen.map(|hidden| (hidden.bytes / hidden.count, hidden.within.0 as f64))
    }

    /// How long a message of this size takes at least; 0 if none was seen.
    #[inline]
    pub fn way(&self, bytes: u64) -> Length {
        self.classes[class(bytes)].way()
    }

    /// What receiving a message of this size costs if it is there, but no more than `most`: that is said, too, if it was
    /// never seen.
    #[inline]
    pub fn handling_within(&self, bytes: u64, most: Length) -> Length {
        self.classes[class(bytes)].handling.min(most)
    }

    /// Whether it was seen what receiving a message of this size costs if it is there.
    #[inline]
    pub fn knows_handling(&self, bytes: u64) -> bool {
        self.classes[class(bytes)].handling != UNOBSERVED
    }

    /// Whether messages of this size set out only when both sides are there.
    #[inline]
    pub fn waits_for_both(&self, bytes: u64) -> bool {
        bytes > self.eager_limit_bytes.unwrap_or(COMMON_EAGER_LIMIT_BYTES)
    }

    /// Whether too few messages were seen, so that collectives gave latency and time per byte.
    pub fn is_of_collectives(&self) -> bool {
        self.of_collectives
    }

    /// Latency: what the smallest message would take.
    pub fn latency_ns(&self) -> f64 {
        self.line.0
    }

    /// Time per byte.
    pub fn per_byte_ns(&self) -> f64 {
        self.line.1
    }

    /// The same as parameters of a model, with overheads where they were seen.
    pub fn model(&self) -> LogGops {
        let seen = self.classes.iter().map(|ways| ways.handling).filter(|handling| *handling != UNOBSERVED);
        let overhead_ns = seen.min().unwrap_or_default().at_least_zero().0 as f64;
        let overhead_ns = overhead_ns.min(self.latency_ns() / 2.0);
        LogGops {
            latency_ns: (self.latency_ns() - 2.0 * overhead_ns).max(0.0),
            overhead_ns,
            gap_ns: 0.0,
            per_byte_ns: self.per_byte_ns(),
            overhead_per_byte_ns: 0.0,
            eager_limit_bytes: self.eager_limit_bytes.unwrap_or(COMMON_EAGER_LIMIT_BYTES),
        }
    }
}

/// The weighted least-squares line through points (x, y, weight), with nothing below zero.
fn line(points: &[(f64, f64, f64)]) -> (f64, f64) {
    let sum = |of: fn(&(f64, f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let (w, x, y) = (sum(|p| p.2), sum(|p| p.2 * p.0), sum(|p| p.2 * p.1));
    let (xx, xy) = (sum(|p| p.2 * p.0 * p.0), sum(|p| p.2 * p.0 * p.1));
    if w == 0.0 {
        return (0.0, 0.0);
    }
    let spread = w * xx - x * x;
    if points.len() < 2 || spread <= f64::EPSILON * w * xx {
        return (y / w, 0.0);
    }
    let slope = ((w * xy - x * y) / spread).max(0.0);
    (((y - slope * x) / w).max(0.0), slope)
}

fn class(bytes: u64) -> usize {
    (u64::BITS - bytes.leading_zeros()) as usize
}

fn class_of(length: Length) -> usize {
    class(length.at_least_zero().0 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_one_size_leave_the_latency_to_collectives() {
        let mut fit = Fit::default();
        (0..10).for_each(|_| fit.learn_way(10_000, Length(12_000)));
        // Three rounds of messages for eight ranks.
        fit.learn_collective(Op::by_name("MPI_Allreduce").unwrap(), 8, 8, Length(6_000));
        fit.finish();
        assert!((fit.latency_ns() - 2_000.0).abs() < 1.0, "{}", fit.latency_ns());
        assert!((fit.per_byte_ns() - 1.0).abs() < 0.001, "{}", fit.per_byte_ns());
    }

    #[test]
    fn collectives_alone_determine_latency_and_bandwidth() {
        let mut fit = Fit::default();
        let network = LogGops { latency_ns: 5_000.0, per_byte_ns: 0.8, ..COUNTING };
        for (name, bytes) in [("MPI_Allreduce", 8), ("MPI_Alltoall", 1 << 16), ("MPI_Bcast", 1 << 20)] {
            let op = Op::by_name(name).unwrap();
            fit.learn_collective(op, 16, bytes, Length::from_nanos_f64(cost_ns(op, 16, bytes, &network)));
        }
        fit.finish();
        assert!((fit.latency_ns() - 5_000.0).abs() < 50.0, "{}", fit.latency_ns());
        assert!((fit.per_byte_ns() - 0.8).abs() < 0.01, "{}", fit.per_byte_ns());
    }

    #[test]
    fn latency_and_bandwidth_are_recovered() {
        let mut fit = Fit::default();
        for bytes in [8, 1_000, 65_000, 1_000_000] {
            for extra in [700, 0, 90_000, 5] {
                fit.learn_way(bytes, Length(2_000 + bytes as i64 / 4 + extra));
            }
        }
        fit.learn_handling(8, Length(1_000_000), Length(150));
        fit.learn_handling(8, Length(2_500), Length(20));
        fit.finish();
        assert!((fit.latency_ns() - 2_000.0).abs() < 20.0, "{}", fit.latency_ns());
        assert!((fit.per_byte_ns() - 0.25).abs() < 0.005, "{}", fit.per_byte_ns());
        assert_eq!((fit.way(9), fit.way(100_000)), (Length(2_002), Length::ZERO));
        let handling = |bytes, most| fit.handling_within(bytes, Length(most)).0;
        assert_eq!((handling(15, 1_000), handling(15, 100), handling(100_000, 1_000)), (150, 100, 1_000));
    }
}

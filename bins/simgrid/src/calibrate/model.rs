//! What a message takes in SimGrid's MPI, with the numbers in it fitted to a measured machine.
//!
//! A message of `n` bytes travels as `n` + 16. In SimGrid 3.32 it takes `latency * lat-factor + travelling / (bandwidth *
//! bw-factor)`, with factors by size, behind what its sender spends on it (`smpi/os`) and before what its receiver does
//! (`smpi/or`), as long as the sender does not wait (`smpi/send-is-detached-thresh`). Factors are the same on all links. So
//! they are fitted to the messages between nodes; those within a node get the latency and the bandwidth that, with these
//! factors, come nearest.
//!
//! When it is wrong: a send is taken to cost as much in a program as between two ranks that do nothing else; one that does
//! not block, as much as one that does.

use super::pieces::{Piece, Point, holding, pieces, two_factors};
use super::samples::{Limits, Sample, Samples};

/// What SimGrid's MPI adds to every message.
pub const ENVELOPE_BYTES: u64 = 16;

/// The part of a message's time that its two ranks may spend on it: something is left for the way.
const MOST_OVERHEAD_SHARE: f64 = 0.9;

/// Errors below this share are no reason for another line, however sure the measurement is.
const LEAST_NOISE: f64 = 1e-3;

/// A byte that takes less than this share of the time on the widest stretch takes none: a factor must be a number.
const LEAST_BYTE_SHARE: f64 = 1e-6;

/// Between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// From one to the other, where the factor is 1.
    pub latency_ns: f64,
    /// The same for each byte.
    pub per_byte_ns: f64,
}

impl Link {
    /// Bytes a second.
    pub fn bandwidth_bytes_per_s(&self) -> f64 {
        1e9 / self.per_byte_ns
    }
}

/// What messages of some sizes are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// From this many bytes on the way.
    pub from_bytes: u64,
    /// Factor of the latency.
    pub latency_factor: f64,
    /// Factor of the bandwidth.
    pub bandwidth_factor: f64,
    /// What a message costs its sender, by its own size.
    pub sending: Overhead,
    /// What it costs its receiver.
    pub receiving: Overhead,
}

/// What a message costs a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Overhead {
    /// Of no bytes at all.
    pub fixed_ns: f64,
    /// For each byte.
    pub per_byte_ns: f64,
}

impl Overhead {
    /// For a message.
    pub fn time_ns(&self, bytes: u64) -> f64 {
        self.fixed_ns + self.per_byte_ns * bytes as f64
    }

    /// A share of what a message takes in all.
    fn of(piece: &Piece, share: f64) -> Overhead {
        Overhead { fixed_ns: share * piece.time_ns(ENVELOPE_BYTES), per_byte_ns: share * piece.per_byte_ns }
    }
}

/// All numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Who waits for whom; none if that was not measured.
    pub limits: Option<Limits>,
    /// In the order of sizes.
    pub stretches: Vec<Stretch>,
    /// Between nodes.
    pub link: Link,
    /// Within a node.
    pub loopback: Link,
}

impl Model {
    /// Fits it to what was measured: all to the first samples, and to the others, if there are any, a link of their own.
    pub fn fit(samples: &Samples, within: Option<&Samples>) -> Model {
        let point = |sample: &Sample| Point { bytes: sample.bytes + ENVELOPE_BYTES, time_ns: sample.time_ns };
        let points: Vec<Point> = samples.fitted().map(point).collect();
        let whole = divided(pieces(&points, samples.noise.max(LEAST_NOISE)), samples.limits);
        let shares = overhead_shares(&whole, samples, within);
        let ways: Vec<Piece> = whole.iter().zip(&shares).map(|(piece, shares)| way(piece, *shares)).collect();
        let link = link(&ways);
        let stretches = (whole.iter().zip(&shares).zip(&ways))
            .map(|((piece, [send, receive]), way)| Stretch {
                from_bytes: piece.from_bytes,
                latency_factor: way.fixed_ns / link.latency_ns,
                bandwidth_factor: 1.0 / (way.per_byte_ns / link.per_byte_ns).max(LEAST_BYTE_SHARE),
                sending: Overhead::of(piece, *send),
                receiving: Overhead::of(piece, *receive),
            })
            .collect();
        let mut model = Model { limits: samples.limits, stretches, link, loopback: link };
        if let Some(within) = within {
            model.loopback = model.nearest(within);
        }
        model
    }

    /// The link on which messages come nearest to what was measured, with the factors there are.
    fn nearest(&self, samples: &Samples) -> Link {
        let row = |sample: &Sample| {
            let [latency_ns, bytes_ns, overhead_ns] = self.parts_ns(sample.bytes, &self.link);
            ([latency_ns, bytes_ns], (sample.time_ns - overhead_ns).max(0.0), sample.time_ns)
        };
        let [latency, per_byte] = two_factors(samples.fitted().map(row));
        Link {
            latency_ns: latency * self.link.latency_ns,
            per_byte_ns: per_byte.max(LEAST_BYTE_SHARE) * self.link.per_byte_ns,
        }
    }

    /// What a message takes for its latency, for its bytes, and of both ranks.
    fn parts_ns(&self, bytes: u64, link: &Link) -> [f64; 3] {
        let travelling = bytes + ENVELOPE_BYTES;
        let Some(stretch) = holding(&self.stretches, |stretch| stretch.from_bytes, travelling) else {
            return [0.0; 3];
        };
        [
            link.latency_ns * stretch.latency_factor,
            link.per_byte_ns * travelling as f64 / stretch.bandwidth_factor,
            stretch.sending.time_ns(bytes) + stretch.receiving.time_ns(bytes),
        ]
    }

    /// From the start of a send to the end of a receive that was waiting for it.
    pub fn message_ns(&self, bytes: u64, link: &Link) -> f64 {
        self.parts_ns(bytes, link).iter().sum()
    }
}

/// The same lines, but none goes on beyond a limit.
fn divided(mut pieces: Vec<Piece>, limits: Option<Limits>) -> Vec<Piece> {
    let ends = limits.map_or([0, 0], |limits| [limits.early_bytes, limits.detached_bytes]);
    for end in ends.into_iter().filter(|end| *end > 0) {
        let from_bytes = end + ENVELOPE_BYTES + 1;
        let before = pieces.partition_point(|piece| piece.from_bytes < from_bytes);
        if pieces.get(before).is_none_or(|piece| piece.from_bytes > from_bytes) && before > 0 {
            pieces.insert(before, Piece { from_bytes, ..pieces[before - 1] });
        }
    }
    pieces
}

/// For each line the shares of a message's time that its sender and its receiver spend on it, as far as that was measured: a
/// send that waits tells nothing, and neither does a receive whose message comes only then. Neither can cost more than one of
/// many messages that follow each other; single calls are measured after a pause, in which caches forget.
fn overhead_shares(whole: &[Piece], samples: &Samples, within: Option<&Samples>) -> Vec<[f64; 2]> {
    let Some(limits) = samples.limits else { return vec![[0.0; 2]; whole.len()] };
    let near = within.map(|within| within.curve());
    let at = |piece: &Piece, bytes: u64| {
        let time_ns = piece.time_ns(bytes + ENVELOPE_BYTES);
        let many_ns = if samples.stream.is_empty() { f64::INFINITY } else { samples.stream.at(bytes) };
        let send_ns = samples.send.at_within(bytes, limits.detached_bytes).min(many_ns);
        let receive_ns = samples.receive.at_within(bytes, limits.early_bytes).min(many_ns);
        let receive_ns = if bytes <= limits.early_bytes { receive_ns } else { 0.0 };
        let near_ns = near.as_ref().map_or(f64::INFINITY, |near| near.at(bytes));
        let most_ns = MOST_OVERHEAD_SHARE * time_ns.min(near_ns);
        let cut = (most_ns / (send_ns + receive_ns)).min(1.0);
        [send_ns, receive_ns].map(|ns| if time_ns > 0.0 { ns * cut / time_ns } else { 0.0 })
    };
    let ends = whole.iter().skip(1).map(|next| next.from_bytes).chain([u64::MAX]);
    let share = |(piece, end): (&Piece, u64)| {
        let first_bytes = piece.from_bytes.saturating_sub(ENVELOPE_BYTES);
        if first_bytes > limits.detached_bytes || limits.detached_bytes == 0 {
            return [0.0; 2];
        }
        let within = |bytes: &u64| (piece.from_bytes..end).contains(&(bytes + ENVELOPE_BYTES));
        let mut sizes: Vec<u64> = samples.fitted().map(|sample| sample.bytes).filter(within).collect();
        if sizes.is_empty() {
            sizes.push(first_bytes);
        }
        let sum = sizes.iter().map(|bytes| at(piece, *bytes)).fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
        sum.map(|sum| sum / sizes.len() as f64)
    };
    whole.iter().zip(ends).map(share).collect()
}

/// What is left of a message's time without what its two ranks spend on it.
fn way(piece: &Piece, [send, receive]: [f64; 2]) -> Piece {
    let left = 1.0 - send - receive;
    Piece { fixed_ns: left * piece.fixed_ns, per_byte_ns: left * piece.per_byte_ns, ..*piece }
}

/// The latency of the shortest messages that have one, and the bandwidth of the longest.
fn link(ways: &[Piece]) -> Link {
    let latency_ns = ways.iter().map(|way| way.fixed_ns).find(|latency| *latency > 0.0);
    let per_byte_ns = ways.iter().rev().map(|way| way.per_byte_ns).find(|byte| *byte > 0.0);
    Link { latency_ns: latency_ns.unwrap_or(1.0), per_byte_ns: per_byte_ns.unwrap_or(LEAST_BYTE_SHARE) }
}

#[cfg(test)]
mod tests {
    use super::super::samples::Distance;
    use super::*;
    use kizami_network::Curve;

    /// A network on which sends cost 200 ns, receives 300 ns, and messages above 8 KiB wait for their receiver.
    fn network(time_ns: impl Fn(u64) -> f64) -> Samples {
        let sizes: Vec<u64> = (2..=20).map(|exponent| 1 << exponent).collect();
        let sample = |(number, bytes): (usize, &u64)| Sample {
            bytes: *bytes,
            time_ns: time_ns(*bytes),
            held_out: number % 3 == 1,
        };
        let flat = |ns: f64| Curve::new(sizes.iter().map(|bytes| (*bytes, ns)));
        Samples {
            distance: Distance::BetweenNodes,
            ping_pongs: sizes.iter().enumerate().map(sample).collect(),
            noise: 0.01,
            limits: Some(Limits { detached_bytes: 8_192, early_bytes: 8_192 }),
            send: flat(200.0),
            receive: flat(300.0),
            stream: flat(400.0),
        }
    }

    fn times(bytes: u64) -> f64 {
        1_500.0 + 0.1 * bytes as f64
    }

    #[test]
    fn a_straight_network_is_met_at_all_sizes() {
        let samples = network(times);
        let model = Model::fit(&samples, None);
        for bytes in samples.ping_pongs.iter().map(|sample| sample.bytes).chain([3, 100_000]) {
            let error = model.message_ns(bytes, &model.link) / times(bytes) - 1.0;
            assert!(error.abs() < 1e-3, "{bytes}: {error}");
        }
        assert!((model.link.per_byte_ns - 0.1).abs() < 1e-3, "{:?}", model.link);
        assert_eq!(model.loopback, model.link);
    }

    #[test]
    fn overheads_are_those_of_calls_that_do_not_wait() {
        let model = Model::fit(&network(times), None);
        let first = model.stretches[0];
        // A share of each message's time: right on average over the sizes of a stretch.
        assert!((first.sending.time_ns(256) / 200.0 - 1.0).abs() < 0.2, "{first:?}");
        assert!((first.receiving.time_ns(256) / first.sending.time_ns(256) - 1.5).abs() < 1e-6);
        let waiting = model.stretches.last().unwrap();
        assert_eq!(waiting.from_bytes, 8_192 + ENVELOPE_BYTES + 1);
        assert_eq!([waiting.sending, waiting.receiving], [Overhead::default(); 2]);
    }

    #[test]
    fn overheads_leave_something_for_the_way() {
        let mut samples = network(|_| 300.0);
        let model = Model::fit(&samples, None);
        assert!(model.stretches[0].sending.time_ns(8) + model.stretches[0].receiving.time_ns(8) <= 271.0);
        assert!((model.message_ns(8, &model.link) - 300.0).abs() < 1e-6);
        samples.limits = None;
        assert_eq!(Model::fit(&samples, None).stretches[0].sending, Overhead::default());
    }

    #[test]
    fn within_a_node_the_same_factors_get_another_link() {
        let far = network(times);
        let model = Model::fit(&far, None);
        let shorter =
            Link { latency_ns: 0.6 * model.link.latency_ns, per_byte_ns: 0.7 * model.link.per_byte_ns };
        let near = network(|bytes| model.message_ns(bytes, &shorter));
        let found = Model::fit(&far, Some(&near));
        assert_eq!(found.stretches, model.stretches);
        assert!((found.loopback.latency_ns / shorter.latency_ns - 1.0).abs() < 1e-6, "{:?}", found.loopback);
        assert!((found.loopback.per_byte_ns / shorter.per_byte_ns - 1.0).abs() < 1e-6);
    }
}

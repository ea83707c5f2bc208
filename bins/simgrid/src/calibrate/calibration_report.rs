//! What is told of a calibration: its numbers, and how far its messages are from those that were measured.

use super::model::{ENVELOPE_BYTES, Link, Model, Overhead, Stretch};
use super::samples::{Distance, Sample, Samples};
use super::xml::Hosts;
use kizami_stats::{median, sorted};
use serde::Serialize;

/// All of it; what `--json` prints.
#[derive(Debug, Serialize)]
pub struct CalibrationReport {
    /// Names of the machines, and the MPI of the first.
    pub machines: Vec<String>,
    /// See there.
    pub mpi: String,
    /// Of the platform.
    pub nodes: u32,
    /// Of each node.
    pub cores: u32,
    /// Between two nodes, where factors are 1, and within one.
    pub link: LinkFigures,
    /// See there.
    pub loopback: LinkFigures,
    /// Stretches of sizes.
    pub segments: Vec<Segment>,
    /// Who waits for whom; none if that was not measured.
    pub limits: Option<LimitFigures>,
    /// What was measured; factors are fitted to the first.
    pub measured: Vec<Measured>,
    /// The platform file.
    pub written: String,
}

/// A link.
#[derive(Debug, Serialize)]
pub struct LinkFigures {
    latency_ns: f64,
    bandwidth_bytes_per_s: f64,
}

/// Sizes with the same factors.
#[derive(Debug, Serialize)]
pub struct Segment {
    /// Sizes of messages.
    pub from_bytes: u64,
    /// None in the last one.
    pub to_bytes: Option<u64>,
    /// Of a message alone between nodes, with factors.
    pub latency_ns: f64,
    /// See there.
    pub bandwidth_bytes_per_s: f64,
    /// The factors.
    pub latency_factor: f64,
    /// See there.
    pub bandwidth_factor: f64,
    /// What a message costs its sender and its receiver.
    pub sending: Overhead,
    /// See there.
    pub receiving: Overhead,
    /// The largest error of a size that was fitted, and of one that was held out; none if there are none.
    pub fitted_error: Option<f64>,
    /// See there.
    pub held_out_error: Option<f64>,
}

/// Who waits for whom.
#[derive(Debug, Serialize)]
pub struct LimitFigures {
    /// Up to so many bytes a sender does not wait.
    pub detached_bytes: u64,
    /// Up to so many bytes a message is there before its receive is called.
    pub early_bytes: u64,
}

/// Ping-pongs at one distance.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// How far apart.
    pub distance: Distance,
    /// Errors of sizes that were fitted, and of those held out.
    pub fitted: Errors,
    /// See there.
    pub held_out: Errors,
    /// In the order of sizes.
    pub sizes: Vec<Size>,
}

/// One size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    /// Of the message.
    pub bytes: u64,
    /// Half of a round trip.
    pub measured_ns: f64,
    /// The same on the platform.
    pub platform_ns: f64,
    /// How much more that is, as a share.
    pub error: f64,
    /// Whether it was not fitted.
    pub held_out: bool,
}

/// Errors as shares, whether more or less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Errors {
    /// Of how many.
    pub sizes: usize,
    /// Half are below.
    pub median: f64,
    /// The largest, and the size it is at.
    pub largest: f64,
    /// See there.
    pub largest_bytes: u64,
}

impl CalibrationReport {
    /// The machines with an MPI behind them; imported ones do not know theirs.
    pub fn named(&self, mpi: &str) -> String {
        let machines = self.machines.join(", ");
        if mpi.is_empty() { machines } else { format!("{machines}, {mpi}") }
    }

    /// Compares a model with what it was fitted to.
    pub fn of(model: &Model, hosts: &Hosts, measured: &[&Samples]) -> CalibrationReport {
        let measured: Vec<Measured> = (measured.iter().enumerate())
            .map(|(number, samples)| {
                // What factors were fitted to is what the link is like.
                let link = if number == 0 { &model.link } else { &model.loopback };
                Measured::of(samples, model, link)
            })
            .collect();
        let sizes = measured.first().map_or(&[][..], |measured| &measured.sizes);
        let ends = model.stretches.iter().skip(1).map(|next| Some(message_bytes(next.from_bytes) - 1));
        let segments = (model.stretches.iter().zip(ends.chain([None])))
            .map(|(stretch, to_bytes)| segment(stretch, to_bytes, &model.link, sizes))
            .collect();
        let limits = model.limits.map(|limits| LimitFigures {
            detached_bytes: limits.detached_bytes,
            early_bytes: limits.early_bytes,
        });
        CalibrationReport {
            machines: Vec::new(),
            mpi: String::new(),
            nodes: hosts.nodes,
            cores: hosts.cores,
            link: link_figures(&model.link),
            loopback: link_figures(&model.loopback),
            segments,
            limits,
            measured,
            written: String::new(),
        }
    }
}

impl Measured {
    fn of(samples: &Samples, model: &Model, link: &Link) -> Measured {
        let size = |sample: &Sample| {
            let platform_ns = model.message_ns(sample.bytes, link);
            Size {
                bytes: sample.bytes,
                measured_ns: sample.time_ns,
                platform_ns,
                error: platform_ns / sample.time_ns - 1.0,
                held_out: sample.held_out,
            }
        };
        let sizes: Vec<Size> = samples.ping_pongs.iter().map(size).collect();
        let errors = |held_out: bool| Errors::of(sizes.iter().filter(|size| size.held_out == held_out));
        Measured { distance: samples.distance, fitted: errors(false), held_out: errors(true), sizes }
    }
}

impl Errors {
    fn of<'a>(sizes: impl Iterator<Item = &'a Size>) -> Errors {
        let errors: Vec<(f64, u64)> = sizes.map(|size| (size.error.abs(), size.bytes)).collect();
        let sorted = sorted(&errors.iter().map(|(error, _)| *error).collect::<Vec<f64>>());
        let largest = errors.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let (Some((largest, largest_bytes)), Some(median)) = (largest.copied(), median(&sorted)) else {
            return Errors::default();
        };
        Errors { sizes: errors.len(), median, largest, largest_bytes }
    }
}

fn link_figures(link: &Link) -> LinkFigures {
    LinkFigures { latency_ns: link.latency_ns, bandwidth_bytes_per_s: link.bandwidth_bytes_per_s() }
}

fn segment(stretch: &Stretch, to_bytes: Option<u64>, link: &Link, sizes: &[Size]) -> Segment {
    let from_bytes = message_bytes(stretch.from_bytes);
    let within = |size: &&Size| size.bytes >= from_bytes && to_bytes.is_none_or(|to| size.bytes <= to);
    let error = |held_out: bool| {
        let errors = Errors::of(sizes.iter().filter(within).filter(|size| size.held_out == held_out));
        (errors.sizes > 0).then_some(errors.largest)
    };
    Segment {
        from_bytes,
        to_bytes,
        latency_ns: link.latency_ns * stretch.latency_factor,
        bandwidth_bytes_per_s: link.bandwidth_bytes_per_s() * stretch.bandwidth_factor,
        latency_factor: stretch.latency_factor,
        bandwidth_factor: stretch.bandwidth_factor,
        sending: stretch.sending,
        receiving: stretch.receiving,
        fitted_error: error(false),
        held_out_error: error(true),
    }
}

/// Of bytes on the way, those of the message.
fn message_bytes(travelling: u64) -> u64 {
    travelling.saturating_sub(ENVELOPE_BYTES)
}

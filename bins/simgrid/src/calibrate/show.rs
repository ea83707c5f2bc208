//! A calibration, shown to people.

use super::calibration_report::{CalibrationReport, Errors, Measured, Segment};
use super::model::Overhead;
use super::pieces::holding;
use super::samples::{Distance, FEWEST_SIZES};
use kizami_terminal::text;
use std::io::{self, Write};

/// Bandwidths above are told as no limit: single bytes of short messages take no time that can be measured.
const NO_LIMIT_BYTES_PER_S: f64 = 1e13;

/// Prints it.
pub fn show(calibration_report: &CalibrationReport) -> io::Result<()> {
    let mut out = text::stdout();
    writeln!(
        out,
        "machine    {}",
        calibration_report.named(calibration_report.mpi.split(',').next().unwrap_or_default())
    )?;
    for measured in &calibration_report.measured {
        let sizes = measured.sizes.len();
        writeln!(
            out,
            "measured   {sizes} sizes {}: {} fitted, {} held out",
            measured.distance.name(),
            measured.fitted.sizes,
            measured.held_out.sizes
        )?;
    }
    segments(&mut out, &calibration_report.segments)?;
    limits(&mut out, calibration_report)?;
    for measured in &calibration_report.measured {
        errors(&mut out, measured, calibration_report.measured.len() > 1)?;
    }
    if let [only] = &calibration_report.measured[..] {
        let missing = match only.distance {
            Distance::WithinNode => Distance::BetweenNodes,
            Distance::BetweenNodes => Distance::WithinNode,
        };
        writeln!(
            out,
            "note       fewer than {FEWEST_SIZES} sizes measured {}: messages there take as long as {}",
            missing.name(),
            only.distance.name()
        )?;
    }
    writeln!(
        out,
        "written    {}: {} of {}",
        calibration_report.written,
        counted(calibration_report.nodes, "host"),
        counted(calibration_report.cores, "core")
    )
}

fn segments(out: &mut impl Write, segments: &[Segment]) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "     from bytes     to bytes    latency   bandwidth   fitted  held out")?;
    for segment in segments {
        let error = |error: Option<f64>| error.map_or_else(|| "-".to_owned(), percent);
        writeln!(
            out,
            "{:>15} {:>12} {:>10} {:>11} {:>8} {:>9}",
            segment.from_bytes,
            segment.to_bytes.map_or_else(|| "any".to_owned(), |to| to.to_string()),
            time(segment.latency_ns),
            bandwidth(segment.bandwidth_bytes_per_s),
            error(segment.fitted_error),
            error(segment.held_out_error),
        )?;
    }
    writeln!(out)
}

fn limits(out: &mut impl Write, calibration_report: &CalibrationReport) -> io::Result<()> {
    let Some(limits) = &calibration_report.limits else {
        return writeln!(
            out,
            "eager      sends were not measured: SimGrid's default limit of 65536 bytes, no overheads"
        );
    };
    if limits.detached_bytes == 0 {
        return writeln!(out, "eager      none: a send returns only after its message has arrived");
    }
    let range = |of: fn(&Segment) -> &Overhead, limit_bytes: u64| {
        let at = |bytes: u64| holding(&calibration_report.segments, |segment| segment.from_bytes, bytes);
        let [first, last] = [0, limit_bytes].map(|bytes| at(bytes).map_or(0.0, |at| of(at).time_ns(bytes)));
        format!("{} to {}", time(first), time(last))
    };
    let sending = range(|segment| &segment.sending, limits.detached_bytes);
    writeln!(
        out,
        "eager      up to {} bytes, sends do not wait for the receiver and take {sending}",
        limits.detached_bytes
    )?;
    match limits.early_bytes {
        0 => writeln!(out, "           receives include the transfer: no message arrived before its receive"),
        early_bytes => {
            let receiving = range(|segment| &segment.receiving, early_bytes);
            writeln!(
                out,
                "           up to {early_bytes} bytes, messages arrive before their receive, which takes {receiving}"
            )
        }
    }
}

fn errors(out: &mut impl Write, measured: &Measured, is_named: bool) -> io::Result<()> {
    let place = if is_named { format!(" {}", measured.distance.name()) } else { String::new() };
    let line = |of: &Errors| {
        format!(
            "median {}, largest {} at {} bytes",
            percent(of.median),
            percent(of.largest),
            of.largest_bytes
        )
    };
    writeln!(out, "error      fitted sizes{place}: {}", line(&measured.fitted))?;
    writeln!(out, "           held-out sizes{place}: {}", line(&measured.held_out))
}

fn counted(count: u32, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

fn bandwidth(bytes_per_s: f64) -> String {
    match bytes_per_s {
        rate if rate > NO_LIMIT_BYTES_PER_S => "any".to_owned(),
        rate if rate >= 1e9 => format!("{:.2} GB/s", rate / 1e9),
        rate => format!("{:.1} MB/s", rate / 1e6),
    }
}

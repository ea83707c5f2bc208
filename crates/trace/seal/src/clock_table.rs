//! `clocks.parquet`: everything the run-wide clock was made from, and what came of it.

use super::clock::RunClock;
use super::discover::{Process, Recorded};
use kizami_clock::ClockModel;
use kizami_model::{Length, Moment, Rank};
use kizami_trace::definitions::{ClockKind, ClockRow};

/// All of it: readings by rank, then what is known of each host.
pub(crate) fn rows(recorded: &Recorded, clock: &RunClock) -> Vec<ClockRow> {
    let mut rows = Vec::new();
    for (process, rank) in recorded.ranks.iter().zip(0u32..) {
        if let Some(process) = process {
            readings(process, Rank(rank), clock, &mut rows);
        }
    }
    for host in 0..clock.hosts.len() {
        epochs(host, clock, &mut rows);
        offsets(host, clock, &mut rows);
    }
    rows
}

fn empty(kind: ClockKind, host: usize) -> ClockRow {
    ClockRow {
        kind,
        host: host as u32,
        reference_host: None,
        rank: None,
        ticks: None,
        monotonic: None,
        at: None,
        offset: None,
        error: None,
        root_offset: None,
        root_error: None,
        drift_ppb: None,
        samples: None,
    }
}

fn readings(process: &Process, rank: Rank, clock: &RunClock, rows: &mut Vec<ClockRow>) {
    for segment in process.segments() {
        let header = &segment.header;
        let Some(index) = clock.host_of(header) else { continue };
        let host = &clock.hosts[index];
        let mut readings = vec![header.first_reading, header.last_reading];
        readings.retain(|reading| reading.ticks != 0);
        readings.dedup();
        rows.extend(readings.into_iter().map(|reading| ClockRow {
            rank: Some(rank),
            ticks: Some(reading.ticks),
            monotonic: Some(Length(i64::try_from(reading.monotonic_ns).unwrap_or(i64::MAX))),
            at: Some(Moment(host.rank_clock(&[]).at(reading.ticks))),
            error: host.residual(reading).map(Length),
            ..empty(ClockKind::Reading, index)
        }));
    }
}

/// What was measured, round by round.
fn epochs(index: usize, clock: &RunClock, rows: &mut Vec<ClockRow>) {
    let Some(link) = clock.links.get(index) else { return };
    let Some(model) = &link.model else { return };
    let chain = clock.links.chain(index);
    rows.extend(model.epochs().iter().map(|epoch| {
        let to_root = chain.at(epoch.at_ns);
        ClockRow {
            reference_host: Some(link.reference as u32),
            rank: Some(Rank(link.rank)),
            monotonic: Some(Length(epoch.at_ns)),
            at: Some(Moment(clock.hosts[index].run_ns(epoch.at_ns))),
            offset: Some(Length(epoch.offset_ns())),
            error: Some(Length(epoch.error_ns())),
            root_offset: Some(Length(to_root.offset_ns)),
            root_error: Some(Length(to_root.bound_ns)),
            drift_ppb: Some(model.at(epoch.at_ns).drift_ppb.round() as i64),
            samples: Some(epoch.samples),
            ..empty(ClockKind::Epoch, index)
        }
    }));
}

/// How the host was put beside its root, and beside the first host by wall clocks.
fn offsets(index: usize, clock: &RunClock, rows: &mut Vec<ClockRow>) {
    let host = &clock.hosts[index];
    if let Some((link, bound_ns)) = clock.links.get(index).zip(host.bound_ns) {
        let epochs = link.model.as_ref().map_or(&[][..], ClockModel::epochs);
        let chain = clock.links.chain(index);
        let ends = epochs.first().zip(epochs.last());
        let ends =
            ends.map(|(first, last)| (last.at_ns - first.at_ns, chain.at(first.at_ns), chain.at(last.at_ns)));
        let drift_ppb = ends.filter(|(length_ns, ..)| *length_ns > 0).map(|(length_ns, first, last)| {
            (last.offset_ns.saturating_sub(first.offset_ns) as f64 / length_ns as f64 * 1e9).round() as i64
        });
        let first = ends.map(|(_, first, _)| first);
        rows.push(ClockRow {
            reference_host: Some(clock.links.root_of(index) as u32),
            rank: Some(Rank(link.rank)),
            root_offset: first.map(|first| Length(first.offset_ns)),
            root_error: Some(Length(bound_ns)),
            drift_ppb,
            samples: Some(epochs.iter().map(|epoch| epoch.samples).sum()),
            ..empty(ClockKind::Host, index)
        });
    }
    if index > 0 {
        rows.push(ClockRow {
            reference_host: Some(0),
            offset: Some(Length(host.offset_from(&clock.hosts[0]))),
            ..empty(ClockKind::WallClock, index)
        });
    }
}

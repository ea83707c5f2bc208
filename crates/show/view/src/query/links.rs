//! The busiest links of a simulated network in a time range, their utilisation over time, and the calls that cause it.

use crate::links::{Links, Load};
use kizami_model::{Length, Moment};
use serde::Serialize;
use std::ops::Range;

/// The busiest links of a range of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BusyLinks {
    /// The range that figures are about.
    pub from: i64,
    /// Its end.
    pub to: i64,
    /// The busiest first.
    pub links: Vec<BusyLink>,
    /// How many carried anything in it.
    pub of: usize,
    /// The calls they carried most for.
    pub calls: Vec<LinkCall>,
}

/// A function, and where it was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LinkCall {
    /// Number of the function.
    pub op: u16,
    /// Index of the place, if that is known.
    pub site: Option<u32>,
}

/// A link, and what it carried.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BusyLink {
    /// Its name in the platform.
    pub name: String,
    /// What it can carry.
    pub capacity_bytes_per_s: f64,
    /// The part of it that was used in the range.
    pub mean: f64,
    /// The same in the stretch where it was used most.
    pub peak: f64,
    /// When that stretch begins and ends.
    pub peak_from: i64,
    /// See there.
    pub peak_to: i64,
    /// The call that took most of it, by its place in `calls`.
    pub call: Option<u32>,
    /// The part of what it carried that was for that call.
    pub call_part: f64,
    /// How busy it is all along, in columns of the same length: stretches that carried anything, one after the other.
    pub starts: Vec<i64>,
    /// Their ends.
    pub ends: Vec<i64>,
    /// The part of the bandwidth that was used.
    pub shares: Vec<f32>,
    /// The bandwidth that was used.
    pub bytes_per_s: Vec<f32>,
    /// The call that took most of it.
    pub stretch_calls: Vec<Option<u32>>,
    /// The part that it took.
    pub stretch_call_parts: Vec<f32>,
}

/// The `limit` busiest links of the range `marked_range`, with what they carried all along `shown`: stretches as the table has them,
/// but those that begin in the same one of `columns` columns are one.
pub fn busiest(
    links: &Links,
    marked_range: &Range<Moment>,
    shown: &Range<Moment>,
    columns: usize,
    limit: usize,
) -> BusyLinks {
    let length = (marked_range.end - marked_range.start).at_least_zero().max(Length(1)).0 as f64;
    let mean = |link: usize| {
        let loads = links.loads(link, marked_range).iter();
        loads.map(|load| load.share * load.within(marked_range).0 as f64).sum::<f64>() / length
    };
    // By this thread alone: it takes milliseconds, and others may be busy for longer with what is worked out in the background.
    let mut means: Vec<(usize, f64)> = (0..links.len()).map(|link| (link, mean(link))).collect();
    means.retain(|(_, mean)| *mean > 0.0);
    // Sorting keeps those that are as busy by name.
    means.sort_by(|one, other| other.1.total_cmp(&one.1));
    let found = means.iter().take(limit);
    BusyLinks {
        from: marked_range.start.0,
        to: marked_range.end.0,
        links: found
            .map(|(link, mean)| described(links, *link, *mean, marked_range, shown, columns))
            .collect(),
        of: means.len(),
        calls: links.calls.iter().map(|call| LinkCall { op: call.op.0, site: call.site }).collect(),
    }
}

fn described(
    links: &Links,
    link: usize,
    mean: f64,
    marked_range: &Range<Moment>,
    shown: &Range<Moment>,
    columns: usize,
) -> BusyLink {
    let loads = links.loads(link, marked_range);
    // Of several as busy, the first.
    let peak = loads.iter().rev().max_by(|one, other| one.share.total_cmp(&other.share));
    let capacity = |load: &Load| load.bytes_per_s / load.share;
    let (call, call_part) = most(loads, marked_range, links.calls.len());
    let mut busy = BusyLink {
        name: links.name(link).to_owned(),
        capacity_bytes_per_s: peak.map_or(0.0, capacity),
        mean,
        peak: peak.map_or(0.0, |load| load.share),
        peak_from: peak.map_or(0, |load| load.from.0),
        peak_to: peak.map_or(0, |load| load.to.0),
        call,
        call_part,
        starts: Vec::new(),
        ends: Vec::new(),
        shares: Vec::new(),
        bytes_per_s: Vec::new(),
        stretch_calls: Vec::new(),
        stretch_call_parts: Vec::new(),
    };
    let width = ((shown.end - shown.start).0 as f64 / columns.max(1) as f64).max(1.0);
    let column = |load: &Load| ((load.from - shown.start).0 as f64 / width).floor();
    for loads in links.loads(link, shown).chunk_by(|one, other| column(one) == column(other)) {
        busy.add(loads, links.calls.len());
    }
    busy
}

impl BusyLink {
    /// Adds what it carried in stretches that are told as one.
    fn add(&mut self, loads: &[Load], calls: usize) {
        let (Some(first), Some(last)) = (loads.first(), loads.last()) else { return };
        let all = first.from..last.to.max(first.to);
        let length = (all.end - all.start).0 as f64;
        let mean = |value: fn(&Load) -> f64| {
            loads.iter().map(|load| value(load) * load.within(&all).0 as f64).sum::<f64>() / length
        };
        let (call, part) = most(loads, &all, calls);
        self.starts.push(all.start.0);
        self.ends.push(all.end.0);
        self.shares.push(mean(|load| load.share) as f32);
        self.bytes_per_s.push(mean(|load| load.bytes_per_s) as f32);
        self.stretch_calls.push(call);
        self.stretch_call_parts.push(part as f32);
    }
}

/// The call that took most within a range, in stretches in which it took more than others, and its part of all.
fn most(loads: &[Load], range: &Range<Moment>, calls: usize) -> (Option<u32>, f64) {
    let carried = |load: &Load| load.bytes_per_s * load.within(range).0 as f64;
    let all: f64 = loads.iter().map(carried).sum();
    let mut by_call = vec![0.0; calls];
    for load in loads {
        if let Some(call) = load.call {
            by_call[call as usize] += carried(load) * load.call_part;
        }
    }
    let found = (0..).zip(by_call).max_by(|one: &(u32, f64), other| one.1.total_cmp(&other.1));
    match found.filter(|(_, bytes)| *bytes > 0.0) {
        Some((call, bytes)) => (Some(call), bytes / all),
        None => (None, 0.0),
    }
}

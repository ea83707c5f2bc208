//! How much the platform's links carry while a run is played.
//!
//! An actor beside the ranks wakes up some times in each interval, at moments that follow no rhythm, and reads how much of its
//! bandwidth each link gives just then. It talks to nobody, so times of the run stay as they are. If the run is longer than
//! thought, two intervals become one. (SimGrid's own sums count a message as if it took its links while it waits for their
//! latency, which for short ones is a hundred times too much.)
//!
//! Promises: what a link carries is right on average; a message that is over between two looks is not seen.

use crate::library::{Handle, SimGrid};
use kizami_model::{Length, Moment};
use kizami_trace::LinkLoad;
use std::ffi::CStr;

/// Intervals that are kept at most.
const MOST_INTERVALS: usize = 256;

/// Looks in each of them, and links that are read there in all, at most.
const MOST_LOOKS_AN_INTERVAL: usize = 16;
const MOST_READ_AN_INTERVAL: usize = 1 << 12;

/// A link of the platform.
#[derive(Debug)]
struct Link {
    handle: Handle,
    name: String,
    bytes_per_s: f64,
    /// What it has carried so far, in bytes.
    so_far: f64,
    /// The same at the end of each interval.
    carried: Vec<f64>,
}

/// What is known of all links.
#[derive(Debug, Default)]
pub struct Links {
    links: Vec<Link>,
    /// Ends of intervals, in seconds.
    ends_s: Vec<f64>,
}

/// How a link was used in all.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkUse {
    /// Its name in the platform.
    pub link: String,
    /// The part of its bandwidth that was used, over the whole run.
    pub share: f64,
    /// The same in the interval where it was used most, and when that began.
    pub most_share: f64,
    /// See there.
    pub most_at_ns: i64,
}

impl Links {
    /// Begins to watch all links of a platform that is loaded.
    pub fn watch(simgrid: &SimGrid) -> Links {
        // SAFETY: the platform is there; the list has as many entries as the count says, and names stay.
        let links = unsafe {
            let list = std::slice::from_raw_parts((simgrid.links)(), (simgrid.link_count)());
            let link = |handle: &Handle| {
                let name = CStr::from_ptr((simgrid.link_name)(*handle)).to_string_lossy().into_owned();
                let bytes_per_s = (simgrid.link_bandwidth)(*handle);
                Link { handle: *handle, name, bytes_per_s, so_far: 0.0, carried: Vec::new() }
            };
            list.iter().map(link).collect()
        };
        Links { links, ends_s: Vec::new() }
    }

    /// How often to look in each interval, so that looking takes little beside simulating.
    pub fn looks_an_interval(&self) -> u32 {
        (MOST_READ_AN_INTERVAL / self.links.len().max(1)).clamp(1, MOST_LOOKS_AN_INTERVAL) as u32
    }

    /// What links carry now stands for the time since the last look.
    pub fn look(&mut self, simgrid: &SimGrid, since_s: f64) {
        for link in &mut self.links {
            // SAFETY: a link of the platform.
            link.so_far += since_s * unsafe { (simgrid.link_use)(link.handle) };
        }
    }

    /// An interval ends now. Gives whether intervals are twice as long from now on.
    pub fn end_interval(&mut self, now_s: f64) -> bool {
        self.ends_s.push(now_s);
        self.links.iter_mut().for_each(|link| link.carried.push(link.so_far));
        let is_full = self.ends_s.len() >= MOST_INTERVALS;
        if is_full {
            keep_every_second(&mut self.ends_s);
            self.links.iter_mut().for_each(|link| keep_every_second(&mut link.carried));
        }
        is_full
    }

    /// The rows of the table; the run began at `begin_s`.
    pub fn rows(&self, begin_s: f64) -> Vec<LinkLoad> {
        let mut links: Vec<&Link> = self.links.iter().collect();
        links.sort_by(|one, other| one.name.cmp(&other.name));
        links.into_iter().flat_map(|link| self.rows_of(link, begin_s)).collect()
    }

    fn rows_of<'a>(&'a self, link: &'a Link, begin_s: f64) -> impl Iterator<Item = LinkLoad> + 'a {
        let before = std::iter::once((begin_s, 0.0))
            .chain(self.ends_s.iter().copied().zip(link.carried.iter().copied()));
        let after = self.ends_s.iter().zip(&link.carried);
        before.zip(after).filter_map(move |((from_s, had), (to_s, has))| {
            let (length_s, bytes) = (to_s - from_s, has - had);
            let bytes_per_s = bytes / length_s;
            (bytes > 0.0 && length_s > 0.0).then(|| LinkLoad {
                link: link.name.clone(),
                start: Moment(((from_s - begin_s) * 1e9).round() as i64),
                length: Length((length_s * 1e9).round() as i64),
                bytes_per_s,
                share: bytes_per_s / link.bytes_per_s,
            })
        })
    }
}

/// How each link was used, the busiest first.
pub fn uses(rows: &[LinkLoad], run_ns: i64) -> Vec<LinkUse> {
    let mut uses = Vec::new();
    for rows in rows.chunk_by(|one, other| one.link == other.link) {
        let used: f64 = rows.iter().map(|row| row.share * row.length.0 as f64).sum();
        let most = rows.iter().max_by(|one, other| one.share.total_cmp(&other.share));
        uses.extend(most.map(|most| LinkUse {
            link: most.link.clone(),
            share: used / run_ns.max(1) as f64,
            most_share: most.share,
            most_at_ns: most.start.0,
        }));
    }
    uses.sort_by(|one, other| other.share.total_cmp(&one.share).then_with(|| one.link.cmp(&other.link)));
    uses
}

fn keep_every_second(values: &mut Vec<f64>) {
    let mut place = 0;
    values.retain(|_| {
        place += 1;
        place % 2 == 0
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_intervals_become_one_and_nothing_is_lost() {
        let link = |carried: Vec<f64>| Link {
            handle: std::ptr::null_mut(),
            name: "up".to_owned(),
            bytes_per_s: 100.0,
            so_far: 0.0,
            carried,
        };
        let fine =
            Links { links: vec![link(vec![10.0, 30.0, 30.0, 70.0])], ends_s: vec![2.0, 3.0, 4.0, 5.0] };
        let rows = fine.rows(1.0);
        let shares: Vec<(i64, f64)> = rows.iter().map(|row| (row.start.0, row.share)).collect();
        assert_eq!(shares, [(0, 0.1), (1_000_000_000, 0.2), (3_000_000_000, 0.4)]);
        let used = uses(&rows, 4_000_000_000);
        assert_eq!((used[0].share, used[0].most_at_ns), (0.175, 3_000_000_000));
        let (mut ends_s, mut carried) = (fine.ends_s.clone(), fine.links[0].carried.clone());
        keep_every_second(&mut ends_s);
        keep_every_second(&mut carried);
        assert_eq!((ends_s, carried), (vec![3.0, 5.0], vec![30.0, 70.0]));
    }
}

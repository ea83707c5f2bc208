//! How much the platform's links carry while a run is played.
//!
//! An actor beside the ranks wakes up some times in each interval, at moments that follow no rhythm, and reads how much of its
//! bandwidth each link gives just then. It talks to nobody, so times of the run stay as they are. If the run is longer than
//! thought, two intervals become one. (SimGrid's own sums count a message as if it took its links while it waits for their
//! latency, which for short ones is a hundred times too much.)
//!
//! At some of these looks the messages on their way ([`crate::traffic`]) say for which calls a link works; they share what it gives.
//!
//! Promises: what a link carries is right on average; a message that is over between two looks is not seen.

use crate::library::{Handle, SimGrid};
use crate::traffic::Traffic;
use crate::translate::CallFrom;
use kizami_model::{Length, Moment, Op};
use kizami_trace::{LinkLoad, SourceLine};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::CStr;

/// Intervals that are kept at most.
const MOST_INTERVALS: usize = 256;

/// Looks in each of them, and links that are read there in all, at most.
const MOST_LOOKS_AN_INTERVAL: usize = 16;
const MOST_READ_AN_INTERVAL: usize = 1 << 12;

/// Looks in each of them that also say for whom links work, which takes longer.
const WHOSE_AN_INTERVAL: u32 = 4;

/// A link of the platform.
#[derive(Debug)]
struct Link {
    handle: Handle,
    name: String,
    bytes_per_s: f64,
    /// What it has carried so far, in bytes, and for which calls.
    so_far: f64,
    so_far_for: FxHashMap<u32, f64>,
    /// The same at the end of each interval; for calls, since the beginning.
    carried: Vec<f64>,
    carried_for: BTreeMap<u32, Vec<f64>>,
}

impl Link {
    fn of(handle: Handle, name: String, bytes_per_s: f64) -> Link {
        let (so_far_for, carried_for) = Default::default();
        Link { handle, name, bytes_per_s, so_far: 0.0, so_far_for, carried: Vec::new(), carried_for }
    }

    /// An interval ends: what has been carried so far is noted.
    fn end_interval(&mut self) {
        let before = self.carried.len();
        self.carried.push(self.so_far);
        for (call, bytes) in &self.so_far_for {
            let carried = self.carried_for.entry(*call).or_default();
            carried.resize(before, carried.last().copied().unwrap_or(0.0));
            carried.push(*bytes);
        }
    }

    /// Every two intervals become one.
    fn halve(&mut self) {
        keep_every_second(&mut self.carried);
        self.carried_for.values_mut().for_each(keep_every_second);
    }

    /// The call that it carried most for in an interval, and the part of what is known to be for any.
    fn most_in(&self, interval: usize) -> Option<(u32, f64)> {
        let of = |carried: &Vec<f64>| {
            let at = |place: usize| carried.get(place).or(carried.last()).copied().unwrap_or(0.0);
            at(interval) - if interval > 0 { at(interval - 1) } else { 0.0 }
        };
        let all = || self.carried_for.iter().map(|(call, carried)| (*call, of(carried)));
        let known: f64 = all().map(|(_, bytes)| bytes).sum();
        let most = all().filter(|(_, bytes)| *bytes > 0.0).max_by(|one, other| one.1.total_cmp(&other.1));
        most.map(|(call, bytes)| (call, bytes / known))
    }
}

/// What is known of all links.
#[derive(Debug, Default)]
pub struct Links {
    links: Vec<Link>,
    /// Ends of intervals, in seconds.
    ends_s: Vec<f64>,
    /// Looks so far.
    looks: u32,
}

/// How a link was used in all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkUse {
    /// Its name in the platform.
    pub link: String,
    /// The part of its bandwidth that was used, over the whole run.
    pub share: f64,
    /// The same in the interval where it was used most, and when that began.
    pub most_share: f64,
    /// See there.
    pub most_at_ns: i64,
    /// The calls that it worked for most.
    pub call: Option<LinkCall>,
}

/// Calls that a link worked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkCall {
    /// The function.
    pub function: &'static str,
    /// From where it was called, if that is known; in JSON with the full name of a function.
    #[serde(serialize_with = "full_name")]
    pub place: Option<SourceLine>,
    /// The part of what the link carried that it carried for them.
    pub share: f64,
}

fn full_name<S: serde::Serializer>(place: &Option<SourceLine>, to: S) -> Result<S::Ok, S::Error> {
    place.as_ref().map(|place| format!("{place:#}")).serialize(to)
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
                Link::of(*handle, name, bytes_per_s)
            };
            list.iter().map(link).collect()
        };
        Links { links, ..Links::default() }
    }

    /// How often to look in each interval, so that looking takes little beside simulating.
    pub fn looks_an_interval(&self) -> u32 {
        (MOST_READ_AN_INTERVAL / self.links.len().max(1)).clamp(1, MOST_LOOKS_AN_INTERVAL) as u32
    }

    /// What links carry now stands for the time since the last look.
    pub fn look(&mut self, simgrid: &SimGrid, traffic: &mut Traffic, since_s: f64) {
        let every = (self.looks_an_interval() / WHOSE_AN_INTERVAL).max(1);
        let mut busy: Vec<(&mut Link, f64)> = Vec::new();
        for link in &mut self.links {
            // SAFETY: a link of the platform.
            let bytes = since_s * unsafe { (simgrid.link_use)(link.handle) };
            if bytes > 0.0 {
                link.so_far += bytes;
                busy.push((link, bytes));
            }
        }
        self.looks += 1;
        if !self.looks.is_multiple_of(every) {
            return;
        }
        let handles: Vec<Handle> = busy.iter().map(|(link, _)| link.handle).collect();
        for ((link, bytes), calls) in busy.into_iter().zip(traffic.now(simgrid, &handles)) {
            let messages: u32 = calls.iter().map(|(_, count)| count).sum();
            for (call, count) in calls {
                let share = f64::from(count) / f64::from(messages);
                *link.so_far_for.entry(call).or_default() += share * bytes;
            }
        }
    }

    /// An interval ends now. Gives whether intervals are twice as long from now on.
    pub fn end_interval(&mut self, now_s: f64) -> bool {
        self.ends_s.push(now_s);
        self.links.iter_mut().for_each(Link::end_interval);
        let is_full = self.ends_s.len() >= MOST_INTERVALS;
        if is_full {
            keep_every_second(&mut self.ends_s);
            self.links.iter_mut().for_each(Link::halve);
        }
        is_full
    }

    /// The rows of the table; the run began at `begin_s`, and `calls` are those of the play.
    pub fn rows(&self, begin_s: f64, calls: &[CallFrom]) -> Vec<LinkLoad> {
        let mut links: Vec<&Link> = self.links.iter().collect();
        links.sort_by(|one, other| one.name.cmp(&other.name));
        links.into_iter().flat_map(|link| self.rows_of(link, begin_s, calls)).collect()
    }

    fn rows_of<'a>(
        &'a self,
        link: &'a Link,
        begin_s: f64,
        calls: &'a [CallFrom],
    ) -> impl Iterator<Item = LinkLoad> + 'a {
        let before = std::iter::once((begin_s, 0.0))
            .chain(self.ends_s.iter().copied().zip(link.carried.iter().copied()));
        let after = self.ends_s.iter().zip(&link.carried);
        before.zip(after).enumerate().filter_map(move |(interval, ((from_s, had), (to_s, has)))| {
            let (length_s, bytes) = (to_s - from_s, has - had);
            let bytes_per_s = bytes / length_s;
            let most = link.most_in(interval);
            let most = most.and_then(|(call, share)| Some((calls.get(call as usize)?, share)));
            (bytes > 0.0 && length_s > 0.0).then(|| LinkLoad {
                link: link.name.clone(),
                start: Moment(((from_s - begin_s) * 1e9).round() as i64),
                length: Length((length_s * 1e9).round() as i64),
                bytes_per_s,
                share: bytes_per_s / link.bytes_per_s,
                op: most.map(|((op, _), _)| *op),
                callsite: most.and_then(|((_, callsite), _)| *callsite),
                op_share: most.map_or(0.0, |(_, share)| share),
            })
        })
    }
}

/// How each link was used, the busiest first; `place` says where a call was made from.
pub fn uses(rows: &[LinkLoad], run_ns: i64, place: impl Fn(u32) -> Option<SourceLine>) -> Vec<LinkUse> {
    let mut uses = Vec::new();
    for rows in rows.chunk_by(|one, other| one.link == other.link) {
        let used: f64 = rows.iter().map(|row| row.share * row.length.0 as f64).sum();
        let most = rows.iter().max_by(|one, other| one.share.total_cmp(&other.share));
        uses.extend(most.map(|most| LinkUse {
            link: most.link.clone(),
            share: used / run_ns.max(1) as f64,
            most_share: most.share,
            most_at_ns: most.start.0,
            call: call_of(rows).map(|((op, callsite), share)| LinkCall {
                function: op.name(),
                place: callsite.and_then(&place),
                share,
            }),
        }));
    }
    uses.sort_by(|one, other| other.share.total_cmp(&one.share).then_with(|| one.link.cmp(&other.link)));
    uses
}

/// The call that took most of a link in the stretches in which it took more than others, and its part of all.
fn call_of(rows: &[LinkLoad]) -> Option<((Op, Option<u32>), f64)> {
    let carried = |row: &LinkLoad| row.bytes_per_s * row.length.0 as f64;
    let mut by_call: BTreeMap<(&str, Option<u32>), (Op, f64)> = BTreeMap::new();
    for row in rows {
        if let Some(op) = row.op {
            by_call.entry((op.name(), row.callsite)).or_insert((op, 0.0)).1 += carried(row) * row.op_share;
        }
    }
    let all: f64 = rows.iter().map(carried).sum();
    let most = by_call.into_iter().max_by(|one, other| one.1.1.total_cmp(&other.1.1))?;
    let ((_, callsite), (op, bytes)) = most;
    Some(((op, callsite), bytes / all))
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
        let mut link = Link::of(std::ptr::null_mut(), "up".to_owned(), 100.0);
        // A second call comes late, and takes the most of the last interval.
        let looks =
            [(10.0, vec![(0, 10.0)]), (20.0, vec![(0, 20.0)]), (0.0, vec![]), (40.0, vec![(1, 40.0)])];
        for (bytes, calls) in looks {
            link.so_far += bytes;
            calls.into_iter().for_each(|(call, bytes)| *link.so_far_for.entry(call).or_default() += bytes);
            link.end_interval();
        }
        let fine = Links { links: vec![link], ends_s: vec![2.0, 3.0, 4.0, 5.0], looks: 0 };
        let op = |name| Op::by_name(name).expect("a function of MPI");
        let rows = fine.rows(1.0, &[(op("MPI_Send"), Some(7)), (op("MPI_Bcast"), None)]);
        let shares: Vec<(i64, f64)> = rows.iter().map(|row| (row.start.0, row.share)).collect();
        assert_eq!(shares, [(0, 0.1), (1_000_000_000, 0.2), (3_000_000_000, 0.4)]);
        let functions: Vec<&str> = rows.iter().filter_map(|row| Some(row.op?.name())).collect();
        assert_eq!(functions, ["MPI_Send", "MPI_Send", "MPI_Bcast"]);
        let used = uses(&rows, 4_000_000_000, |_| None);
        assert_eq!((used[0].share, used[0].most_at_ns), (0.175, 3_000_000_000));
        assert_eq!(
            used[0].call.as_ref().map(|call| (call.function, call.share)),
            Some(("MPI_Bcast", 4.0 / 7.0))
        );
        let mut coarse = fine;
        keep_every_second(&mut coarse.ends_s);
        coarse.links[0].halve();
        let link = &coarse.links[0];
        assert_eq!((&coarse.ends_s, &link.carried), (&vec![3.0, 5.0], &vec![30.0, 70.0]));
        assert_eq!((link.most_in(0), link.most_in(1)), (Some((0, 1.0)), Some((1, 1.0))));
    }
}

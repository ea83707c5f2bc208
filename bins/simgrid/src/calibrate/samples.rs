//! What a measured machine says of messages between two ranks, as far as a platform needs it.
//!
//! One time for each size and place: one that nothing disturbed if there is one, at the fewest ranks, since others that wait
//! beside the two are in their way; of several the last. Every third size is held out: no time of it is fitted. Who waits for
//! whom is read off all sizes: that is no time, and a limit between two sizes is found where both are known.

use kizami_machine::{Machine, MessageRow};
use kizami_network::Curve;
use kizami_stats::{sorted, upper_median};
use std::collections::BTreeMap;

/// Sizes that are needed at least: fewer leave nothing to be held out.
pub const FEWEST_SIZES: usize = 6;

/// Of so many sizes one is held out.
const HELD_OUT_OF: usize = 3;

/// A call that takes this share of a message's whole way has waited for it.
const WAITED_SHARE: f64 = 0.8;

/// Ends of a median's interval at 95 % lie so many standard deviations apart.
const DEVIATIONS: f64 = 4.0;

/// How far two ranks are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distance {
    /// On one host.
    WithinNode,
    /// On two, or nobody said.
    BetweenNodes,
}

impl Distance {
    /// Words of a machine's table, those that count most first. Neighbours in the order of ranks mostly share a socket.
    fn words(self) -> &'static [&'static str] {
        match self {
            Distance::WithinNode => &["core", "socket"],
            Distance::BetweenNodes => &["switch", "node", "unknown"],
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Distance::WithinNode => "within a node",
            Distance::BetweenNodes => "between nodes",
        }
    }
}

/// Half of a round trip of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Size of the message.
    pub bytes: u64,
    /// The time.
    pub time_ns: f64,
    /// Whether the fit must not see it.
    pub held_out: bool,
}

/// Who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Up to so many bytes a sender does not wait for its receiver.
    pub detached_bytes: u64,
    /// Up to so many bytes, not more than the other, a message is there before its receive is called. 0: none.
    pub early_bytes: u64,
}

/// All that was measured at one distance.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// How far the ranks were apart.
    pub distance: Distance,
    /// In the order of sizes.
    pub ping_pongs: Vec<Sample>,
    /// What the times are uncertain by, as a share.
    pub noise: f64,
    /// None if sends were not measured.
    pub limits: Option<Limits>,
    /// Time inside a send, inside a receive of a message that was sent long before, and of one of many messages. Without
    /// sizes that are held out.
    pub send: Curve,
    /// See there.
    pub receive: Curve,
    /// See there.
    pub stream: Curve,
}

impl Samples {
    /// What a machine has for a distance; none without ping-pongs.
    pub fn of(machine: &Machine, distance: Distance) -> Option<Samples> {
        let found = |word: &&&str| !rows(machine, word, "pingpong").is_empty();
        let word = distance.words().iter().find(found)?;
        let ping_pong = rows(machine, word, "pingpong");
        let last = ping_pong.len() - 1;
        let is_held_out = |number: usize| number % HELD_OUT_OF == 1 && number != last;
        let ping_pongs: Vec<Sample> = (ping_pong.values().enumerate())
            .map(|(number, row)| Sample {
                bytes: row.bytes,
                time_ns: row.time_ns,
                held_out: is_held_out(number),
            })
            .collect();
        let fitted = |kind: &str| {
            let held_out = |bytes: u64| ping_pongs.iter().any(|one| one.bytes == bytes && one.held_out);
            curve(rows(machine, word, kind).into_values().filter(|row| !held_out(row.bytes)))
        };
        let all = |kind: &str| curve(rows(machine, word, kind).into_values());
        Some(Samples {
            distance,
            noise: noise(ping_pong.values().copied()),
            limits: limits(&all("pingpong"), &all("send"), &all("receive")),
            send: fitted("send"),
            receive: fitted("receive"),
            stream: fitted("stream"),
            ping_pongs,
        })
    }

    /// Times a fit may see, by size.
    pub fn curve(&self) -> Curve {
        Curve::new(self.fitted().map(|sample| (sample.bytes, sample.time_ns)))
    }

    /// The samples a fit may see.
    pub fn fitted(&self) -> impl Iterator<Item = &Sample> {
        self.ping_pongs.iter().filter(|sample| !sample.held_out)
    }
}

fn curve<'a>(rows: impl Iterator<Item = &'a MessageRow>) -> Curve {
    Curve::new(rows.map(|row| (row.bytes, row.time_ns)))
}

/// Rows by size, one of each.
fn rows<'a>(machine: &'a Machine, place: &str, kind: &str) -> BTreeMap<u64, &'a MessageRow> {
    let trust = |row: &MessageRow| (row.disturbed.is_some(), row.ranks);
    // A send may take no time that can be seen; a message between two ranks takes some.
    let is_time = |row: &MessageRow| row.time_ns > 0.0 || kind != "pingpong";
    let mut found: BTreeMap<u64, &MessageRow> = BTreeMap::new();
    for row in machine.messages.iter().filter(|row| row.place == place && row.kind == kind && is_time(row)) {
        let known = found.entry(row.bytes).or_insert(row);
        if trust(row) <= trust(known) {
            *known = row;
        }
    }
    found
}

/// The standard deviation of a typical median, as a share.
fn noise<'a>(rows: impl Iterator<Item = &'a MessageRow>) -> f64 {
    let shares: Vec<f64> =
        rows.map(|row| (row.high_ns - row.low_ns).max(0.0) / DEVIATIONS / row.time_ns).collect();
    upper_median(&sorted(&shares)).unwrap_or(0.0)
}

fn limits(ping_pong: &Curve, send: &Curve, receive: &Curve) -> Option<Limits> {
    let up_to = |calls: &Curve| {
        let is_quick = |(bytes, ns): &&(u64, f64)| *ns < WAITED_SHARE * ping_pong.at(*bytes);
        calls.points().iter().take_while(is_quick).last().map_or(0, |(bytes, _)| *bytes)
    };
    let detached_bytes = up_to(send);
    let early_bytes = up_to(receive).min(detached_bytes);
    (!send.is_empty()).then_some(Limits { detached_bytes, early_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: &str, place: &str, bytes: u64, ranks: u32, time_ns: f64) -> MessageRow {
        MessageRow {
            kind: kind.to_owned(),
            place: place.to_owned(),
            bytes,
            ranks,
            time_ns,
            low_ns: 0.98 * time_ns,
            high_ns: 1.02 * time_ns,
            repetitions: 100,
            disturbed: None,
        }
    }

    #[test]
    fn one_row_of_each_size_counts_and_every_third_size_is_held_out() {
        let sizes = [1, 2, 4, 8, 16, 32, 64, 128];
        let mut machine = Machine::default();
        for bytes in sizes {
            machine.messages.push(row("pingpong", "node", bytes, 16, 900.0));
            machine.messages.push(row("pingpong", "node", bytes, 2, 1_000.0));
            let disturbed = Some("load".to_owned());
            machine.messages.push(MessageRow { disturbed, ..row("pingpong", "node", bytes, 2, 1.0) });
        }
        let samples = Samples::of(&machine, Distance::BetweenNodes).unwrap();
        assert!(samples.ping_pongs.iter().all(|sample| sample.time_ns == 1_000.0));
        let held_out = samples.ping_pongs.iter().filter(|sample| sample.held_out);
        assert_eq!(held_out.map(|sample| sample.bytes).collect::<Vec<_>>(), [2, 16]);
        assert!((samples.noise - 0.01).abs() < 1e-9);
        assert_eq!(samples.limits, None);
        assert_eq!(Samples::of(&machine, Distance::WithinNode), None);
    }

    #[test]
    fn senders_that_do_not_wait_follow_from_the_time_of_calls() {
        let mut machine = Machine::default();
        for (bytes, send, receive) in
            [(8, 50.0, 90.0), (64, 60.0, 95.0), (512, 70.0, 990.0), (4_096, 1_000.0, 10.0)]
        {
            machine.messages.push(row("pingpong", "core", bytes, 2, 1_000.0));
            machine.messages.push(row("send", "core", bytes, 2, send));
            machine.messages.push(row("receive", "core", bytes, 2, receive));
        }
        let samples = Samples::of(&machine, Distance::WithinNode).unwrap();
        assert_eq!(samples.limits, Some(Limits { detached_bytes: 512, early_bytes: 64 }));
        assert_eq!(samples.send.points().len(), 3, "64 bytes are held out");
    }
}

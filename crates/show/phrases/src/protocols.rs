//! Which sends use the rendezvous protocol, in sentences.

use crate::quantity::count;
use kizami_explain::{Report, SendProtocol, SendsWait, WaitBasis};

/// Pairs of hosts that have sentences of their own, at most.
const MOST_PAIRS: usize = 4;
/// Fewer sends with a late receiver show nothing: each may have waited for a core.
const FEWEST_LATE: u64 = 10;
/// No library has a lower eager limit unless it is told to: what smaller sends seem to wait for is something else.
const LOWEST_LIMIT: u64 = 4 << 10;

/// What the run shows about sends whose receivers were late; empty if it shows nothing, as where ranks lack cores.
pub fn sentences(report: &Report) -> Vec<String> {
    let shows = |protocol: &&SendProtocol| {
        let waits = protocol.waits != SendsWait::No;
        let enough = protocol.late() >= FEWEST_LATE && report.shared_cores.is_none();
        protocol.basis == WaitBasis::Seen && enough && (!waits || protocol.to_bytes > LOWEST_LIMIT)
    };
    let seen: Vec<&SendProtocol> = report.protocols.iter().filter(shows).collect();
    let mut lines = Vec::new();
    for within_host in [true, false] {
        let of_kind: Vec<&SendProtocol> =
            seen.iter().copied().filter(|protocol| protocol.within_host == within_host).collect();
        let pairs: Vec<&[&SendProtocol]> =
            of_kind.chunk_by(|a, b| (&a.from_host, &a.to_host) == (&b.from_host, &b.to_host)).collect();
        match pairs.as_slice() {
            [] => {}
            [pair] => lines.extend(of_sends(pair, &between(pair[0]))),
            _ if border(&of_kind).agrees() => {
                let hosts = if within_host { "within hosts" } else { "between hosts" };
                lines.extend(of_sends(&of_kind, hosts));
            }
            pairs => {
                let shown = pairs.iter().take(MOST_PAIRS);
                lines.extend(shown.flat_map(|pair| of_sends(pair, &between(pair[0]))));
            }
        }
    }
    lines
}

/// Sizes of eager sends and of those that wait.
struct Border {
    largest_eager: Option<u64>,
    smallest_waiting: Option<u64>,
}

impl Border {
    /// Whether there is one size that divides them.
    fn agrees(&self) -> bool {
        match (self.largest_eager, self.smallest_waiting) {
            (Some(eager), Some(waiting)) => eager < waiting,
            _ => true,
        }
    }
}

fn border(protocols: &[&SendProtocol]) -> Border {
    let eager = protocols.iter().filter_map(|protocol| match protocol.waits {
        SendsWait::No => Some(protocol.to_bytes),
        SendsWait::AboveLimit => protocol.limit_bytes,
        SendsWait::Yes | SendsWait::Some => None,
    });
    let waiting = protocols.iter().filter_map(|protocol| match protocol.waits {
        SendsWait::Yes => Some(protocol.from_bytes),
        SendsWait::AboveLimit => protocol.limit_bytes.map(|bytes| bytes + 1),
        SendsWait::No | SendsWait::Some => None,
    });
    Border { largest_eager: eager.max(), smallest_waiting: waiting.min() }
}

/// Sentences about the sends of one pair of hosts, or of several that are alike.
fn of_sends(protocols: &[&SendProtocol], hosts: &str) -> Vec<String> {
    let listed = |waits: &[SendsWait]| {
        let those = protocols.iter().filter(|protocol| waits.contains(&protocol.waits));
        let (waited, late) = those
            .fold((0, 0), |(waited, late), protocol| (waited + protocol.waited(), late + protocol.late()));
        format!("{} of {}", count(waited), count(late))
    };
    let eager = || listed(&[SendsWait::No]);
    let waiting = || listed(&[SendsWait::Yes, SendsWait::AboveLimit]);
    let Border { largest_eager, smallest_waiting } = border(protocols);
    let mut lines = Vec::new();
    match (largest_eager, smallest_waiting) {
        (Some(bytes), Some(_)) if bytes >= LOWEST_LIMIT => lines.push(format!(
            "eager limit {hosts}: {} B; with a late receiver, {} larger sends waited and {} others",
            count(bytes),
            waiting(),
            eager(),
        )),
        (eager_bytes, waiting_bytes) => {
            lines.extend(eager_bytes.map(|bytes| {
                let bytes = count(bytes);
                format!("sends of up to {bytes} B {hosts} are eager: {} with a late receiver waited", eager())
            }));
            lines.extend(waiting_bytes.filter(|bytes| *bytes > LOWEST_LIMIT).map(|bytes| {
                let bytes = count(bytes);
                format!(
                    "sends of {bytes} B and more {hosts} use rendezvous: {} with a late receiver waited",
                    waiting()
                )
            }));
        }
    }
    let some: Vec<_> = protocols.iter().filter(|protocol| protocol.waits == SendsWait::Some).collect();
    let from = some.iter().map(|protocol| protocol.from_bytes).min();
    let to = some.iter().map(|protocol| protocol.to_bytes).max();
    if let (Some(from), Some(to)) = (from, to) {
        let sizes = if from == to { count(from) } else { format!("{} to {}", count(from), count(to)) };
        let some = listed(&[SendsWait::Some]);
        lines.push(format!(
            "some sends of {sizes} B {hosts} use rendezvous: {some} with a late receiver waited"
        ));
    }
    lines
}

/// Where sends go, as a part of a sentence.
fn between(protocol: &SendProtocol) -> String {
    match (&protocol.from_host, &protocol.to_host) {
        (Some(host), Some(_)) if protocol.within_host => format!("within {host}"),
        (Some(from), Some(to)) => format!("from {from} to {to}"),
        _ if protocol.within_host => "within a host".to_owned(),
        _ => "between hosts".to_owned(),
    }
}

//! Messages as flows: which links each uses how much, when it begins to send, and how large its share is to be.

use super::Message;
use crate::{LinkId, Platform, Sharing, SizeFactors};

/// One message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flow {
    /// When it begins to send.
    pub start_ns: f64,
    /// What it has to send, corrected by the factor of its bandwidth.
    pub bytes: f64,
    /// Shares are inversely proportional to this.
    pub penalty: f64,
}

/// All messages.
pub(super) struct Flows {
    pub flows: Vec<Flow>,
    /// Bytes a nanosecond by link, then of those that only one flow has.
    pub capacities: Vec<f64>,
    /// Where the links of each flow begin in `uses`.
    starts: Vec<usize>,
    /// Links and how much of its rate the flow takes there.
    uses: Vec<(u32, f64)>,
}

impl Flows {
    pub fn new(platform: &Platform, messages: &[Message], factors: &SizeFactors) -> Flows {
        let capacity = |id: u32| platform.link(LinkId(id)).bandwidth_bytes_per_s / 1e9;
        let mut all = Flows {
            flows: Vec::with_capacity(messages.len()),
            capacities: (0..platform.links() as u32).map(capacity).collect(),
            starts: vec![0],
            uses: Vec::new(),
        };
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for message in messages {
            platform.route(message.from, message.to, &mut there);
            if factors.way_back > 0.0 {
                platform.route(message.to, message.from, &mut back);
            }
            all.push(platform, message, &there, &back, factors);
        }
        all
    }

    fn push(
        &mut self,
        platform: &Platform,
        message: &Message,
        there: &[LinkId],
        back: &[LinkId],
        by: &SizeFactors,
    ) {
        let links = there.iter().map(|id| platform.link(*id));
        let latency_ns: f64 = links.clone().map(|link| link.latency_ns).sum();
        let far_ns = |far_bytes: f64| {
            latency_ns + links.clone().map(|link| far_bytes / link.bandwidth_bytes_per_s * 1e9).sum::<f64>()
        };
        let bytes = message.bytes.saturating_add(by.envelope_bytes);
        let penalty = by.far_bytes.map_or(1.0, far_ns);
        self.flows.push(Flow {
            start_ns: latency_ns * by.latency(bytes),
            // Without a link there is nothing to wait for.
            bytes: if there.is_empty() { 0.0 } else { bytes as f64 / by.bandwidth(bytes) },
            penalty: if penalty > 0.0 { penalty } else { 1.0 },
        });
        let first = self.uses.len();
        let weighted = there.iter().map(|id| (id, 1.0)).chain(back.iter().map(|id| (id, by.way_back)));
        for (id, weight) in weighted {
            if platform.link(*id).sharing != Sharing::FatPipe {
                self.uses.push((id.0, weight));
            }
        }
        // A fat pipe is a link that the flow has for itself.
        let pipes = links.filter(|link| link.sharing == Sharing::FatPipe);
        if let Some(least) = pipes.map(|link| link.bandwidth_bytes_per_s).min_by(f64::total_cmp) {
            self.uses.push((self.capacities.len() as u32, 1.0));
            self.capacities.push(least / 1e9);
        }
        self.join_same_links(first);
        self.starts.push(self.uses.len());
    }

    /// A link that lies on the way there and back is used once, by both.
    fn join_same_links(&mut self, first: usize) {
        self.uses[first..].sort_unstable_by_key(|(link, _)| *link);
        let mut kept = first;
        for at in first..self.uses.len() {
            let (link, weight) = self.uses[at];
            if kept > first && self.uses[kept - 1].0 == link {
                self.uses[kept - 1].1 += weight;
            } else {
                self.uses[kept] = (link, weight);
                kept += 1;
            }
        }
        self.uses.truncate(kept);
    }

    /// The links of a flow.
    pub fn uses(&self, flow: usize) -> &[(u32, f64)] {
        &self.uses[self.starts[flow]..self.starts[flow + 1]]
    }
}

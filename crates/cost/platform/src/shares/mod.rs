//! What messages take that start together and share links.
//!
//! Every link is shared fairly: no message can get more without taking from one that has no more (max-min fairness).
//! A message first waits for its latency, then it sends with its share; whenever messages begin or end, all shares are
//! worked out again. Messages and links that are in the same situation are dealt with as one, so that regular phases
//! of many thousand messages take milliseconds.
//!
//! When it is wrong: packets, queues and adaptive routes are not modelled, so short messages and bursts are not exact.
//! In irregular phases, messages that end within 0.2 % of the time passed free their links at once; that moved no end
//! by more than 0.1 % where it was compared.

mod alike;
mod filling;
mod flows;

use super::{Platform, PlatformError, SizeFactors};
use filling::Filling;
use flows::Flows;

/// Messages that end within this part of the time passed free their links together. Each still ends at its own time, as
/// it is then predicted. Without it, irregular phases of thousands of messages would take seconds.
const TOGETHER: f64 = 2e-3;
/// Times that differ by less are the same, within rounding.
const SAME: f64 = 1e-12;

/// One message of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The host that sends it.
    pub from: usize,
    /// The host that gets it.
    pub to: usize,
    /// Its size.
    pub bytes: u64,
}

/// When the messages of a phase are done, since its start.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// By message.
    pub done_ns: Vec<f64>,
    /// The last of them; 0 if there are none.
    pub all_done_ns: f64,
}

/// Lets messages start together.
///
/// # Errors
///
/// If a message comes from or goes to a host that the platform does not have.
pub fn phase(
    platform: &Platform,
    messages: &[Message],
    factors: &SizeFactors,
) -> Result<Phase, PlatformError> {
    let hosts = platform.hosts();
    if let Some(Message { from, to, .. }) = messages.iter().find(|one| one.from.max(one.to) >= hosts) {
        return Err(PlatformError::NoSuchHost { from: *from, to: *to, hosts });
    }
    let flows = Flows::new(platform, messages, factors);
    let (filling, class) = alike::join(&flows);
    let ends_ns = ends_ns(filling);
    let done_ns: Vec<f64> = class.iter().map(|class| ends_ns[*class as usize]).collect();
    let all_done_ns = done_ns.iter().copied().fold(0.0, f64::max);
    Ok(Phase { done_ns, all_done_ns })
}

/// When each class of messages ends.
fn ends_ns(mut filling: Filling) -> Vec<f64> {
    let classes = filling.flows.len();
    let mut left_bytes: Vec<f64> = filling.flows.iter().map(|flow| flow.bytes).collect();
    let mut ends_ns: Vec<f64> = filling.flows.iter().map(|flow| flow.start_ns).collect();
    let mut waiting: Vec<usize> = (0..classes).filter(|class| left_bytes[*class] > 0.0).collect();
    // Those that start first come last, to be popped.
    waiting.sort_by(|a, b| ends_ns[*b].total_cmp(&ends_ns[*a]));
    let mut sending: Vec<usize> = Vec::new();
    let mut now_ns = 0.0;
    while !(waiting.is_empty() && sending.is_empty()) {
        if sending.is_empty() {
            now_ns = waiting.last().map_or(now_ns, |class| filling.flows[*class].start_ns);
        }
        while let Some(class) =
            waiting.pop_if(|class| filling.flows[*class].start_ns <= now_ns * (1.0 + SAME))
        {
            sending.push(class);
        }
        filling.share(&sending);
        let end_ns = |class: &usize| now_ns + left_bytes[*class] / filling.rates[*class];
        let first_end_ns = sending.iter().map(end_ns).fold(f64::INFINITY, f64::min);
        let next_start_ns = waiting.last().map_or(f64::INFINITY, |class| filling.flows[*class].start_ns);
        // A flow that ends a little later than the first ends along with it, unless another starts before.
        let until_ns = (first_end_ns * (1.0 + TOGETHER)).min(next_start_ns);
        let then_ns = first_end_ns.min(next_start_ns);
        sending.retain(|class| {
            let end_ns = now_ns + left_bytes[*class] / filling.rates[*class];
            if end_ns <= until_ns {
                ends_ns[*class] = end_ns;
                return false;
            }
            left_bytes[*class] -= filling.rates[*class] * (then_ns - now_ns);
            true
        });
        now_ns = then_ns;
    }
    ends_ns
}

#[cfg(test)]
mod tests;

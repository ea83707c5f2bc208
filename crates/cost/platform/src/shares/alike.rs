//! Joins flows that are alike, and links that are alike, into classes.
//!
//! Two flows are alike if they start and end alike on links that are alike; two links are alike if they have the same
//! capacity and are used alike by flows that are alike. Such flows get the same share at all times, so one of each
//! class stands for all. Classes are found by refinement: everything has a colour, which is made again from its own and
//! those of its neighbours until no class falls apart any more. Colours are hashes of 64 bits; that two different ones
//! fall together is less likely than a broken memory.

use super::filling::Filling;
use super::flows::Flows;
use rustc_hash::FxHashMap;

/// One flow of each class with what it shares, and the class of every flow.
pub(super) fn join(flows: &Flows) -> (Filling, Vec<u32>) {
    let (flow_colours, link_colours) = colours(flows);
    let flow_class = numbered(&flow_colours);
    let (first_flow, first_link) = (firsts(&flow_colours), firsts(&link_colours));
    let used = used_links(flows);
    // Which links stand for their class, by their number among these.
    let mut stands = vec![u32::MAX; flows.capacities.len()];
    let mut capacities = Vec::new();
    for link in first_link.into_iter().filter(|link| used[*link]) {
        stands[link] = capacities.len() as u32;
        capacities.push(flows.capacities[link]);
    }
    let mut uses: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    for (flow, class) in flow_class.iter().enumerate() {
        for (link, weight) in flows.uses(flow) {
            let link = stands[*link as usize];
            if link != u32::MAX {
                *uses.entry((link, *class)).or_default() += weight;
            }
        }
    }
    let mut uses: Vec<(u32, u32, f64)> =
        uses.into_iter().map(|((link, class), sum)| (link, class, sum)).collect();
    uses.sort_unstable_by_key(|(link, class, _)| (*link, *class));
    let flows = first_flow.into_iter().map(|flow| flows.flows[flow]).collect();
    (Filling::new(flows, capacities, &uses), flow_class)
}

/// Colours of flows and links that no refinement separates any more.
fn colours(flows: &Flows) -> (Vec<u64>, Vec<u64>) {
    let numbers = |flow: &super::flows::Flow| [flow.start_ns, flow.bytes, flow.penalty];
    let of_flow =
        |flow| numbers(flow).into_iter().fold(0, |colour, number: f64| mixed(colour, number.to_bits()));
    let mut flow_colours: Vec<u64> = flows.flows.iter().map(of_flow).collect();
    let mut link_colours: Vec<u64> =
        flows.capacities.iter().map(|capacity| mixed(1, capacity.to_bits())).collect();
    let mut classes = 0;
    loop {
        // Sums do not depend on the order of neighbours.
        let mut sums = vec![0_u64; link_colours.len()];
        for (flow, colour) in flow_colours.iter().enumerate() {
            for (link, weight) in flows.uses(flow) {
                let sum = &mut sums[*link as usize];
                *sum = sum.wrapping_add(mixed(*colour, weight.to_bits()));
            }
        }
        link_colours.iter_mut().zip(&sums).for_each(|(colour, sum)| *colour = mixed(*colour, *sum));
        for (flow, colour) in flow_colours.iter_mut().enumerate() {
            let links = flows.uses(flow).iter();
            let sum = links.map(|(link, weight)| mixed(link_colours[*link as usize], weight.to_bits()));
            *colour = mixed(*colour, sum.fold(0, u64::wrapping_add));
        }
        let now = firsts(&flow_colours).len() + firsts(&link_colours).len();
        if now == classes {
            return (flow_colours, link_colours);
        }
        classes = now;
    }
}

/// A good mixture of two numbers.
fn mixed(a: u64, b: u64) -> u64 {
    let product =
        u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93 ^ a.rotate_left(32));
    (product as u64 ^ (product >> 64) as u64).wrapping_add(a.rotate_left(17) ^ b)
}

/// Where each colour is first seen.
fn firsts(colours: &[u64]) -> Vec<usize> {
    let mut seen = rustc_hash::FxHashSet::default();
    (0..colours.len()).filter(|at| seen.insert(colours[*at])).collect()
}

/// Colours numbered in the order in which they are seen.
fn numbered(colours: &[u64]) -> Vec<u32> {
    let mut numbers = FxHashMap::default();
    let mut number = |colour: &u64| {
        let next = numbers.len() as u32;
        *numbers.entry(*colour).or_insert(next)
    };
    colours.iter().map(&mut number).collect()
}

fn used_links(flows: &Flows) -> Vec<bool> {
    let mut used = vec![false; flows.capacities.len()];
    for flow in 0..flows.flows.len() {
        flows.uses(flow).iter().for_each(|(link, _)| used[*link as usize] = true);
    }
    used
}

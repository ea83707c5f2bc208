//! Max-min fair shares by progressive filling: all flows grow together until a link is full; its flows keep what they
//! have, the others grow on.
//!
//! Growing never makes a link's level lower, that is the share at which it would be full. So a heap of levels need not
//! be notified of changes: a level that is found to have risen is put back.

use super::flows::Flow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows, links, and who uses what how much.
pub(super) struct Filling {
    pub flows: Vec<Flow>,
    /// Bytes a nanosecond of each flow, as last worked out.
    pub rates: Vec<f64>,
    links: Vec<Link>,
    /// Flows by link, with what each takes there when it has a share of 1.
    of_links: Rows,
    /// Links by flow, with the same.
    of_flows: Rows,
}

/// A link while it is filled.
#[derive(Clone, Copy, Default)]
struct Link {
    capacity: f64,
    /// What is left of it.
    left: f64,
    /// What flows that still grow take together when each has a share of 1.
    usage: f64,
    /// How many these are: `usage` is not exactly 0 without any.
    growing: u32,
}

/// Lists of different lengths, one behind the other.
struct Rows {
    starts: Vec<u32>,
    cells: Vec<(u32, f64)>,
}

/// A share that can be compared.
#[derive(PartialEq)]
struct Level(f64);

impl Eq for Level {}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Level) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Level {
    fn cmp(&self, other: &Level) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Rows {
    fn new(rows: usize, cells: impl Iterator<Item = (u32, u32, f64)> + Clone) -> Rows {
        let mut starts = vec![0_u32; rows + 1];
        cells.clone().for_each(|(row, ..)| starts[row as usize + 1] += 1);
        (0..rows).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = starts.clone();
        let mut sorted = vec![(0, 0.0); starts[rows] as usize];
        for (row, column, taken) in cells {
            sorted[next[row as usize] as usize] = (column, taken);
            next[row as usize] += 1;
        }
        Rows { starts, cells: sorted }
    }

    fn get(&self, row: usize) -> &[(u32, f64)] {
        &self.cells[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

impl Link {
    /// The share at which it is full.
    fn level(&self) -> f64 {
        self.left.max(0.0) / self.usage
    }
}

impl Filling {
    /// Uses are (link, flow, weight).
    pub fn new(flows: Vec<Flow>, capacities: Vec<f64>, uses: &[(u32, u32, f64)]) -> Filling {
        let taken = |flow: u32, weight: f64| weight / flows[flow as usize].penalty;
        let by_link = uses.iter().map(|(link, flow, weight)| (*link, *flow, taken(*flow, *weight)));
        let by_flow = by_link.clone().map(|(link, flow, taken)| (flow, link, taken));
        Filling {
            rates: vec![0.0; flows.len()],
            of_links: Rows::new(capacities.len(), by_link),
            of_flows: Rows::new(flows.len(), by_flow),
            links: capacities.into_iter().map(|capacity| Link { capacity, ..Link::default() }).collect(),
            flows,
        }
    }

    /// Works out the rates of those that send; all others have none.
    pub fn share(&mut self, sending: &[usize]) {
        let Filling { flows, rates, links, of_links, of_flows } = self;
        // Those that send and have no rate yet grow; a rate below 0 marks them.
        rates.fill(0.0);
        for link in links.iter_mut() {
            *link = Link { left: link.capacity, usage: 0.0, growing: 0, ..*link };
        }
        for flow in sending {
            rates[*flow] = -1.0;
            for (link, taken) in of_flows.get(*flow) {
                let link = &mut links[*link as usize];
                link.usage += taken;
                link.growing += 1;
            }
        }
        let used = links.iter().enumerate().filter(|(_, link)| link.growing > 0);
        let mut levels: BinaryHeap<_> = used.map(|(at, link)| Reverse((Level(link.level()), at))).collect();
        while let Some(Reverse((Level(level), at))) = levels.pop() {
            let link = links[at];
            if link.growing == 0 {
                continue;
            }
            let now = link.level();
            if now > level * (1.0 + 1e-12) {
                levels.push(Reverse((Level(now), at)));
                continue;
            }
            for (flow, _) in of_links.get(at) {
                let flow = *flow as usize;
                if rates[flow] >= 0.0 {
                    continue;
                }
                rates[flow] = level / flows[flow].penalty;
                for (link, taken) in of_flows.get(flow) {
                    let link = &mut links[*link as usize];
                    link.left -= taken * level;
                    link.usage -= taken;
                    link.growing -= 1;
                }
            }
        }
    }
}

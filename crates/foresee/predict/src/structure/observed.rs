//! What was seen of one call in all runs, until formulas are made of it.

use super::calls::{Item, Token};
use super::numbers::SizeFormula;
use super::peers::{Met, PeerFormula};
use super::program::{Leaf, RunTiming, Timing};
use crate::PredictError;
use kizami_model::Peer;
use kizami_model::kind::Kind;
use kizami_stats::mean;

/// Rounds of a loop in which peers are looked at, from the first on.
const ROUNDS_LOOKED_AT: u64 = 64;
/// Ranks whose single times are kept.
const RANKS_KEPT: usize = 64;
/// Times of a rank that are kept.
const TIMES_KEPT: usize = 512;

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    met: [Vec<Met>; 3],
    /// Bytes given and obtained, in each run.
    sizes: [Vec<(u32, f64)>; 2],
    gaps: [Timing; 2],
    rank: [RankGaps; 2],
    run: RunObservation,
}

/// Times of one rank.
#[derive(Clone, Debug, Default)]
struct RankGaps {
    sum_ns: f64,
    count: u64,
    kept: Vec<f32>,
}

/// What was seen in the run that is looked at.
#[derive(Clone, Debug, Default)]
struct RunObservation {
    /// By occurrence: the largest of all ranks, given and obtained.
    largest: [Vec<u64>; 2],
    occurrence: usize,
    means_ns: [Vec<f64>; 2],
    ratios: [Vec<Vec<f32>>; 2],
}

impl Observed {
    /// A rank made the call, in a round of its loop.
    pub(super) fn see(&mut self, ranks: u32, rank: u32, round: u64, item: &Item) {
        if round < ROUNDS_LOOKED_AT {
            for (met, peer) in self.met.iter_mut().zip([item.peer, item.recv_peer, item.root]) {
                met.push(Met { ranks, rank, round, peer });
            }
        }
        let run = &mut self.run;
        let giver = if item.recv_peer == Peer::None { item.peer } else { item.recv_peer };
        let moved = [(item.bytes_out, item.peer), (item.bytes_in, giver)];
        for (largest, (bytes, with)) in run.largest.iter_mut().zip(moved) {
            // Null peers get nothing, whatever the size is for others.
            let Some(bytes) = bytes.filter(|_| with != Peer::Null) else { continue };
            if largest.len() <= run.occurrence {
                largest.resize(run.occurrence + 1, 0);
            }
            largest[run.occurrence] = largest[run.occurrence].max(bytes);
        }
        run.occurrence += 1;
        let gaps = &mut self.rank[usize::from(round > 0)];
        gaps.sum_ns += item.gap_ns as f64;
        gaps.count += 1;
        if gaps.kept.len() < TIMES_KEPT {
            gaps.kept.push(item.gap_ns as f32);
        }
    }

    /// The next rank comes.
    pub(super) fn end_of_rank(&mut self) {
        self.run.occurrence = 0;
        for which in 0..2 {
            let gaps = std::mem::take(&mut self.rank[which]);
            if gaps.count > 0 {
                self.run.means_ns[which].push(gaps.sum_ns / gaps.count as f64);
                if self.run.ratios[which].len() < RANKS_KEPT {
                    self.run.ratios[which].push(gaps.kept);
                }
            }
        }
    }

    /// The next run comes.
    pub(super) fn end_of_run(&mut self, ranks: u32) {
        let run = std::mem::take(&mut self.run);
        for (sizes, largest) in self.sizes.iter_mut().zip(run.largest) {
            if !largest.is_empty() {
                let mean = largest.iter().sum::<u64>() as f64 / largest.len() as f64;
                sizes.push((ranks, mean));
            }
        }
        for ((timing, means_ns), mut ratios) in self.gaps.iter_mut().zip(run.means_ns).zip(run.ratios) {
            if means_ns.is_empty() {
                continue;
            }
            let mean_ns = mean(means_ns.iter().copied());
            let share = |ns: &mut f32| *ns = if mean_ns > 0.0 { *ns / mean_ns as f32 } else { 1.0 };
            ratios.iter_mut().flatten().for_each(share);
            timing.runs.push(RunTiming { ranks, means_ns, ratios });
        }
    }

    /// Makes formulas of it.
    pub(super) fn leaf(self, token: u32, what: &Token) -> Result<Leaf, PredictError> {
        let collective = matches!(what.op.kind(), Kind::Collective(..));
        let peer = |met: &[Met]| {
            // A collective is distinguished by its root; what stands beside it does not matter.
            PeerFormula::of(met)
                .ok_or_else(|| PredictError::NoPeer { op: what.op.name(), place: what.place.to_string() })
        };
        let size = |sizes: &[(u32, f64)]| match sizes {
            [] => Ok(None),
            sizes => match SizeFormula::of(sizes) {
                Some(formula) => Ok(Some(formula)),
                None => Err(PredictError::NoSize {
                    op: what.op.name(),
                    place: what.place.to_string(),
                    sizes: listed(sizes),
                }),
            },
        };
        let [one, two, three] = &self.met;
        Ok(Leaf {
            token,
            peer: if collective { PeerFormula::None } else { peer(one)? },
            recv_peer: peer(two)?,
            root: peer(three)?,
            bytes_out: size(&self.sizes[0])?,
            bytes_in: size(&self.sizes[1])?,
            gaps: self.gaps,
        })
    }
}

fn listed(sizes: &[(u32, f64)]) -> String {
    let each = sizes.iter().map(|(ranks, bytes)| format!("{bytes:.0} bytes at {ranks} ranks"));
    each.collect::<Vec<_>>().join(", ")
}

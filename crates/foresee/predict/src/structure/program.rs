//! A program as derived from all its runs: rank classes, each with its loops and calls, and what is known of each call.

use super::calls::{Item, RunCalls, Token, Tokens};
use super::fold::{Node, fold};
use super::numbers::{CountFormula, SizeFormula};
use super::observed::Observed;
use super::peers::PeerFormula;
use super::rank_classes::Scheme;
use crate::PredictError;
use kizami_trace::{Definitions, Trace};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What each rank class does in one run.
type FoldedClasses = BTreeMap<u32, Vec<Node>>;

/// A program, for any number of ranks.
#[derive(Clone, Debug)]
pub struct Program {
    /// How its ranks are distinguished.
    pub scheme: Scheme,
    /// What each class does.
    pub rank_classes: BTreeMap<u32, RankClass>,
    /// What is called.
    pub tokens: Vec<Token>,
    /// The numbers of ranks it was seen with, in order.
    pub seen: Vec<u32>,
    /// What numbers and places stand for in the largest run.
    pub definitions: Definitions,
    /// By token, the index of its place in those definitions.
    pub sites: FxHashMap<u32, Option<u32>>,
    /// Path of its executable in the largest run.
    pub executable: String,
    /// Its command line there.
    pub command: Vec<String>,
}

/// What one rank class does.
#[derive(Clone, Debug)]
pub struct RankClass {
    /// In order.
    pub parts: Vec<Part>,
    /// Its calls, in the order in which they first happen.
    pub leaves: Vec<Leaf>,
}

/// A call, or a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// The index of a leaf.
    Call(usize),
    /// Some parts, so often.
    Loop(Vec<Part>, CountFormula),
}

/// A call at one place of the program's loops.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// What is called.
    pub token: u32,
    /// To whom, or from whom.
    pub peer: PeerFormula,
    /// From whom, in a send-receive.
    pub recv_peer: PeerFormula,
    /// Root of a collective.
    pub root: PeerFormula,
    /// Bytes given.
    pub bytes_out: Option<SizeFormula>,
    /// Bytes obtained.
    pub bytes_in: Option<SizeFormula>,
    /// Computation before it, in the first round of its loop and in later ones.
    pub gaps: [Timing; 2],
}

/// Computation before a call, in each run.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// By run, in the order of ranks.
    pub runs: Vec<RunTiming>,
}

/// The same in one run.
#[derive(Clone, Debug)]
pub struct RunTiming {
    /// How many ranks the run had.
    pub ranks: u32,
    /// Mean of each rank of the class.
    pub means_ns: Vec<f64>,
    /// Of some ranks, one after another: what they took as a share of the mean of all.
    pub ratios: Vec<Vec<f32>>,
}

impl RunTiming {
    /// Mean over all ranks.
    pub fn mean_ns(&self) -> f64 {
        self.means_ns.iter().sum::<f64>() / self.means_ns.len().max(1) as f64
    }
}

impl Program {
    /// What some runs of a program have in common. They are given in any order, each with another number of ranks.
    pub fn of(traces: &[&Trace]) -> Result<Program, PredictError> {
        let mut tokens = Tokens::default();
        let mut runs: Vec<RunCalls> =
            traces.iter().map(|trace| RunCalls::read(trace, &mut tokens)).collect::<Result<_, _>>()?;
        runs.sort_by_key(|run| run.ranks);
        let (scheme, folded) = divide(&runs)?;
        let all: BTreeSet<u32> =
            folded.iter().flat_map(|rank_classes| rank_classes.keys().copied()).collect();
        let mut rank_classes = BTreeMap::new();
        for class in all {
            rank_classes.insert(class, RankClass::of(class, scheme, &runs, &folded, &tokens)?);
        }
        let seen = runs.iter().map(|run| run.ranks).collect();
        let (definitions, sites) = match runs.pop() {
            Some(largest) => (largest.definitions, largest.sites),
            None => Default::default(),
        };
        let largest = traces.iter().map(|trace| trace.run()).max_by_key(|run| run.ranks);
        let (executable, command) =
            largest.map(|run| (run.executable.clone(), run.command.clone())).unwrap_or_default();
        Ok(Program {
            scheme,
            rank_classes,
            tokens: tokens.list,
            seen,
            definitions,
            sites,
            executable,
            command,
        })
    }
}

/// The plainest scheme by which all ranks of a class do the same in every run, and what each class does there.
fn divide(runs: &[RunCalls]) -> Result<(Scheme, Vec<FoldedClasses>), PredictError> {
    let mut wrong = PredictError::NoClasses { ranks: 0, rank: 0 };
    for scheme in Scheme::ALL {
        match runs.iter().map(|run| classes_of(run, scheme)).collect::<Result<Vec<_>, _>>() {
            Ok(rank_classes) => return Ok((scheme, rank_classes)),
            Err(rank) => {
                let ranks = runs.iter().map(|run| run.ranks).max().unwrap_or(0);
                wrong = PredictError::NoClasses { ranks, rank };
            }
        }
    }
    Err(wrong)
}

/// What each class does; the first rank that deviates is the error.
fn classes_of(run: &RunCalls, scheme: Scheme) -> Result<FoldedClasses, u32> {
    let mut first: BTreeMap<u32, &[Item]> = BTreeMap::new();
    for (rank, calls) in (0..).zip(&run.calls) {
        let known = first.entry(scheme.class(rank, run.ranks)).or_insert(calls);
        let same = known.len() == calls.len()
            && known.iter().zip(calls).all(|(one, other)| one.token == other.token);
        if !same {
            return Err(rank);
        }
    }
    let tokens = |calls: &[Item]| calls.iter().map(|item| item.token).collect::<Vec<u32>>();
    Ok(first.into_iter().map(|(class, calls)| (class, fold(&tokens(calls)))).collect())
}

impl RankClass {
    fn of(
        class: u32,
        scheme: Scheme,
        runs: &[RunCalls],
        folded: &[FoldedClasses],
        tokens: &Tokens,
    ) -> Result<RankClass, PredictError> {
        let with: Vec<(&RunCalls, &[Node])> = runs
            .iter()
            .zip(folded)
            .filter_map(|(run, rank_classes)| Some((run, rank_classes.get(&class)?.as_slice())))
            .collect();
        let trees: Vec<(u32, &[Node])> = with.iter().map(|(run, nodes)| (run.ranks, *nodes)).collect();
        let mut leaf_tokens = Vec::new();
        let parts = together(&trees, &mut leaf_tokens)?;
        let mut observed = vec![Observed::default(); leaf_tokens.len()];
        for (run, nodes) in &with {
            let order = occurrences(nodes);
            for (rank, calls) in (0u32..).zip(&run.calls) {
                if scheme.class(rank, run.ranks) == class {
                    for ((leaf, round), item) in order.iter().zip(calls) {
                        observed[*leaf].see(run.ranks, rank, *round, item);
                    }
                    observed.iter_mut().for_each(Observed::end_of_rank);
                }
            }
            observed.iter_mut().for_each(|observed| observed.end_of_run(run.ranks));
        }
        let leaf = |(token, observed): (u32, Observed)| observed.leaf(token, &tokens.list[token as usize]);
        let leaves = leaf_tokens.into_iter().zip(observed).map(leaf).collect::<Result<_, _>>()?;
        Ok(RankClass { parts, leaves })
    }
}

/// The same nodes in all runs, with a formula for how often loops go round. Leaves are numbered in order.
fn together(trees: &[(u32, &[Node])], leaves: &mut Vec<u32>) -> Result<Vec<Part>, PredictError> {
    let Some(((few, first), (many, last))) = trees.first().zip(trees.last()) else { return Ok(Vec::new()) };
    let different = |what: String| PredictError::Different { few: *few, many: *many, what };
    if let Some((_, other)) = trees.iter().find(|(_, nodes)| nodes.len() != last.len()) {
        let what = format!("{} parts in a row for {}", other.len(), last.len());
        return Err(different(if first.len() == last.len() { "loops differ".to_owned() } else { what }));
    }
    let mut parts = Vec::new();
    for index in 0..last.len() {
        match &last[index] {
            Node::Leaf(token) => {
                if trees.iter().any(|(_, nodes)| nodes[index] != Node::Leaf(*token)) {
                    return Err(different("other calls at the same point".to_owned()));
                }
                leaves.push(*token);
                parts.push(Part::Call(leaves.len() - 1));
            }
            Node::Loop(..) => {
                let mut counts = Vec::new();
                let mut bodies = Vec::new();
                for (ranks, nodes) in trees {
                    let Node::Loop(body, count) = &nodes[index] else {
                        return Err(different("a loop goes round only once in one of them".to_owned()));
                    };
                    counts.push((*ranks, *count));
                    bodies.push((*ranks, body.as_slice()));
                }
                let formula = CountFormula::of(&counts)
                    .ok_or_else(|| different(format!("a loop goes round {} times", listed(&counts))))?;
                parts.push(Part::Loop(together(&bodies, leaves)?, formula));
            }
        }
    }
    Ok(parts)
}

fn listed(counts: &[(u32, u64)]) -> String {
    counts.iter().map(|(ranks, count)| format!("{count} at {ranks} ranks")).collect::<Vec<_>>().join(", ")
}

/// The leaf of each call in order, and the round of its innermost loop.
fn occurrences(nodes: &[Node]) -> Vec<(usize, u64)> {
    fn walk(nodes: &[Node], first: usize, round: u64, out: &mut Vec<(usize, u64)>) -> usize {
        let mut leaf = first;
        for node in nodes {
            match node {
                Node::Leaf(_) => {
                    out.push((leaf, round));
                    leaf += 1;
                }
                Node::Loop(body, count) => {
                    let mut behind = leaf;
                    for round in 0..*count {
                        behind = walk(body, leaf, round, out);
                    }
                    leaf = behind;
                }
            }
        }
        leaf
    }
    let mut out = Vec::new();
    walk(nodes, 0, 0, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_runs_are_put_together_by_their_counts() {
        let tree =
            |rounds| [Node::Leaf(1), Node::Loop(vec![Node::Leaf(2), Node::Leaf(3)], rounds), Node::Leaf(4)];
        let (small, large) = (tree(7), tree(31));
        let mut leaves = Vec::new();
        let parts = together(&[(8, &small), (32, &large)], &mut leaves).unwrap();
        assert_eq!(leaves, [1, 2, 3, 4]);
        let Part::Loop(body, count) = &parts[1] else { panic!("{parts:?}") };
        assert_eq!((body.as_slice(), count.at(1_024)), (&[Part::Call(1), Part::Call(2)][..], 1_023));
        assert_eq!(occurrences(&tree(2)), [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (3, 0)]);
    }
}

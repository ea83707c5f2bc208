//! The calls of a predicted run, as a trace.
//!
//! Each rank does what its class does: formulas give trip counts and peers. Its computation is
//! as long as predicted; calls take no time yet, since only a replay knows who waits for whom. The times of different ranks
//! therefore do not fit together: the trace must be walked without looking at them.

use crate::PredictError;
use crate::computation::Computation;
use crate::structure::{Leaf, Part, Program, RankClass, SizeFormula, Token, dims, means_the_same};
use kizami_model::{Call, CommKind, Moment, Peer, Rank, ThreadIndex};
use kizami_trace::write::About;
use kizami_trace::{CommIdentity, Communicator, Definitions, TraceWriter};
use std::path::Path;

/// Writes the run with so many ranks into a new directory; returns how many calls it has.
pub fn generate(
    program: &Program,
    ranks: u32,
    computation: &Computation,
    directory: &Path,
) -> Result<u64, PredictError> {
    let about = About {
        executable: program.executable.clone(),
        command: program.command.clone(),
        mpi_library: "predicted".to_owned(),
        ..About::default()
    };
    let mut writer = TraceWriter::create(directory, about, definitions(program, ranks))?;
    let mut made = 0;
    for rank in 0..ranks {
        let class = program.scheme.class(rank, ranks);
        let Some(does) = program.rank_classes.get(&class) else {
            let what = "no run has a rank in the middle of the grid or line";
            let (few, many) = (program.seen.last().copied().unwrap_or(0), ranks);
            return Err(PredictError::Different { few, many, what: what.to_owned() });
        };
        let mut one = OneRank {
            program,
            does,
            class,
            rank,
            ranks,
            computation,
            now_ns: 0.0,
            next_request: 0,
            open: Vec::new(),
            occurrences: vec![0; does.leaves.len()],
        };
        one.parts(&does.parts, 0, &mut |call| {
            made += 1;
            Ok(writer.call(call)?)
        })?;
    }
    writer.finish(|_| {})?;
    Ok(made)
}

/// One rank on its way through the program.
struct OneRank<'a> {
    program: &'a Program,
    does: &'a RankClass,
    class: u32,
    rank: u32,
    ranks: u32,
    computation: &'a Computation,
    now_ns: f64,
    next_request: u64,
    open: Vec<u64>,
    /// By leaf: how often it was called.
    occurrences: Vec<u64>,
}

impl OneRank<'_> {
    fn parts(
        &mut self,
        parts: &[Part],
        round: u64,
        write: &mut dyn FnMut(&Call) -> Result<(), PredictError>,
    ) -> Result<(), PredictError> {
        for part in parts {
            match part {
                Part::Call(leaf) => {
                    let call = self.call(*leaf, round)?;
                    write(&call)?;
                }
                Part::Loop(body, count) => {
                    for round in 0..count.at(self.ranks) {
                        self.parts(body, round, write)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, number: usize, round: u64) -> Result<Call, PredictError> {
        let leaf: &Leaf = &self.does.leaves[number];
        let token = &self.program.tokens[leaf.token as usize];
        let occurrence = self.occurrences[number];
        self.occurrences[number] += 1;
        self.now_ns += self.computation.gap_ns(self.class, number, round, self.rank, occurrence);
        let now = Moment(self.now_ns as i64);
        let nobody = || PredictError::NoPeer { op: token.op.name(), place: token.place.to_string() };
        let peer = |formula: &crate::structure::PeerFormula| {
            formula.at(self.rank, self.ranks, round).ok_or_else(nobody)
        };
        let (to, from, root) = (peer(&leaf.peer)?, peer(&leaf.recv_peer)?, peer(&leaf.root)?);
        let bytes = |formula: &Option<SizeFormula>, peer: Peer| {
            formula.filter(|_| peer != Peer::Null).map(|formula| formula.at(self.ranks).round() as u64)
        };
        let giver = if from == Peer::None { to } else { from };
        let (bytes_out, bytes_in) = (bytes(&leaf.bytes_out, to), bytes(&leaf.bytes_in, giver));
        let (request, completes) = self.requests(token);
        Ok(Call {
            comm: token.comm,
            peer: to,
            tag: token.tag,
            recv_peer: from,
            recv_tag: token.recv_tag,
            bytes_out,
            bytes_in,
            root,
            request,
            completes,
            callsite: self.program.sites.get(&leaf.token).copied().flatten(),
            ..Call::new(Rank(self.rank), ThreadIndex(0), token.op, now, now)
        })
    }

    fn requests(&mut self, token: &Token) -> (Option<u64>, Vec<u64>) {
        let completes: Vec<u64> =
            token.completes.iter().filter_map(|index| self.open.get(*index as usize).copied()).collect();
        self.open.retain(|open| !completes.contains(open));
        let request = token.begins.then(|| {
            self.next_request += 1;
            self.open.push(self.next_request);
            self.next_request
        });
        (request, completes)
    }
}

/// Communicators of all ranks, in the order of their numbers, and the places of the program.
fn definitions(program: &Program, ranks: u32) -> Definitions {
    let seen = program.seen.last().copied().unwrap_or(0);
    let of_all: Vec<&Communicator> =
        program.definitions.communicators.iter().filter(|comm| means_the_same(comm, seen)).collect();
    let place = |index: u32| of_all.iter().position(|comm| comm.index == index).map(|place| place as u32);
    let communicators = (0..)
        .zip(&of_all)
        .map(|(index, comm)| {
            let alone = comm.kind == CommKind::SelfOnly;
            Communicator {
                index,
                identity: CommIdentity(u64::from(index) + 1),
                parent: comm.parent.and_then(place),
                size: if alone { 1 } else { ranks },
                members: if alone { Vec::new() } else { (0..ranks).map(|rank| Some(Rank(rank))).collect() },
                dims: if comm.dims.is_empty() { Vec::new() } else { dims(ranks, comm.dims.len()) },
                ..(*comm).clone()
            }
        })
        .collect();
    Definitions { communicators, callsites: program.definitions.callsites.clone(), ..Definitions::default() }
}

//! What is known of all calls of threads of which rows were kept only in part: sums, peers and the order of calls.
//!
//! Numbers of the process become those of the run. What could not be read is missing, and said elsewhere.

use super::RankReduced;
use super::Sealer;
use crate::names::{UNDEFINED, known};
use kizami_model::Rank;
use kizami_records::NO_SITE;
use kizami_reduced::{Meaning, missing, rows_of, sum_missing, sums_by_function};
use kizami_sequence::Signature;
use kizami_summary::{PeerSums, State};
use kizami_trace::reduced_tables::{PeerRow, What};

impl Sealer<'_, '_> {
    /// Takes what reducers left of all threads.
    pub(super) fn reduced(&mut self) {
        let mut all = RankReduced { whole: true, ..RankReduced::default() };
        let mut any = false;
        for index in 0..self.threads.len() {
            let Some(left) = self.threads[index].reduced.take() else { continue };
            any = true;
            all.whole &= left.state.is_some();
            if let Some(state) = &left.state {
                self.exact_sums(index, state, &mut all);
            }
            if let Some(mut order) = left.order {
                all.missing.calls_without_order += order.lost();
                let thread = self.threads[index].index as u32;
                match order.map_signatures(|signature| self.in_numbers_of_run(signature)) {
                    Ok(()) => all.orders.push((thread, order)),
                    Err(_) => all.missing.damage += 1,
                }
            }
        }
        if any {
            self.outcome.reduced = Some(all);
        }
    }

    fn exact_sums(&mut self, index: usize, state: &State, all: &mut RankReduced) {
        let thread = &mut self.threads[index];
        let times = thread.times;
        let meaning = Meaning {
            rank: self.input.rank,
            thread: thread.index as u32,
            site: &|site| known(&self.input.names.sites, site).filter(|_| site != NO_SITE),
            at: &|ticks| times.at(ticks),
            ns_per_tick: self.input.clock.ns_per_tick(),
        };
        let tables = rows_of(state, &meaning);
        sums_by_function(&tables, &mut self.part.totals, thread.cost_ns);
        let outcome = &mut self.outcome;
        for row in tables.sums.iter().filter(|row| row.what == What::Call) {
            outcome.calls = outcome.calls.saturating_add(row.calls);
            outcome.mpi_ns = outcome.mpi_ns.saturating_add(row.total.0);
            let cost_ns = (thread.cost_ns * row.calls as f64).round() as i64;
            outcome.overhead_ns = outcome.overhead_ns.saturating_add(cost_ns);
        }
        if !state.kinds.is_empty() {
            outcome.spans(times.at(state.span.0), times.at(state.span.1));
            thread.last_start_ticks = Some(state.span.1.saturating_sub(1));
        }
        all.missing = sum_missing(all.missing, missing(state));
        all.tables.append(tables);
        self.peers(state, all);
    }

    fn peers(&self, state: &State, all: &mut RankReduced) {
        let rank = Rank(self.input.rank);
        let row = |comm: Option<u32>, peer: Option<Rank>, sums: PeerSums| PeerRow {
            rank,
            comm,
            peer,
            messages_out: sums.messages_out,
            bytes_out: sums.bytes_out,
            messages_in: sums.messages_in,
            bytes_in: sums.bytes_in,
        };
        for peer in &state.peers {
            let comm = self.input.names.comms.get(peer.communicator as usize).copied().flatten();
            let number = i32::try_from(peer.rank).unwrap_or(i32::MAX);
            let world = self.input.communicators.peer(comm, number, self.input.rank as i32);
            let world = u32::try_from(world).ok().map(Rank);
            all.peers.push(row(comm.map(|comm| comm.index), world, peer.sums));
        }
        if state.other_peers != PeerSums::default() {
            all.peers.push(row(None, None, state.other_peers));
        }
    }

    /// A shape as the order of calls has it: indices of the run, one more than they are.
    fn in_numbers_of_run(&self, signature: &mut Signature) {
        let names = self.input.names;
        let site = known(&names.sites, signature.site).filter(|_| signature.site != NO_SITE);
        signature.site = site.map_or(0, |index| index + 1);
        let comm = names.comms.get(signature.comm as usize).copied().flatten();
        signature.comm = comm.map_or(0, |comm| comm.index + 1);
        // The objects of a rank lie one behind the other.
        let first = names.objects.iter().map(|(index, _)| *index).min().unwrap_or(0);
        let object = names.objects.get(signature.object as usize).map(|(index, _)| *index);
        let object = object.filter(|index| signature.object != 0 && *index != UNDEFINED);
        signature.object = object.map_or(0, |index| index - first + 1);
    }
}

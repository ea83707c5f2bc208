//! What a step that begins tells others, here and on other threads.

use super::super::board::Note;
use super::super::meeting::News;
use super::super::observer::Observer;
use super::{Letter, Worker};
use crate::collectives::passing_ns;
use kizami_graph::{Step, Tie, TieKind};
use kizami_model::Op;

impl<const LANES: usize, O: Observer<LANES>> Worker<'_, LANES, O> {
    /// Tells the others what they may be waiting for.
    pub(super) fn tell(&mut self, strand: u32, index: u64, step: &Step, ties: &[Tie]) {
        let mut woken = std::mem::take(&mut self.woken);
        let number = strand + self.range.start;
        let mut note = Note {
            recorded_ns: step.start_ns,
            new_ns: self.walking[strand as usize].start_ns,
            strand: number,
            step: index,
        };
        for tie in ties {
            match tie.kind() {
                TieKind::Departs => {
                    if self.modelled {
                        self.leaves(strand, tie.bytes(), &mut note);
                    }
                    let to = self.graph.channels[tie.place() as usize].to;
                    match self.thread_of(to) {
                        thread if thread == self.own => woken.extend(self.departures.tell(tie.key, note)),
                        thread => self.letters[thread].push(Letter::Departed(tie.key, note)),
                    }
                }
                TieKind::Posts => {
                    let from = self.graph.channels[tie.place() as usize].from;
                    match self.thread_of(from) {
                        thread if thread == self.own => woken.extend(self.postings.tell(tie.key, note)),
                        thread => self.letters[thread].push(Letter::Posted(tie.key, note)),
                    }
                }
                kind if kind.tells() => {
                    let rank = self.graph.strands[number as usize].rank;
                    note.new_ns = self.walking[strand as usize].start_ns;
                    if let Some(news) = self.meetings.come(*tie, step.op(), rank, note, &mut woken) {
                        self.spread(tie.place(), &news);
                    }
                    if matches!(kind, TieKind::Passes | TieKind::PassesAsRoot) {
                        self.passes(strand, *tie, step.op());
                    }
                }
                _ => break,
            }
        }
        if !woken.is_empty() {
            self.wake(&mut woken);
        }
        self.woken = woken;
    }

    /// When a message leaves: in modelled lanes after what it costs its sender, and when the network is free.
    #[inline]
    fn leaves(&mut self, strand: u32, bytes: u64, note: &mut Note<LANES>) {
        for (lane, setting) in self.lanes.iter().enumerate() {
            if let Some(model) = setting.model() {
                let walking = &mut self.walking[strand as usize];
                let busy_ns = walking.busy_ns[lane].saturating_add(model.handling_ns(bytes).round() as i64);
                walking.busy_ns[lane] = busy_ns;
                let leaves_ns = busy_ns.max(walking.free_ns[lane]);
                let taken_ns = (model.gap_ns + model.per_byte_ns * bytes as f64).round() as i64;
                walking.free_ns[lane] = leaves_ns.saturating_add(taken_ns);
                walking.left_ns[lane] = leaves_ns;
                note.new_ns[lane] = leaves_ns;
            }
        }
    }

    /// In modelled lanes: what a collective costs one that waits for nobody in it.
    fn passes(&mut self, strand: u32, tie: Tie, op: Op) {
        let ranks = self.graph.members.sizes[tie.place() as usize];
        for (lane, setting) in self.lanes.iter().enumerate() {
            if let Some(model) = setting.model() {
                let own_ns = passing_ns(op, ranks, tie.bytes(), model).round() as i64;
                let busy_ns = &mut self.walking[strand as usize].busy_ns[lane];
                *busy_ns = busy_ns.saturating_add(own_ns);
            }
        }
    }

    /// News of a collective go to all threads that have members in it.
    fn spread(&mut self, place: u32, news: &News<LANES>) {
        let members = &self.graph.members;
        let mut threads: Vec<usize> = members.of(place).map(|rank| self.thread_of(rank)).collect();
        threads.sort_unstable();
        threads.dedup();
        for thread in threads.into_iter().filter(|thread| *thread != self.own) {
            self.letters[thread].push(Letter::Collective(news.clone()));
        }
    }
}

//! What memory needs: whoever may have written it.

use super::Slice;
use super::trial::Step;
use crate::analysis::{ANY_LENGTH, Access};
use crate::effects::{Effects, Use};
use crate::memory::{Object, Place};
use crate::program::*;

impl Slice<'_> {
    pub(super) fn need_target(&mut self, address: ValueId, length: u64) {
        for place in self.analysis.memory.targets(address).to_vec() {
            let (place, length) = self.analysis.reached(address, place, length);
            self.need_memory(place, length);
        }
    }

    /// Needs what is at a place: whoever may have written it.
    pub(super) fn need_memory(&mut self, place: Place, length: u64) {
        if matches!(self.analysis.memory.object(place.object), Object::Code(_))
            || !self.memory.insert((place, length))
        {
            return;
        }
        self.note(Step::Memory(place, length));
        if let Some(name) = self.analysis.library_global(place.object) {
            for call in self.analysis.global_writers.get(&name).cloned().unwrap_or_default() {
                self.keep(call);
            }
        }
        let writers: Vec<Access> = self.analysis.writers_of(place, length).copied().collect();
        for access in writers {
            self.keep(access.by);
            if let Some((to, from)) = self.analysis.copy_of(access.by) {
                self.need_copied(place, length, to, from);
            }
            let payload = |effects: &Effects| {
                access.argument.is_some_and(|number| matches!(effects.of(number as usize), Use::Data(_)))
            };
            if self.analysis.mpi_call(access.by).is_some_and(payload) {
                self.carry(access.by);
            }
        }
    }

    fn need_copied(&mut self, place: Place, length: u64, to: ValueId, from: ValueId) {
        let memory = &self.analysis.memory;
        for target in memory.targets(to).iter().filter(|target| target.object == place.object) {
            for source in memory.targets(from).to_vec() {
                let piece = source.across(*target, place);
                self.need_memory(piece, if piece.stride == 1 { ANY_LENGTH } else { length });
            }
        }
    }
}

//! The writer: calls go in, bytes come out when there are enough of them.

use super::block::{Block, LANE_WORDS, MAGIC, Sizes};
use super::fold::Folder;
use super::lane::Memories;
use super::record::Tag;
use super::signature::{LANES_MOST, Numbered, Signature, Signatures, VALUES_MOST, VARYING, pack_values};
use std::sync::atomic::AtomicU64;

/// Takes in the calls of one thread, in memory of a fixed size.
pub struct Recorder<'a> {
    block: Block<'a>,
    folder: Folder,
    signatures: Signatures,
    memories: Memories,
}

impl<'a> Recorder<'a> {
    /// Begins in zeroed memory of at least [`Sizes::bytes`] bytes, aligned to 64 of them. Nothing comes out if it is
    /// too small or a size is no power of two from 16 to 262,144.
    pub fn start(memory: &'a [AtomicU64], sizes: Sizes) -> Option<Recorder<'a>> {
        let mut block = Block::start(memory, sizes)?;
        let folder = Folder::start(&mut block);
        let signatures = Signatures::start(&mut block);
        // The last word of all that is written at the start: who finds it finds a whole block.
        block.put(0, MAGIC);
        Some(Recorder { block, folder, signatures, memories: Memories::start() })
    }

    /// Takes in a call with its values, at most [`VALUES_MOST`] of them (those beyond are left out).
    ///
    /// Returns true when [`Recorder::take`] should be called soon. If it is not, recording stops before the memory is full;
    /// what was recorded stays good, and what comes after is counted.
    #[inline(always)]
    pub fn call(&mut self, signature: &Signature, values: &[u64]) -> bool {
        let values = &values[..values.len().min(VALUES_MOST)];
        if !self.block.has_room() {
            self.folder.lose(&mut self.block);
            return true;
        }
        let words = signature.words();
        let expected = self.folder.expected_symbol();
        let count = pack_values(values.len(), false);
        let known = match Signatures::is(&self.block, expected, &words, count) {
            Some(known) => known,
            None => match self.signatures.find(&mut self.block, words, count) {
                Some(known) => known,
                None => return self.varying(words, values),
            },
        };
        self.take_in(known, values)
    }

    #[inline(always)]
    fn take_in(&mut self, known: Numbered, values: &[u64]) -> bool {
        for (index, &value) in values.iter().enumerate() {
            self.memories.append_value(&mut self.block, known.lanes + LANE_WORDS * index, value);
        }
        self.folder.push(&mut self.block, &mut self.memories, known.symbol);
        self.block.wants_taking()
    }

    /// Takes in a call of which there are too many shapes: its peers and tags become values.
    #[cold]
    fn varying(&mut self, words: [u64; 4], values: &[u64]) -> bool {
        let general = [words[0], words[1], 0, 0];
        match self.signatures.find(&mut self.block, general, pack_values(values.len(), true)) {
            Some(known) => {
                let halves = |word: u64| [word & u64::from(u32::MAX), word >> 32];
                let [[peer, recv_peer], [tag, recv_tag]] = [halves(words[2]), halves(words[3])];
                let mut all = [0; LANES_MOST];
                all[..VARYING].copy_from_slice(&[peer, recv_peer, tag, recv_tag]);
                all[VARYING..][..values.len()].copy_from_slice(values);
                self.take_in(known, &all[..VARYING + values.len()])
            }
            None => self.literal(&words, values),
        }
    }

    /// Takes in a call that got no number: it is written out, and symbol 0 stands for it.
    fn literal(&mut self, words: &[u64; 4], values: &[u64]) -> bool {
        self.block.emit(Tag::Literal.pack());
        words.iter().for_each(|&word| self.block.emit(word));
        self.block.emit(values.len() as u64);
        values.iter().for_each(|&value| self.block.emit(value));
        self.block.commit();
        self.folder.push(&mut self.block, &mut self.memories, 0);
        self.block.wants_taking()
    }

    /// Hands finished bytes to `append`, which must have put them at the end of where they are kept when it returns.
    /// `buffer` is where they are in the meantime; what does not fit stays for the next time.
    pub fn take(&mut self, buffer: &mut [u8], append: impl FnOnce(&[u8])) {
        let count = self.block.copy_out(buffer);
        append(&buffer[..count]);
        self.block.handed_out(count);
    }

    /// Calls that were not recorded because the bytes were not taken.
    pub fn lost(&self) -> u64 {
        self.folder.lost(&self.block)
    }

    #[cfg(test)]
    pub(crate) fn block(&mut self) -> &mut Block<'a> {
        &mut self.block
    }
}

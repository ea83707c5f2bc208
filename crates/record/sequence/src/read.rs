//! Reading: what was handed out and the block as it was left become the folded sequence.
//!
//! Takes any bytes. A block left in the middle of a change is taken back to before it, so the sequence is exact up to the
//! call that was being recorded, which may be missing. Loops that were open are closed. Nothing is unrolled: memory and
//! time depend on the number of bytes, whatever they claim.

use super::block::{self, LOG_MOST, Layout, MAGIC, MEMORY_WORDS, SHAPE_WORDS, STACK_MOST, Sizes};
use super::fold::PLACE_BITS;
use super::folded::{FoldedSequence, Part, Shape};
use super::lane::{BUFFER_BYTES, State};
use super::operation::{HISTORY, Lane, Operation, Operations, Run};
use super::record::{Tag, Token, loop_of};
use super::signature::{Signature, VALUES_MOST, unpack_tail};
use kizami_wire::varint::Input;
use std::fmt;

/// Why a sequence cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The block was never begun, is of another version, or is cut off.
    NoBlock,
    /// Bytes that were handed out are missing, or there are more than were handed out.
    OutputLength {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be, at least.
        expected: u64,
    },
    /// The bytes contradict themselves; what is wrong.
    Nonsense(&'static str),
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::NoBlock => formatter.write_str("there is no block of folded calls here"),
            Damage::OutputLength { found, expected } => {
                write!(formatter, "{found} bytes of folded calls were kept, where {expected} were handed out")
            }
            Damage::Nonsense(what) => write!(formatter, "folded calls are damaged: {what}"),
        }
    }
}

impl std::error::Error for Damage {}

const CUT_OFF: Damage = Damage::Nonsense("a record is cut off");

/// A block as it was found, with an unfinished change taken back.
struct ReadBlock {
    words: Vec<u64>,
    at: Layout,
}

impl ReadBlock {
    fn new(bytes: &[u8]) -> Result<ReadBlock, Damage> {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
        let mut words: Vec<u64> = bytes.chunks_exact(8).map(word).collect();
        if words.len() < block::LOG || words[0] != MAGIC {
            return Err(Damage::NoBlock);
        }
        let at = Sizes::from_words(|index| words[index]).and_then(Layout::new).ok_or(Damage::NoBlock)?;
        if words.len() < at.words {
            return Err(Damage::NoBlock);
        }
        let logged = words[block::LOG_COUNT] as usize;
        if logged > LOG_MOST {
            return Err(Damage::Nonsense("the log is too long"));
        }
        for note in (0..logged).rev() {
            let [index, old] = [words[block::LOG + 2 * note], words[block::LOG + 2 * note + 1]];
            let word = usize::try_from(index).ok().and_then(|index| words.get_mut(index));
            *word.ok_or(Damage::Nonsense("the log points nowhere"))? = old;
        }
        // Taking back may not change what everything is measured by.
        if words[0] != MAGIC || Sizes::from_words(|index| words[index]) != Some(at.sizes) {
            return Err(Damage::Nonsense("the log changes the sizes"));
        }
        Ok(ReadBlock { words, at })
    }

    /// The output, beginning with what was handed out.
    fn output(&self, handed_out: &[u8]) -> Result<Vec<u8>, Damage> {
        let [base, end] = [self.words[block::OUT_BASE], self.words[block::OUT_END]];
        let found = handed_out.len() as u64;
        if base > end || end - base > self.at.out_bytes {
            return Err(Damage::Nonsense("the output has no sensible length"));
        }
        if found < base || found > end {
            return Err(Damage::OutputLength { found, expected: base });
        }
        // Bytes that were kept, but not yet ticked off, are in both places.
        let rest = (found..end).map(|at| {
            let place = at & (self.at.out_bytes - 1);
            (self.words[self.at.out + (place / 8) as usize] >> (8 * (place % 8))) as u8
        });
        Ok(handed_out.iter().copied().chain(rest).collect())
    }

    fn shapes(&self) -> Result<Vec<Shape>, Damage> {
        let count = self.words[block::SHAPES];
        if count > u64::from(self.at.sizes.shapes) {
            return Err(Damage::Nonsense("there are more shapes than fit"));
        }
        let mut lanes = 0;
        let entries = self.words[self.at.shapes..].chunks_exact(SHAPE_WORDS);
        let shape = |entry: &[u64]| {
            let (first, values, varies) = unpack_tail(entry[4]);
            let mut shape = Shape { signature: Signature::default(), values: 0, varies };
            if first != lanes || values > VALUES_MOST {
                return Err(Damage::Nonsense("values of shapes overlap"));
            }
            shape.signature = Signature::from_words([entry[0], entry[1], entry[2], entry[3]]);
            shape.values = values as u8;
            lanes += shape.lanes();
            if lanes > self.at.sizes.values as usize {
                return Err(Damage::Nonsense("there are more values than fit"));
            }
            Ok(shape)
        };
        entries.take(count as usize).skip(1).map(shape).collect()
    }

    /// What the block knows of a side stream beyond the pieces in the output.
    fn lane_rest(&self, lane: usize) -> Result<Vec<u8>, Damage> {
        let at = self.at.lanes + lane * block::LANE_WORDS;
        let mut operations = Operations::default();
        let mut bytes = Vec::new();
        match State::unpack(self.words[at + 1]) {
            State::Empty => {}
            State::Constant(more) => {
                operations.push(Operation::literal(0, self.words[at], 0));
                operations.push_run(Run::SAME, more);
            }
            State::Direct(more) => operations.push_run(Run::SAME, more),
            State::Remembering(state) => {
                if state.memory >= self.at.sizes.changing as usize || state.buffered > BUFFER_BYTES {
                    return Err(Damage::Nonsense("a side stream's memory is nowhere"));
                }
                let memory = &self.words[self.at.memories + state.memory * MEMORY_WORDS..][..MEMORY_WORDS];
                let buffer = memory[1 + HISTORY..].iter().flat_map(|word| word.to_le_bytes());
                bytes.extend(buffer.take(state.buffered));
                operations.push_run(state.run, state.length);
            }
        }
        bytes.extend_from_slice(operations.bytes());
        Ok(bytes)
    }

    fn window(&self) -> Result<impl Iterator<Item = Token> + '_, Damage> {
        let [start, end] = [self.words[block::WINDOW_START], self.words[block::WINDOW_END]];
        let size = u64::from(self.at.sizes.window);
        if start > end || end - start > size {
            return Err(Damage::Nonsense("the window has no sensible length"));
        }
        Ok((start..end).map(move |at| self.words[self.at.window + (at & (size - 1)) as usize] as u32))
    }

    /// Pairs of words in a stack whose height is in the word `count`, from the bottom.
    fn stack(&self, count: usize, at: usize) -> Result<&[[u64; 2]], Damage> {
        let height = self.words[count] as usize;
        if height > STACK_MOST {
            return Err(Damage::Nonsense("too many open loops"));
        }
        Ok(&self.words[at..].as_chunks::<2>().0[..height])
    }
}

/// The sequence as it is being put together.
struct Builder {
    folded: FoldedSequence,
}

impl Builder {
    fn lane(lanes: &mut Vec<Vec<u8>>, lane: usize, most: usize) -> Result<&mut Vec<u8>, Damage> {
        if lane >= most {
            return Err(Damage::Nonsense("a side stream of nothing"));
        }
        if lanes.len() <= lane {
            lanes.resize(lane + 1, Vec::new());
        }
        Ok(&mut lanes[lane])
    }

    fn part(&mut self) -> &mut Part {
        self.folded.parts.last_mut().expect("there is always a part")
    }

    fn token(&mut self, token: Token) -> Result<(), Damage> {
        let symbols = self.folded.shapes.len() as u32;
        let part = self.part();
        let known = match loop_of(token) {
            Some(number) => number < part.loops(),
            None => token / 2 <= symbols,
        };
        if !known {
            return Err(Damage::Nonsense("an item that was never named"));
        }
        part.items.push(token);
        Ok(())
    }

    fn records(&mut self, output: &[u8], sizes: Sizes) -> Result<(), Damage> {
        let mut input = Input::new(output);
        while !input.is_empty() {
            match Tag::read(&mut input).ok_or(CUT_OFF)? {
                Tag::Token(token) => self.token(token)?,
                Tag::Body(length) => {
                    let length = usize::try_from(length).ok().filter(|&length| length <= input.left());
                    let mut body = Vec::with_capacity(length.ok_or(CUT_OFF)?);
                    for _ in 0..body.capacity() {
                        let token = input.number().and_then(|token| u32::try_from(token).ok());
                        body.push(token.ok_or(CUT_OFF)?);
                    }
                    let symbols = self.folded.shapes.len();
                    self.part().add_loop(&body, symbols).map_err(Damage::Nonsense)?;
                }
                Tag::Forget => self.folded.parts.push(Part::default()),
                Tag::Literal => {
                    let before = input;
                    let values = |input: &mut Input<'_>| {
                        (0..4).try_for_each(|_| input.number().map(drop))?;
                        let count = input.index(VALUES_MOST + 1)?;
                        (0..count).try_for_each(|_| input.number().map(drop))
                    };
                    values(&mut input).ok_or(CUT_OFF)?;
                    let mut whole = before;
                    let bytes = whole.take(before.left() - input.left()).expect("they were just read");
                    self.folded.literals.extend_from_slice(bytes);
                }
                Tag::ValueLane(lane) => {
                    let bytes = input.bytes().ok_or(CUT_OFF)?;
                    Builder::lane(&mut self.folded.values, lane, sizes.values as usize)?
                        .extend_from_slice(bytes);
                }
                Tag::LoopLane(lane) => {
                    let bytes = input.bytes().ok_or(CUT_OFF)?;
                    Builder::lane(&mut self.folded.counts, lane, sizes.loops as usize)?
                        .extend_from_slice(bytes);
                }
            }
        }
        Ok(())
    }

    /// Loops that were open end here, and what waited comes behind them.
    fn open_loops(&mut self, found: &ReadBlock) -> Result<(), Damage> {
        let mut expected = None;
        for &[number, progress] in found.stack(block::DEPTH, block::FRAMES)? {
            let number =
                usize::try_from(number).map_err(|_| Damage::Nonsense("an open loop without number"))?;
            if expected.is_some_and(|token: Token| loop_of(token) != Some(number)) {
                return Err(Damage::Nonsense("a loop that is open in another does not belong there"));
            }
            let (rounds, begun) = (progress >> PLACE_BITS, (progress & ((1 << PLACE_BITS) - 1)) as usize);
            let body =
                self.part().body(number).ok_or(Damage::Nonsense("an open loop that was never named"))?;
            expected = Some(*body.get(begun).ok_or(Damage::Nonsense("an open loop beyond its end"))?);
            let begun = body[..begun].to_vec();
            if rounds > 0 {
                let lane = Builder::lane(&mut self.folded.counts, number, found.at.sizes.loops as usize)?;
                append_to_lane(lane, rounds)?;
                self.part().items.push(number as u32 * 2 + 1);
            }
            self.part().items.extend_from_slice(&begun);
        }
        for &[number, range] in found.stack(block::PENDING, block::PENDINGS)?.iter().rev() {
            let (from, to) = (range as u32 as usize, (range >> 32) as usize);
            let body = usize::try_from(number).ok().and_then(|number| self.part().body(number));
            let items = body.and_then(|body| body.get(from..to));
            let items = items.ok_or(Damage::Nonsense("items that wait are nowhere"))?.to_vec();
            self.part().items.extend_from_slice(&items);
        }
        Ok(())
    }
}

/// Appends a value to a stored side stream.
fn append_to_lane(lane: &mut Vec<u8>, value: u64) -> Result<(), Damage> {
    let last = Lane::new(lane).last();
    let (before, scale) = last.ok_or(Damage::Nonsense("a side stream makes no sense"))?;
    let mut operations = Operations::default();
    if scale > 0 {
        operations.push(Operation::Scale(0));
    }
    operations.push(Operation::literal(before, value, 0));
    lane.extend_from_slice(operations.bytes());
    Ok(())
}

impl FoldedSequence {
    /// Puts the sequence together from all bytes that were handed out, in their order, and the block.
    pub fn read(handed_out: &[u8], block: &[u8]) -> Result<FoldedSequence, Damage> {
        let found = ReadBlock::new(block)?;
        let output = found.output(handed_out)?;
        let folded = FoldedSequence {
            shapes: found.shapes()?,
            parts: vec![Part::default()],
            counts: Vec::new(),
            values: Vec::new(),
            literals: Vec::new(),
            lost: found.words[block::LOST],
        };
        let mut builder = Builder { folded };
        let sizes = found.at.sizes;
        builder.records(&output, sizes)?;
        let (loops, values) = (sizes.loops as usize, sizes.values as usize);
        for number in 0..loops {
            let rest = found.lane_rest(number)?;
            if !rest.is_empty() {
                Builder::lane(&mut builder.folded.counts, number, loops)?.extend_from_slice(&rest);
            }
        }
        for number in 0..values {
            let rest = found.lane_rest(loops + number)?;
            if !rest.is_empty() {
                Builder::lane(&mut builder.folded.values, number, values)?.extend_from_slice(&rest);
            }
        }
        for token in found.window()? {
            builder.token(token)?;
        }
        builder.open_loops(&found)?;
        Ok(builder.folded)
    }
}

//! A call sequence with folded loops in memory: expands it call by call, or counts its calls without expanding it.
//!
//! [`FoldedSequence::calls`] returns every call as it was recorded; [`FoldedSequence::totals`] counts calls by symbol.
//! Both are safe on sequences read from arbitrary bytes: the time per call is bounded by the number of bytes, a loop
//! that iterates without a call is an error instead of a hang, and a count above 64 bits is an error instead of a wrong
//! number.

use super::block::DEPTH_MOST;
use super::operation::Lane;
use super::read::Damage;
use super::record::{Token, loop_of};
use super::signature::{LANES_MOST, Signature, VALUES_MOST, VARYING};
use kizami_wire::varint::Input;

/// A shape that has a number, and how many values its calls have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What all its calls have in common.
    pub signature: Signature,
    /// How many values each has.
    pub values: u8,
    /// Peers and tags differ from call to call, and those of the signature mean nothing.
    pub varies: bool,
}

impl Shape {
    /// How many side streams it has.
    pub(crate) fn lanes(&self) -> usize {
        usize::from(self.values) + if self.varies { VARYING } else { 0 }
    }
}

/// A stretch of the sequence with loops of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Bodies of all loops, one after another, and where each ends.
    pub(crate) bodies: Vec<Token>,
    pub(crate) ends: Vec<u32>,
    depths: Vec<u8>,
    /// The stretch itself.
    pub(crate) items: Vec<Token>,
}

impl Part {
    pub(crate) fn loops(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn body(&self, number: usize) -> Option<&[Token]> {
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Some(&self.bodies[start..end])
    }

    /// The next loop, made of calls of so many shapes and of loops before it.
    pub(crate) fn add_loop(&mut self, body: &[Token], symbols: usize) -> Result<(), &'static str> {
        let known = |&token: &Token| match loop_of(token) {
            Some(number) => number < self.loops(),
            None => token as usize / 2 <= symbols,
        };
        if body.is_empty() || !body.iter().all(known) {
            return Err("the body of a loop is empty or of items that were never named");
        }
        let depth = body.iter().filter_map(|&token| loop_of(token)).map(|number| self.depths[number]).max();
        let depth = depth.map_or(1, |depth| depth + 1);
        if usize::from(depth) > DEPTH_MOST {
            return Err("loops are nested too deeply");
        }
        self.bodies.extend_from_slice(body);
        self.ends.push(u32::try_from(self.bodies.len()).map_err(|_| "too many loops")?);
        self.depths.push(depth);
        Ok(())
    }
}

/// The folded sequence of calls of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedSequence {
    /// Shapes by their symbols, from symbol 1.
    pub(crate) shapes: Vec<Shape>,
    pub(crate) parts: Vec<Part>,
    /// Side streams: how often loops went round.
    pub(crate) counts: Vec<Vec<u8>>,
    /// Side streams: values of shapes, in the order of shapes.
    pub(crate) values: Vec<Vec<u8>>,
    /// Calls that have no symbol, in their order.
    pub(crate) literals: Vec<u8>,
    pub(crate) lost: u64,
}

/// One call of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its shape.
    pub signature: Signature,
    values: [u64; VALUES_MOST],
    pub(crate) count: u8,
}

impl Call {
    /// Its values, in the order in which they were given.
    pub fn values(&self) -> &[u64] {
        &self.values[..usize::from(self.count)]
    }

    pub(crate) fn values_mut(&mut self) -> &mut [u64] {
        &mut self.values[..usize::from(self.count)]
    }
}

impl FoldedSequence {
    /// The shapes, in the order in which they were first seen.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Changes the signatures, as from numbers of a process to those of the run. Where peers and tags vary they are
    /// not in the signature.
    pub fn map_signatures(&mut self, change: impl Fn(&mut Signature)) -> Result<(), Damage> {
        self.shapes.iter_mut().for_each(|shape| change(&mut shape.signature));
        let mut changed = Vec::new();
        let mut input = Input::new(&self.literals);
        while !input.is_empty() {
            let mut call = read_literal(&mut input).ok_or(BAD_LITERAL)?;
            change(&mut call.signature);
            write_literal(&mut changed, &call);
        }
        self.literals = changed;
        Ok(())
    }

    /// Calls at the end that were not recorded.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// All calls, in their order. Ends after the first error.
    pub fn calls(&self) -> Calls<'_> {
        let mut first = 0;
        let firsts = self.shapes.iter().map(|shape| {
            let at = first;
            first += shape.lanes();
            at
        });
        Calls {
            folded: self,
            firsts: firsts.collect(),
            part: 0,
            item: 0,
            open: Vec::with_capacity(DEPTH_MOST),
            counts: self.counts.iter().map(|bytes| Lane::new(bytes)).collect(),
            values: self.values.iter().map(|bytes| Lane::new(bytes)).collect(),
            literals: Input::new(&self.literals),
            empty_rounds_left: self.parts.iter().map(|part| part.bodies.len() + part.items.len()).sum(),
            failed: false,
        }
    }

    /// How many calls there are of each symbol; symbol 0 are those without a shape of their own. Unrolls nothing.
    pub fn totals(&self) -> Result<Vec<u64>, Damage> {
        const TOO_MANY: Damage = Damage::Nonsense("more calls than can be counted");
        let mut symbols = vec![0u64; self.shapes.len() + 1];
        let mut counts: Vec<Lane<'_>> = self.counts.iter().map(|bytes| Lane::new(bytes)).collect();
        for part in &self.parts {
            let mut occurrences = vec![0u64; part.loops()];
            let mut add = |occurrences: &mut Vec<u64>, items: &[Token], times: u64| {
                items.iter().try_for_each(|&token| {
                    let total = match loop_of(token) {
                        Some(number) => &mut occurrences[number],
                        None => &mut symbols[token as usize / 2],
                    };
                    *total = total.checked_add(times)?;
                    Some(())
                })
            };
            add(&mut occurrences, &part.items, 1).ok_or(TOO_MANY)?;
            // A loop is only in loops that come after it.
            for number in (0..part.loops()).rev() {
                if occurrences[number] == 0 {
                    continue;
                }
                let lane = counts.get_mut(number).ok_or(NO_COUNT)?;
                let rounds = lane.sum(occurrences[number]).ok_or(NO_COUNT)?;
                add(&mut occurrences, part.body(number).unwrap_or_default(), rounds).ok_or(TOO_MANY)?;
            }
        }
        Ok(symbols)
    }
}

const NO_COUNT: Damage = Damage::Nonsense("how often a loop went round is missing");
const NO_VALUE: Damage = Damage::Nonsense("a value is missing");
const EMPTY_ROUND: Damage = Damage::Nonsense("a loop goes round without a call");
const BAD_LITERAL: Damage = Damage::Nonsense("a call without symbol is missing");

pub(crate) fn read_literal(input: &mut Input<'_>) -> Option<Call> {
    let mut words = [0; 4];
    for word in &mut words {
        *word = input.number()?;
    }
    let count = input.index(VALUES_MOST + 1)?;
    let mut values = [0; VALUES_MOST];
    for value in &mut values[..count] {
        *value = input.number()?;
    }
    Some(Call { signature: Signature::from_words(words), values, count: count as u8 })
}

pub(crate) fn write_literal(bytes: &mut Vec<u8>, call: &Call) {
    use kizami_wire::varint::put;
    call.signature.words().into_iter().for_each(|word| put(bytes, word));
    put(bytes, u64::from(call.count));
    call.values().iter().for_each(|&value| put(bytes, value));
}

/// A loop being gone through.
struct Open<'a> {
    body: &'a [Token],
    place: usize,
    rounds_left: u64,
    /// Whether this round had a call.
    called: bool,
}

/// The calls of a sequence; see [`FoldedSequence::calls`].
pub struct Calls<'a> {
    folded: &'a FoldedSequence,
    /// The first side stream of each shape's values.
    firsts: Vec<usize>,
    part: usize,
    item: usize,
    open: Vec<Open<'a>>,
    counts: Vec<Lane<'a>>,
    values: Vec<Lane<'a>>,
    literals: Input<'a>,
    /// Rounds without a call are made only by chance, when a loop is found among what is taken in again.
    empty_rounds_left: usize,
    failed: bool,
}

impl Calls<'_> {
    /// The symbol of the next call.
    fn symbol(&mut self) -> Result<Option<u32>, Damage> {
        loop {
            let Some(token) = self.item()? else { return Ok(None) };
            let Some(number) = loop_of(token) else {
                if let Some(open) = self.open.last_mut() {
                    open.called = true;
                }
                return Ok(Some(token / 2));
            };
            let rounds_left = self.counts.get_mut(number).and_then(Lane::next).ok_or(NO_COUNT)?;
            if rounds_left > 0 {
                let body = self.folded.parts[self.part].body(number).unwrap_or_default();
                self.open.push(Open { body, place: 0, rounds_left, called: false });
            }
        }
    }

    /// The next item: of the innermost open loop, or of the sequence itself.
    fn item(&mut self) -> Result<Option<Token>, Damage> {
        while let Some(open) = self.open.last_mut() {
            if let Some(&token) = open.body.get(open.place) {
                open.place += 1;
                return Ok(Some(token));
            }
            if !open.called {
                self.empty_rounds_left = self.empty_rounds_left.checked_sub(1).ok_or(EMPTY_ROUND)?;
            }
            let called = std::mem::take(&mut open.called);
            open.place = 0;
            open.rounds_left -= 1;
            if open.rounds_left == 0 {
                self.open.pop();
                if let Some(outer) = self.open.last_mut() {
                    outer.called |= called;
                }
            }
        }
        while let Some(part) = self.folded.parts.get(self.part) {
            if let Some(&token) = part.items.get(self.item) {
                self.item += 1;
                return Ok(Some(token));
            }
            (self.part, self.item) = (self.part + 1, 0);
        }
        Ok(None)
    }

    fn call(&mut self) -> Result<Option<Call>, Damage> {
        let Some(symbol) = self.symbol()? else { return Ok(None) };
        let Some(index) = (symbol as usize).checked_sub(1) else {
            return read_literal(&mut self.literals).ok_or(BAD_LITERAL).map(Some);
        };
        let shape = self.folded.shapes[index];
        let mut all = [0; LANES_MOST];
        for (value, lane) in all[..shape.lanes()].iter_mut().zip(self.firsts[index]..) {
            *value = self.values.get_mut(lane).and_then(Lane::next).ok_or(NO_VALUE)?;
        }
        let mut signature = shape.signature;
        if shape.varies {
            let [peer, recv_peer, tag, recv_tag] = [all[0], all[1], all[2], all[3]].map(|value| value as i32);
            signature = Signature { peer, recv_peer, tag, recv_tag, ..signature };
            all.rotate_left(VARYING);
        }
        let values = std::array::from_fn(|index| all[index]);
        Ok(Some(Call { signature, values, count: shape.values }))
    }
}

impl Iterator for Calls<'_> {
    type Item = Result<Call, Damage>;

    fn next(&mut self) -> Option<Result<Call, Damage>> {
        if self.failed {
            return None;
        }
        let call = self.call();
        self.failed = call.is_err();
        call.transpose()
    }
}

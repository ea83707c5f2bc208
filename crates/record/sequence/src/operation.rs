//! How a side stream is stored, and reading it back.
//!
//! A stream is a list of operations, each a number. An even one is a value: half of it is the difference to the value
//! before (zigzag), in units of two to the power of the scale. The three lowest bits of an odd one say what it is:
//!
//! ```text
//! 1   a run of values that are each the same as 1..16 values ago: (length * 16 + values ago - 1)
//! 3   a run of values that are each as much more than the one before as that one was: length
//! 5   a value that is too far from the one before: 8 bytes follow
//! 7   the scale from here on; it is 0 at first
//! ```
//!
//! Before the first value all values were 0. A run is read without being unrolled; [`Lane::sum`] adds up any number of
//! values in time that depends on the bytes alone.

use kizami_wire::varint::{self, Input};

/// Values looked back at.
pub(crate) const HISTORY: usize = 16;

/// The longest run that is stored as one; nothing that runs in our time comes near.
const RUN_MOST: u64 = (1 << 57) - 1;

/// A rule by which values follow from those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// The same as so many values ago, 1 to [`HISTORY`].
    Ago(u32),
    /// As much more as the value before.
    Onward,
}

impl Run {
    pub(crate) const SAME: Run = Run::Ago(1);

    pub(crate) fn pack(self) -> u32 {
        match self {
            Run::Ago(ago) => ago - 1,
            Run::Onward => HISTORY as u32,
        }
    }

    pub(crate) fn unpack(bits: u32) -> Run {
        if bits < HISTORY as u32 { Run::Ago(bits + 1) } else { Run::Onward }
    }

    /// The next value; nothing if it would be no number.
    #[inline]
    pub(crate) fn next(self, ago: &impl Fn(usize) -> u64) -> Option<u64> {
        match self {
            Run::Ago(values) => Some(ago(values as usize)),
            Run::Onward => onward(ago(1), ago(2), 1),
        }
    }

    /// A rule that gives this value, if there is one.
    pub(crate) fn that_gives(value: u64, ago: &impl Fn(usize) -> u64) -> Option<Run> {
        let same = (1..=HISTORY).find(|&values| ago(values) == value);
        same.map(|values| Run::Ago(values as u32))
            .or_else(|| (onward(ago(1), ago(2), 1) == Some(value)).then_some(Run::Onward))
    }
}

/// `last` and so many times its difference to the value before it.
fn onward(last: u64, before: u64, times: u64) -> Option<u64> {
    let step = i128::from(last) - i128::from(before);
    step.checked_mul(i128::from(times))
        .and_then(|rise| rise.checked_add(i128::from(last)))
        .and_then(|value| u64::try_from(value).ok())
}

/// One stored operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A difference in units of the scale.
    Near(i64),
    Far(u64),
    Run(Run, u64),
    Scale(u32),
}

impl Operation {
    /// The operation for a value whose difference to the one before has as many zeros at its end as the scale says.
    pub(crate) fn literal(before: u64, value: u64, scale: u32) -> Operation {
        let difference = value.wrapping_sub(before) as i64 >> scale;
        if varint::zigzag(difference) >> 63 == 0 {
            Operation::Near(difference)
        } else {
            Operation::Far(value)
        }
    }

    /// A value as one byte, which a run of one value does not beat; nothing if it takes more.
    pub(crate) fn small(before: u64, value: u64, scale: u64) -> Option<Operation> {
        let difference = value.wrapping_sub(before) as i64;
        let fits =
            u64::from(difference.trailing_zeros()) >= scale && varint::zigzag(difference >> scale) < 64;
        fits.then(|| Operation::Near(difference >> scale))
    }
}

/// A few operations as bytes.
#[derive(Default)]
pub(crate) struct Operations {
    bytes: [u8; 24],
    length: usize,
}

impl Operations {
    pub(crate) fn push(&mut self, operation: Operation) {
        let number = match operation {
            Operation::Near(difference) => varint::zigzag(difference) << 1,
            Operation::Run(Run::Ago(ago), length) => {
                (length.min(RUN_MOST) << 4 | u64::from(ago - 1)) << 3 | 1
            }
            Operation::Run(Run::Onward, length) => length.min(RUN_MOST) << 3 | 3,
            Operation::Far(_) => 5,
            Operation::Scale(scale) => u64::from(scale) << 3 | 7,
        };
        varint::each_byte(number, |byte| self.byte(byte));
        if let Operation::Far(value) = operation {
            value.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
        }
    }

    pub(crate) fn push_run(&mut self, run: Run, length: u64) {
        if length > 0 {
            self.push(Operation::Run(run, length));
        }
    }

    fn byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// A side stream being read.
#[derive(Clone, Debug)]
pub(crate) struct Lane<'a> {
    input: Input<'a>,
    /// The last values, the latest first.
    history: [u64; HISTORY],
    run: Run,
    left: u64,
    scale: u32,
}

impl<'a> Lane<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Lane<'a> {
        Lane { input: Input::new(bytes), history: [0; HISTORY], run: Run::SAME, left: 0, scale: 0 }
    }

    /// The next value; nothing at the end or where the bytes make no sense.
    pub(crate) fn next(&mut self) -> Option<u64> {
        loop {
            if self.left > 0 {
                let value = self.run.next(&|ago: usize| self.history[ago - 1])?;
                self.left -= 1;
                self.remember(value);
                return Some(value);
            }
            if let Some(value) = self.operation()? {
                self.remember(value);
                return Some(value);
            }
        }
    }

    /// The last of all values, 0 if there are none, and the scale; nothing where the bytes make no sense.
    pub(crate) fn last(mut self) -> Option<(u64, u32)> {
        loop {
            if self.left > 0 {
                self.run_sum(self.left)?;
                self.left = 0;
            } else if self.input.is_empty() {
                return Some((self.history[0], self.scale));
            } else if let Some(value) = self.operation()? {
                self.remember(value);
            }
        }
    }

    /// The sum of the next `count` values; nothing if there are fewer, or if it is beyond all bounds.
    pub(crate) fn sum(&mut self, count: u64) -> Option<u64> {
        let (mut sum, mut count) = (0u128, count);
        while count > 0 {
            if self.left > 0 {
                let steps = self.left.min(count);
                sum = sum.checked_add(self.run_sum(steps)?)?;
                self.left -= steps;
                count -= steps;
            } else if let Some(value) = self.operation()? {
                sum += u128::from(value);
                self.remember(value);
                count -= 1;
            }
        }
        u64::try_from(sum).ok()
    }

    /// Reads an operation: a value, or nothing but a run that begins.
    fn operation(&mut self) -> Option<Option<u64>> {
        let number = self.input.number()?;
        if number & 1 == 0 {
            let difference = varint::unzigzag(number >> 1) << self.scale;
            return Some(Some(self.history[0].wrapping_add(difference as u64)));
        }
        let rest = number >> 3;
        match number & 7 {
            1 => (self.run, self.left) = (Run::Ago((rest & 15) as u32 + 1), rest >> 4),
            3 => (self.run, self.left) = (Run::Onward, rest),
            5 => {
                let bytes = self.input.take(8)?;
                return Some(Some(u64::from_le_bytes(bytes.try_into().ok()?)));
            }
            _ => self.scale = u32::try_from(rest).ok().filter(|&scale| scale < 64)?,
        }
        Some(None)
    }

    /// Goes so many steps of the run ahead and adds them up.
    fn run_sum(&mut self, steps: u64) -> Option<u128> {
        let before = self.history;
        let (run, sum) = match self.run {
            Run::Ago(period) => {
                let period = u64::from(period);
                let whole: u128 = before[..period as usize].iter().map(|&value| u128::from(value)).sum();
                let rest = (1..=steps % period).map(|step| u128::from(before[(period - step) as usize]));
                (period, whole.checked_mul(u128::from(steps / period))?.checked_add(rest.sum())?)
            }
            Run::Onward => {
                let last = onward(before[0], before[1], steps)?;
                let first = onward(before[0], before[1], 1)?;
                (0, (u128::from(first) + u128::from(last)).checked_mul(u128::from(steps))? / 2)
            }
        };
        for index in 0..HISTORY as u64 {
            self.history[index as usize] = match steps.checked_sub(index).filter(|&step| step > 0) {
                Some(step) if run > 0 => before[(run - 1 - (step - 1) % run) as usize],
                Some(step) => onward(before[0], before[1], step)?,
                None => before[(index - steps) as usize],
            };
        }
        Some(sum)
    }

    fn remember(&mut self, value: u64) {
        self.history.copy_within(..HISTORY - 1, 1);
        self.history[0] = value;
    }
}

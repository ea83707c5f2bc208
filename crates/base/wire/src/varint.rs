//! Numbers of variable length (LEB128): seven bits to a byte, the lowest first.
//!
//! Reading takes any bytes: what is cut off or longer than ten bytes is no number.

/// Most bytes one number takes.
pub const VARINT_MOST: usize = 10;

/// Passes the bytes of `value` to `byte`, one after another.
#[inline]
pub fn each_byte(mut value: u64, mut byte: impl FnMut(u8)) {
    while value >= 0x80 {
        byte(value as u8 | 0x80);
        value >>= 7;
    }
    byte(value as u8);
}

/// Appends `value`.
pub fn put(bytes: &mut Vec<u8>, value: u64) {
    each_byte(value, |byte| bytes.push(byte));
}

/// Appends a length and as many bytes.
pub fn put_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    put(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

/// Small for numbers near zero on either side.
#[inline]
pub fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// What [`zigzag`] was given.
#[inline]
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Bytes being read from front to back.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// All of these.
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes }
    }

    /// Whether all has been read.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes are left: no list that is still to come can have more items.
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    /// A number of either sign, written by its [`zigzag`].
    pub fn signed(&mut self) -> Option<i64> {
        self.number().map(unzigzag)
    }

    /// Eight bytes as they are.
    pub fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.bytes.split_first_chunk::<8>()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*word))
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (index, &byte) in self.bytes.iter().take(VARINT_MOST).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                return Some(value);
            }
        }
        None
    }

    /// A number that is to be at most as large as what is left in bytes: the length of a list.
    pub fn length(&mut self) -> Option<usize> {
        let length = usize::try_from(self.number()?).ok()?;
        (length <= self.left()).then_some(length)
    }

    /// A number below a bound: a position in a list of that length.
    pub fn index(&mut self, below: usize) -> Option<usize> {
        let index = usize::try_from(self.number()?).ok()?;
        (index < below).then_some(index)
    }

    /// The next bytes, as many as that.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Bytes preceded by their length.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_a_round_trip() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            let mut input = Input::new(&bytes);
            assert_eq!(input.number(), Some(value));
            assert!(input.is_empty());
            assert_eq!(zigzag(unzigzag(value)), value);
        }
        assert_eq!(Input::new(&[0x80; 12]).number(), None);
        assert_eq!(Input::new(&[0x80]).number(), None);
    }
}

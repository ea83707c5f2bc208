//! Writing numbers of variable length ([`kizami_wire::varint`]) into memory of a fixed size.

use kizami_wire::varint::{each_byte, zigzag};

/// Writes into memory that is given; what does not fit is left out, but counts in the length.
pub(super) struct Writer<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(bytes: &'a mut [u8]) -> Writer<'a> {
        Writer { bytes, length: 0 }
    }

    pub(super) fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
        }
        self.length += 1;
    }

    pub(super) fn number(&mut self, value: u64) {
        each_byte(value, |byte| self.byte(byte));
    }

    /// A number of either sign, small ones short.
    pub(super) fn signed(&mut self, value: i64) {
        self.number(zigzag(value));
    }

    pub(super) fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.byte(byte);
        }
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_wire::varint::Input;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(number: u64, signed: i64, word: u64) {
            let mut bytes = [0; 40];
            let mut writer = Writer::new(&mut bytes);
            writer.number(number);
            writer.signed(signed);
            writer.word(word);
            let length = writer.length();
            let mut reader = Input::new(&bytes[..length]);
            prop_assert_eq!(reader.number(), Some(number));
            prop_assert_eq!(reader.signed(), Some(signed));
            prop_assert_eq!(reader.word(), Some(word));
            prop_assert!(reader.is_empty() && reader.byte().is_none());
        }
    }
}

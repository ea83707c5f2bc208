//! Values as bytes: [`varint`] for numbers of variable length in files and segments, [`Wire`] for messages between processes.
//!
//! A message is decoded by the version of the program that encoded it, so it carries no field names and no version. Decoding
//! takes any bytes: a message that is cut short, too long or invalid gives `None`, never another value.

mod model;
pub mod varint;

use std::collections::BTreeMap;

/// A value that can be part of a message.
pub trait Wire: Sized {
    /// Appends the value to a message.
    fn encode(&self, message: &mut Vec<u8>);

    /// Takes a value from the front of what is left of a message.
    fn decode(message: &mut &[u8]) -> Option<Self>;
}

/// A message of one value.
pub fn encode(value: &impl Wire) -> Vec<u8> {
    let mut message = Vec::new();
    value.encode(&mut message);
    message
}

/// The value that is all of a message.
pub fn decode<T: Wire>(mut message: &[u8]) -> Option<T> {
    T::decode(&mut message).filter(|_| message.is_empty())
}

/// Implements [`Wire`] for a struct, field by field; every field must be named.
#[macro_export]
macro_rules! wire_struct {
    ($([$($generics:tt)*])? $kind:ident $(<$($parameter:ident),+>)? { $($field:ident),+ $(,)? }) => {
        impl $(<$($generics)*>)? $crate::Wire for $kind $(<$($parameter),+>)? {
            fn encode(&self, message: &mut Vec<u8>) {
                let $kind { $($field),+ } = self;
                $($crate::Wire::encode($field, message);)+
            }

            fn decode(message: &mut &[u8]) -> Option<Self> {
                Some($kind { $($field: $crate::Wire::decode(message)?),+ })
            }
        }
    };
}

/// Implements [`Wire`] for structs around one value.
#[macro_export]
macro_rules! wire_newtype {
    ($($kind:ident),+ $(,)?) => {$(
        impl $crate::Wire for $kind {
            fn encode(&self, message: &mut Vec<u8>) {
                $crate::Wire::encode(&self.0, message);
            }

            fn decode(message: &mut &[u8]) -> Option<Self> {
                $crate::Wire::decode(message).map($kind)
            }
        }
    )+};
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Wire for $number {
            fn encode(&self, message: &mut Vec<u8>) {
                message.extend(self.to_le_bytes());
            }

            fn decode(message: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = message.split_first_chunk()?;
                *message = rest;
                Some(<$number>::from_le_bytes(*bytes))
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, i32, i64);

impl Wire for bool {
    fn encode(&self, message: &mut Vec<u8>) {
        u8::from(*self).encode(message);
    }

    fn decode(message: &mut &[u8]) -> Option<bool> {
        match u8::decode(message)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Wire for usize {
    fn encode(&self, message: &mut Vec<u8>) {
        (*self as u64).encode(message);
    }

    fn decode(message: &mut &[u8]) -> Option<usize> {
        u64::decode(message)?.try_into().ok()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn encode(&self, message: &mut Vec<u8>) {
        self.is_some().encode(message);
        self.iter().for_each(|value| value.encode(message));
    }

    fn decode(message: &mut &[u8]) -> Option<Option<T>> {
        Some(if bool::decode(message)? { Some(T::decode(message)?) } else { None })
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn encode(&self, message: &mut Vec<u8>) {
        self.len().encode(message);
        self.iter().for_each(|value| value.encode(message));
    }

    fn decode(message: &mut &[u8]) -> Option<Vec<T>> {
        // Grows as values come: the length may be made up.
        (0..usize::decode(message)?).map(|_| T::decode(message)).collect()
    }
}

impl<T: Wire, const N: usize> Wire for [T; N] {
    fn encode(&self, message: &mut Vec<u8>) {
        self.iter().for_each(|value| value.encode(message));
    }

    fn decode(message: &mut &[u8]) -> Option<[T; N]> {
        let values: Vec<T> = (0..N).map(|_| T::decode(message)).collect::<Option<_>>()?;
        values.try_into().ok()
    }
}

/// Bytes that are copied as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Wire for Bytes {
    fn encode(&self, message: &mut Vec<u8>) {
        encode_bytes(&self.0, message);
    }

    fn decode(message: &mut &[u8]) -> Option<Bytes> {
        decode_bytes(message).map(|bytes| Bytes(bytes.to_vec()))
    }
}

impl Wire for String {
    fn encode(&self, message: &mut Vec<u8>) {
        encode_bytes(self.as_bytes(), message);
    }

    fn decode(message: &mut &[u8]) -> Option<String> {
        String::from_utf8(decode_bytes(message)?.to_vec()).ok()
    }
}

fn encode_bytes(bytes: &[u8], message: &mut Vec<u8>) {
    bytes.len().encode(message);
    message.extend_from_slice(bytes);
}

fn decode_bytes<'a>(message: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::decode(message)?;
    let (bytes, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some(bytes)
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn encode(&self, message: &mut Vec<u8>) {
        self.0.encode(message);
        self.1.encode(message);
    }

    fn decode(message: &mut &[u8]) -> Option<(A, B)> {
        Some((A::decode(message)?, B::decode(message)?))
    }
}

impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    fn encode(&self, message: &mut Vec<u8>) {
        self.len().encode(message);
        for (key, value) in self {
            key.encode(message);
            value.encode(message);
        }
    }

    fn decode(message: &mut &[u8]) -> Option<BTreeMap<K, V>> {
        Some(Vec::<(K, V)>::decode(message)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Sample<const N: usize> {
        name: String,
        counts: BTreeMap<u32, (i64, bool)>,
        slots: [Option<u16>; N],
        bytes: Bytes,
    }

    wire_struct!([const N: usize] Sample<N> { name, counts, slots, bytes });

    fn sample() -> Vec<Sample<2>> {
        let counts = BTreeMap::from([(1, (i64::MIN, true)), (u32::MAX, (7, false))]);
        vec![Sample {
            name: "ω".to_owned(), counts, slots: [Some(u16::MAX), None], bytes: Bytes(vec![0, 1])
        }]
    }

    #[test]
    fn values_survive_the_round_trip() {
        assert_eq!(decode(&encode(&sample())), Some(sample()));
        assert_eq!(decode(&encode(&Vec::<u8>::new())), Some(Vec::<u8>::new()));
    }

    #[test]
    fn a_message_of_another_length_is_refused() {
        let whole = encode(&sample());
        for length in 0..whole.len() {
            assert_eq!(decode::<Vec<Sample<2>>>(&whole[..length]), None, "{length} bytes");
        }
        assert_eq!(decode::<Vec<Sample<2>>>(&[&whole[..], &[0]].concat()), None);
    }

    #[test]
    fn invalid_bytes_are_refused() {
        assert_eq!(decode::<bool>(&[2]), None);
        assert_eq!(decode::<String>(&u64::MAX.to_le_bytes()), None);
        assert_eq!(decode::<Vec<u64>>(&u64::MAX.to_le_bytes()), None);
        assert_eq!(decode::<String>(&[1, 0, 0, 0, 0, 0, 0, 0, 0xff]), None);
    }
}

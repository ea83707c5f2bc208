//! Numbers of few bits, one behind the other without gaps.

/// Appends `values`, each in so many bits, the lowest first. Their number is a multiple of eight and none has more bits;
/// they are used up.
#[inline]
pub(super) fn pack(values: &mut [u64], mut width: usize, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let mut count = values.len();
    // Two narrow numbers are one of twice the width, which takes half of the steps below.
    while width <= u64::BITS as usize / 2 && count.is_multiple_of(2) {
        count /= 2;
        for index in 0..count {
            values[index] = values[2 * index] | values[2 * index + 1] << width;
        }
        width *= 2;
    }
    let (mut word, mut used) = (0, 0);
    for value in &values[..count] {
        word |= value << used;
        used += width;
        if used >= u64::BITS as usize {
            out.extend_from_slice(&word.to_le_bytes());
            used -= u64::BITS as usize;
            // What did not fit.
            word = if used == 0 { 0 } else { value >> (width - used) };
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..used.div_ceil(8)]);
}

/// Bits needed for this number.
#[inline]
pub(super) fn width(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_survives_a_round_trip() {
        for width in 0..=64 {
            for count in [8, 32, 64] {
                let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
                let values: Vec<u64> =
                    (1..=count).map(|n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask).collect();
                let mut out = Vec::new();
                pack(&mut values.clone(), width, &mut out);
                assert_eq!(out.len(), width * values.len() / 8);
                let bit = |at: usize| u64::from(out[at / 8] >> (at % 8) & 1);
                let value = |index: usize| (0..width).map(|at| bit(index * width + at) << at).sum::<u64>();
                let unpacked: Vec<u64> = (0..values.len()).map(value).collect();
                assert_eq!(unpacked, values, "{width} bits");
            }
        }
    }
}

//! Rows of shares as pixels. High rows become little stacks, so that shares can be read off; low ones become one
//! mixed colour.

use super::theme::{STACK, Theme};
use crate::canvas::{Canvas, Rgb};
use crate::index::category::{CATEGORIES, Category};

/// Rows from this height on are stacks.
pub(super) const STACKED: usize = 6;

/// Draws a row: its shares by column and category.
pub(super) fn draw(
    canvas: &mut Canvas,
    theme: &Theme,
    left: usize,
    top: usize,
    height: usize,
    shares: &[u8],
) {
    for (column, shares) in shares.chunks_exact(CATEGORIES).enumerate() {
        let x = left + column;
        if height >= STACKED {
            stack(canvas, theme, x, top, height, shares);
        } else {
            // A stretch without a record is hatched as far as that can be seen.
            let mixed = match shares[Category::NoRecord as usize] {
                255 => None,
                _ => Some(mixed(theme, shares)),
            };
            for y in top..top + height {
                canvas.set(x, y, mixed.unwrap_or_else(|| theme.pixel(Category::NoRecord, x, y)));
            }
        }
    }
}

/// From the bottom upwards; shares add up to 255.
fn stack(canvas: &mut Canvas, theme: &Theme, x: usize, top: usize, height: usize, shares: &[u8]) {
    let (mut sum, mut drawn) = (0, 0);
    for category in STACK {
        sum += usize::from(shares[category as usize]);
        let until = (sum * height + 127) / 255;
        for up in drawn..until.min(height) {
            let y = top + height - 1 - up;
            canvas.set(x, y, theme.pixel(category, x, y));
        }
        drawn = drawn.max(until);
    }
}

/// The mean of colours by their shares.
fn mixed(theme: &Theme, shares: &[u8]) -> Rgb {
    // Light adds up in squares, nearly: a mean of the bytes themselves would be too dark.
    let square = |byte: u8| u32::from(byte) * u32::from(byte);
    std::array::from_fn(|channel| {
        let parts = shares
            .iter()
            .zip(theme.categories)
            .map(|(share, colour)| u32::from(*share) * square(colour[channel]));
        let mean = f64::from(parts.sum::<u32>()) / 255.0;
        mean.sqrt().round().min(255.0) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(of: &[(Category, u8)]) -> [u8; CATEGORIES] {
        let mut shares = [0; CATEGORIES];
        of.iter().for_each(|(category, share)| shares[*category as usize] = *share);
        shares
    }

    #[test]
    fn high_rows_are_stacks_with_receives_on_top() {
        let theme = Theme::light();
        let mut canvas = Canvas::new(3, 12, theme.background);
        let half = shares(&[(Category::Compute, 128), (Category::Receive, 127)]);
        draw(&mut canvas, &theme, 1, 1, 10, &half);
        let column: Vec<Rgb> = (0..12).map(|y| canvas.at(1, y)).collect();
        let [compute, receive] =
            [Category::Compute, Category::Receive].map(|category| theme.categories[category as usize]);
        assert_eq!(column[0], theme.background);
        assert_eq!(column[1..6], [receive; 5]);
        assert_eq!(column[6..11], [compute; 5]);
        assert_eq!(column[11], theme.background);
        assert_eq!(canvas.at(0, 5), theme.background);
        assert_eq!(canvas.at(2, 5), theme.background);
    }

    #[test]
    fn every_pixel_of_a_stack_is_drawn() {
        let theme = Theme::light();
        for share in 0..=255u8 {
            let mut canvas = Canvas::new(1, 7, [1, 2, 3]);
            let two = shares(&[(Category::Collective, share), (Category::File, 255 - share)]);
            draw(&mut canvas, &theme, 0, 0, 7, &two);
            assert!((0..7).all(|y| canvas.at(0, y) != [1, 2, 3]), "{share}");
        }
    }

    #[test]
    fn low_rows_are_mixed_by_share() {
        let theme = Theme::light();
        let mut canvas = Canvas::new(2, 2, theme.background);
        let mut cells = shares(&[(Category::Collective, 255)]).to_vec();
        cells.extend(shares(&[(Category::PointToPoint, 102), (Category::Receive, 153)]));
        draw(&mut canvas, &theme, 0, 0, 2, &cells);
        assert_eq!(canvas.at(0, 1), [0xe6, 0x9f, 0x00]);
        // sqrt(0.4 x 0 x 0 + 0.6 x 213 x 213), and so on.
        assert_eq!(canvas.at(1, 0), [165, 102, 113]);
    }

    #[test]
    fn no_record_is_hatched_in_low_and_high_rows() {
        let theme = Theme::light();
        for height in [1, 3, 20] {
            let mut canvas = Canvas::new(16, height, [0; 3]);
            let cells: Vec<u8> = (0..16).flat_map(|_| shares(&[(Category::NoRecord, 255)])).collect();
            draw(&mut canvas, &theme, 0, 0, height, &cells);
            let line: Vec<Rgb> = (0..16).map(|x| canvas.at(x, 0)).collect();
            assert_eq!(line.iter().filter(|pixel| **pixel == theme.hatch_none).count(), 4);
            assert_eq!(line.iter().filter(|pixel| **pixel == theme.categories[8]).count(), 12);
        }
    }
}

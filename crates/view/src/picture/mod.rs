//! Pictures of a run without a browser: the timeline as PNG, and one HTML file with picture and verdict.
//!
//! Each pixel is the mean of the colours of what ranks did in it, by their shares. No text is drawn into pictures.

mod page;

pub use page::page;

use crate::category::{CATEGORIES, LOOKS};
use crate::index::Index;
use crate::query::Selection;
use crate::query::timeline::timeline;
use std::io;

/// Rows are drawn at least this high if there is room.
const MOST_PIXELS_OF_A_ROW: usize = 16;

/// How large a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Across: time.
    pub width: usize,
    /// Down: ranks.
    pub height: usize,
}

/// The timeline of a selection as a PNG file. Few ranks make a lower picture than asked for.
pub fn png(index: &Index, selection: &Selection, size: Size) -> io::Result<Vec<u8>> {
    let made = timeline(index, &selection.ranks, selection.from_ns, selection.to_ns, size.width, size.height);
    let rows = made.first_ranks.len().max(1);
    let pixels_of_a_row = (size.height / rows).clamp(1, MOST_PIXELS_OF_A_ROW);
    let colours = LOOKS.map(|look| rgb(look.colour));
    let mut pixels = Vec::with_capacity(size.width * rows * pixels_of_a_row * 3);
    for row in made.shares.chunks_exact((size.width * CATEGORIES).max(1)) {
        let line: Vec<u8> = row.chunks_exact(CATEGORIES).flat_map(|shares| mean(shares, &colours)).collect();
        (0..pixels_of_a_row).for_each(|_| pixels.extend(&line));
    }
    if made.first_ranks.is_empty() {
        // A run without ranks: nothing was recorded.
        pixels.extend((0..size.width).flat_map(|_| colours[CATEGORIES - 1]));
    }
    let height = pixels.len() / (size.width * 3).max(1);
    encode(&pixels, size.width, height)
}

/// The mean of colours by their shares of 255.
fn mean(shares: &[u8], colours: &[[u8; 3]; CATEGORIES]) -> [u8; 3] {
    std::array::from_fn(|channel| {
        let parts =
            shares.iter().zip(colours).map(|(share, colour)| u32::from(*share) * u32::from(colour[channel]));
        (parts.sum::<u32>() / 255).min(255) as u8
    })
}

fn rgb(colour: &str) -> [u8; 3] {
    let number = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or(0);
    [(number >> 16) as u8, (number >> 8) as u8, number as u8]
}

fn encode(pixels: &[u8], width: usize, height: usize) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    writer.write_image_data(pixels).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_mixed_by_share() {
        let colours = LOOKS.map(|look| rgb(look.colour));
        assert_eq!(colours[2], [0xd5, 0x5e, 0x00]);
        let mut shares = [0; CATEGORIES];
        shares[3] = 255;
        assert_eq!(mean(&shares, &colours), colours[3]);
    }
}

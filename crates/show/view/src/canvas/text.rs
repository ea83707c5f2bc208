//! Text in pictures: an embedded font, so that a picture looks the same on every machine.
//!
//! The font is DejaVu Sans, its letters of ASCII and Latin-1 alone (`font/`, with its licence). What it cannot show,
//! control characters among it, becomes a sign that says so. Texts are cut before they are looked at: however long a
//! name of a trace is, no more of it is drawn than there is room for.

use crate::canvas::pixels::{Canvas, Rgb};
use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};
use std::sync::OnceLock;

/// Letters of a text that are looked at.
const MOST_CHARACTERS: usize = 200;
/// Stands for letters the font does not have.
const UNKNOWN: char = '\u{fffd}';

/// How letters look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// As usual.
    Regular,
    /// Heavier.
    Bold,
}

/// Letters of one size and weight. A size is that of the letter m and the space around it, as in style sheets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pen {
    /// How large they are, in pixels.
    pub size: f32,
    /// How they look.
    pub weight: Weight,
}

struct Fonts {
    regular: FontRef<'static>,
    bold: FontRef<'static>,
}

fn fonts() -> &'static Fonts {
    static FONTS: OnceLock<Fonts> = OnceLock::new();
    FONTS.get_or_init(|| {
        let font = |bytes| FontRef::try_from_slice(bytes).expect("the embedded font is a font");
        Fonts { regular: font(include_bytes!("font/sans.ttf")), bold: font(include_bytes!("font/bold.ttf")) }
    })
}

impl Pen {
    /// Of usual weight.
    pub fn regular(size: f32) -> Pen {
        Pen { size, weight: Weight::Regular }
    }

    /// Bold.
    pub fn bold(size: f32) -> Pen {
        Pen { size, weight: Weight::Bold }
    }

    /// How wide a text is.
    pub fn width(self, text: &str) -> f32 {
        text.chars().take(MOST_CHARACTERS).map(|letter| self.letter(letter).2).sum()
    }

    /// As much of a text as fits into a width.
    pub fn fitted(self, text: &str, most: f32) -> String {
        let long = text.chars().nth(MOST_CHARACTERS).is_some();
        if !long && self.width(text) <= most {
            return text.to_owned();
        }
        let mut room = most - self.width("…");
        let fits = |letter: &char| {
            room -= self.letter(*letter).2;
            room >= 0.0
        };
        let mut cut: String = text.chars().take(MOST_CHARACTERS).take_while(fits).collect();
        cut.push('…');
        cut
    }

    /// Writes a text from `x` on, standing on the line `y`; gives where it ends.
    pub fn write(self, canvas: &mut Canvas, x: f32, y: f32, text: &str, colour: Rgb) -> f32 {
        let mut x = x;
        for letter in text.chars().take(MOST_CHARACTERS) {
            let (font, glyph, width) = self.letter(letter);
            let placed = glyph.with_scale_and_position(self.scale(font), point(x, y.round()));
            if let Some(outline) = font.outline_glyph(placed) {
                let (left, top) = (outline.px_bounds().min.x, outline.px_bounds().min.y);
                outline.draw(|across, down, part| {
                    let (x, y) = (left + across as f32, top + down as f32);
                    if x >= 0.0 && y >= 0.0 {
                        canvas.blend(x as usize, y as usize, colour, part);
                    }
                });
            }
            x += width;
        }
        x
    }

    /// The same, with its middle at `x`.
    pub fn write_centred(self, canvas: &mut Canvas, x: f32, y: f32, text: &str, colour: Rgb) {
        self.write(canvas, x - self.width(text) / 2.0, y, text, colour);
    }

    /// The same, ending at `x`.
    pub fn write_before(self, canvas: &mut Canvas, x: f32, y: f32, text: &str, colour: Rgb) {
        self.write(canvas, x - self.width(text), y, text, colour);
    }

    /// A letter, the font that has it, and how wide it is.
    fn letter(self, letter: char) -> (&'static FontRef<'static>, GlyphId, f32) {
        let Fonts { regular, bold } = fonts();
        let wanted = if self.weight == Weight::Bold { bold } else { regular };
        let has = |font: &FontRef<'_>, letter| font.glyph_id(letter).0 != 0;
        let (font, letter) = match letter {
            letter if has(wanted, letter) => (wanted, letter),
            letter if has(regular, letter) => (regular, letter),
            _ => (regular, UNKNOWN),
        };
        let glyph = font.glyph_id(letter);
        (font, glyph, font.as_scaled(self.scale(font)).h_advance(glyph))
    }

    /// The crate counts sizes from the highest letter to the lowest.
    fn scale(self, font: &FontRef<'_>) -> PxScale {
        let per_em = font.units_per_em().unwrap_or(2048.0);
        PxScale::from(self.size * font.height_unscaled() / per_em)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_have_their_advance_width() {
        let pen = Pen::regular(20.0);
        let mut canvas = Canvas::new(200, 40, [255; 3]);
        let end = pen.write(&mut canvas, 10.0, 30.0, "MPI_Send µ", [0; 3]);
        assert!((end - 10.0 - pen.width("MPI_Send µ")).abs() < 0.01);
        let dark = |x: usize| (0..40).any(|y| canvas.at(x, y) != [255; 3]);
        let inked: Vec<usize> = (0..200).filter(|x| dark(*x)).collect();
        assert!(inked[0] >= 10 && *inked.last().unwrap() as f32 <= end + 1.0, "{inked:?} {end}");
        // The stem of the first letter is black somewhere, and edges are soft.
        let values: Vec<u8> =
            (0..200).flat_map(|x| (0..40).map(move |y| (x, y))).map(|(x, y)| canvas.at(x, y)[0]).collect();
        assert!(values.contains(&0) && values.iter().any(|value| (1..255).contains(value)));
    }

    #[test]
    fn long_and_odd_texts_are_cut_and_marked() {
        let pen = Pen::bold(16.0);
        let cut = pen.fitted(&"x".repeat(10 << 20), 120.0);
        assert!(cut.ends_with('…') && pen.width(&cut) <= 120.0, "{cut}");
        assert_eq!(pen.fitted("short", 120.0), "short");
        assert_eq!(pen.fitted("short", 0.0), "…");
        // Control characters, and letters that are not there, look the same and can be seen.
        assert_eq!(pen.width("\x1b"), pen.width("\u{fffd}"));
        assert_eq!(pen.width("刻"), pen.width("\u{fffd}"));
        assert!(pen.width("é") > 0.0);
    }
}

//! Pixels to draw on, and the PNG file they become. Whatever lies outside is not drawn.

use std::io;

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// Pixels from the upper left corner on.
#[derive(Clone, Debug)]
pub struct Canvas {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    /// All of one colour.
    pub fn new(width: usize, height: usize, colour: Rgb) -> Canvas {
        Canvas { width, height, pixels: colour.repeat(width * height) }
    }

    /// Paints one pixel.
    #[inline]
    pub fn set(&mut self, x: usize, y: usize, colour: Rgb) {
        if let Some(pixel) = self.pixel(x, y) {
            pixel.copy_from_slice(&colour);
        }
    }

    /// Paints a part of one pixel, from 0 to 1.
    #[inline]
    pub fn blend(&mut self, x: usize, y: usize, colour: Rgb, part: f32) {
        if let Some(pixel) = self.pixel(x, y) {
            for (old, new) in pixel.iter_mut().zip(colour) {
                let (before, after) = (f32::from(*old), f32::from(new));
                *old = (before + (after - before) * part.clamp(0.0, 1.0)).round() as u8;
            }
        }
    }

    /// Paints a rectangle.
    pub fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: Rgb) {
        for y in y..(y + height).min(self.height) {
            for x in x..(x + width).min(self.width) {
                self.set(x, y, colour);
            }
        }
    }

    /// The colour of a pixel.
    #[cfg(test)]
    pub fn at(&self, x: usize, y: usize) -> Rgb {
        let first = (y * self.width + x) * 3;
        std::array::from_fn(|channel| self.pixels[first + channel])
    }

    /// As a file.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(io::Error::other)?;
        writer.write_image_data(&self.pixels).map_err(io::Error::other)?;
        writer.finish().map_err(io::Error::other)?;
        Ok(file)
    }

    #[inline]
    fn pixel(&mut self, x: usize, y: usize) -> Option<&mut [u8]> {
        let first = (y * self.width + x) * 3;
        (x < self.width && y < self.height).then(|| &mut self.pixels[first..first + 3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_is_not_drawn() {
        let mut canvas = Canvas::new(3, 2, [9; 3]);
        canvas.fill(2, 1, 50, 50, [1, 2, 3]);
        canvas.set(3, 0, [0; 3]);
        canvas.blend(0, 2, [0; 3], 1.0);
        canvas.blend(0, 0, [19, 9, 9], 0.5);
        assert_eq!(canvas.at(2, 1), [1, 2, 3]);
        assert_eq!([canvas.at(0, 0), canvas.at(1, 0), canvas.at(0, 1)], [[14, 9, 9], [9; 3], [9; 3]]);
    }
}

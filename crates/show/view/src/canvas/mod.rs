//! Pictures without a browser or a font of the machine: pixels to draw on, letters, and the PNG file they become.

mod pixels;
mod text;

pub use pixels::{Canvas, Rgb};
pub use text::Pen;

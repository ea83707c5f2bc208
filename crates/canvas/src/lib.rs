//! Pictures without a browser or a font of the machine: pixels to draw on, letters, and the PNG file they become.

mod canvas;
mod text;

pub use canvas::{Canvas, Rgb};
pub use text::{Pen, Weight};

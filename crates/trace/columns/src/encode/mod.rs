//! Column chunks, encoded at once from whole columns of plain numbers.
//!
//! The column writers of the parquet crate take values as they come, and decide and count for each of them. Rows of
//! a trace come by the hundred million, a whole row group at a time: knowing all of a column, its pages can be made
//! several times faster. What comes out are the same pages any Parquet writer makes.
//!
//! - [`ChunkEncoder`] takes the cells of a column, `pages` puts its pages one behind the other;
//! - `levels` say which cells have values, and where lists begin;
//! - `differences`, `dictionary`, `runs` and `pack` are the encodings.

mod chunk;
mod dictionary;
mod differences;
mod levels;
mod pack;
mod pages;
mod runs;

pub use chunk::{ChunkEncoder, Packing};
pub use pages::Chunk;

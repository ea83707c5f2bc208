//! A machine as it was measured: what its MPI calls cost, by operation, size and number of ranks.
//!
//! `NAME.kzm/` is a folder of open tables, as a trace is:
//!
//! ```text
//! machine.json         what was measured, where, when, by which MPI, and what disturbed it
//! collectives.parquet  one row for each operation, pattern, size and number of ranks ([`CollectiveRow`])
//! messages.parquet     between two ranks, by how far they are apart and by size ([`MessageRow`])
//! noise.parquet        how long a fixed amount of computation really takes ([`NoiseRow`])
//! ```
//!
//! [`Machine`] reads and writes them, and [`Machine::costs`] makes of them what a replay needs. [`import`] reads the files of
//! other benchmarks, [`export`] writes what other tools read. [`measure`] decides which sizes to measure and when to
//! stop; it talks to the measuring program by lines of text, and does not know MPI.
//!
//! It promises that nothing is made up: a row that was disturbed says so, and what was never measured has no row.

mod costs;
mod error;
pub mod export;
pub mod import;
mod machine;
pub mod measure;
mod tables;

pub use error::MachineError;
pub use machine::{About, Machine};
pub use tables::{CollectiveRow, MessageRow, NoiseRow, Pattern};

//! `kizami bench`: measures what MPI calls cost on a machine, or takes it from files of other benchmarks.
//!
//! The measuring is done by ranks of the launcher that is given: this very program, which loads that launcher's MPI. For
//! SimGrid's simulator, which cannot load it, the same is built from C first.

mod algorithms;
mod arguments;
mod run;
mod show;
mod simulator;

pub use arguments::BenchArguments;
pub use run::run;

/// Measures, as one rank of many.
pub fn measuring_rank() -> anyhow::Result<u8> {
    kizami_measure::run()?;
    Ok(0)
}

//! Files for other tools, made of what was measured.
//!
//! [`ompi_rules`] is for Open MPI's `coll_tuned_dynamic_rules_filename`, [`loggops()`] for simulators that know the LogGOPS
//! model (and `kizami replay --loggops`), [`extrap()`] for Extra-P. All give text; the caller writes it.
//!
//! They promise to make nothing up: where nothing suitable was measured, they return what to measure. Rows that
//! were disturbed count only where there are no others. They choose and convert; they fit no curves.

mod extrap;
mod loggops;
mod ompi;

pub use extrap::extrap;
pub use loggops::loggops;
pub use ompi::ompi_rules;

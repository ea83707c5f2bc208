//! `libkizami.so`: the preload library, with everything that `kizami-tracer-mpi`, `kizami-tracer-io` and
//! `kizami-tracer-openmp` export.

use kizami_tracer_io as _;
use kizami_tracer_mpi as _;
use kizami_tracer_openmp as _;

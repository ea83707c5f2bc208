//! `libkizami.so`: the preload library, with everything that `kizami-tracer-mpi`, `kizami-tracer-io` and
//! `kizami-tracer-openmp` export, and the allocator they have in common.

use kizami_tracer_io as _;
use kizami_tracer_mpi as _;
use kizami_tracer_openmp as _;

/// A program that has no memory left must live on.
#[global_allocator]
static RESERVE: kizami_tracer_core::reserve::Reserve = kizami_tracer_core::reserve::Reserve::new();

//! `libkizami.so`: the preload library, with everything that `kizami-tracer-mpi` exports.

use kizami_tracer_mpi as _;

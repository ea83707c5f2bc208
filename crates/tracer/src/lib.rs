//! `libkizami.so`: the preload library, with everything that `kizami-tracer-mpi` and `kizami-tracer-io` export.

use kizami_tracer_io as _;
use kizami_tracer_mpi as _;

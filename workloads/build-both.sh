#!/bin/sh
# Builds all workloads with Debian's two MPIs, which install side by side.
set -eu

case "${1:-}" in
-h | --help)
    echo "usage: build-both.sh OUTDIR   builds OUTDIR/openmpi and OUTDIR/mpich"
    exit 0
    ;;
"")
    echo "usage: build-both.sh OUTDIR   builds OUTDIR/openmpi and OUTDIR/mpich" >&2
    exit 2
    ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
for mpi in openmpi mpich; do
    echo "== $mpi"
    "$here/build.sh" "$1/$mpi" "mpicc.$mpi" "mpifort.$mpi"
done

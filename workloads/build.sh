#!/bin/sh
# Builds all workloads with one MPI. See -h.
set -eu

usage() {
    cat <<'TEXT'
usage: build.sh OUTDIR [MPICC] [MPIFORT]

Builds every program of this folder with -O2 -g into OUTDIR.
  MPICC    the MPI compiler wrapper for C        (default: mpicc)
  MPIFORT  the MPI compiler wrapper for Fortran  (default: the mpifort that
           lies beside MPICC: another one would be of another MPI)
Fortran programs are skipped with a notice where there is no MPIFORT or where
it lacks the Fortran binding that a program uses. Python programs are copied.
CFLAGS and FFLAGS of the environment are added to the compilers' flags.
TEXT
}

case "${1:-}" in
-h | --help)
    usage
    exit 0
    ;;
"")
    usage >&2
    exit 2
    ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
mpicc=${2:-mpicc}
if ! command -v "$mpicc" >/dev/null 2>&1; then
    echo "build.sh: no MPI compiler for C: $mpicc" >&2
    exit 1
fi
# mpicc.openmpi has mpifort.openmpi beside it.
mpicc_path=$(command -v "$mpicc")
ending=$(basename "$mpicc_path")
mpifort=${3:-$(dirname "$mpicc_path")/mpifort${ending#mpicc}}

# MPI headers declare arguments as arrays, and MPI_STATUSES_IGNORE and
# MPI_UNWEIGHTED as small addresses: the two warnings take that for an error.
warnings="-Wall -Wextra -Wno-stringop-overflow -Wno-stringop-overread"

build_c() { # build_c PROGRAM SOURCE...
    program=$1
    shift
    echo "C        $program"
    "$mpicc" -std=gnu11 -O2 -g $warnings ${CFLAGS:-} -I"$here" -I"$here/../include" \
        -o "$out/$program" "$@" -lm -lpthread || {
        echo "build.sh: cannot build $program with $mpicc" >&2
        exit 1
    }
}

for source in "$here"/*.c; do
    build_c "$(basename "$source" .c)" "$source"
done

# The same program with a library of wrappers, with the wrappers inside, and bare.
build_wrapped() {
    wrapper=$here/wrapper
    echo "C        libwrapper.so"
    "$mpicc" -std=gnu11 -O2 -g $warnings ${CFLAGS:-} -shared -fPIC -o "$out/libwrapper.so" \
        "$wrapper/wrapper.c" || {
        echo "build.sh: cannot build libwrapper.so with $mpicc" >&2
        exit 1
    }
    build_c wrapped "$wrapper/wrapped.c" -L"$out" -lwrapper -Wl,-rpath,"$out"
    build_c wrapped_inside "$wrapper/wrapped.c" "$wrapper/wrapper.c"
    build_c unwrapped "$wrapper/wrapped.c"
}

if [ "$ending" = smpicc ]; then
    echo "skipped  wrapped: SimGrid's compiler makes no such library"
    echo "skipped  coverage: SimGrid's MPI lacks families of functions it calls"
else
    build_wrapped
    build_c coverage "$here"/coverage/*.c
fi

# Does MPIFORT compile a program with this statement? It says whether the
# MPI has the binding, apart from any error in our own sources.
has_binding() { # has_binding USE-STATEMENT INCLUDE-STATEMENT
    probe=$(mktemp -d)
    cat >"$probe/probe.f90" <<TEXT
program probe
  $1
  implicit none
  $2
  integer :: ierr
  call MPI_Init(ierr)
end program probe
TEXT
    if (cd "$probe" && "$mpifort" -o probe probe.f90) >/dev/null 2>&1; then
        found=0
    else
        found=1
    fi
    rm -rf "$probe"
    return $found
}

build_fortran() { # build_fortran PROGRAM USE-STATEMENT INCLUDE-STATEMENT
    [ -e "$here/$1.f90" ] || return 0
    if ! command -v "$mpifort" >/dev/null 2>&1; then
        echo "skipped  $1: no MPI compiler for Fortran ($mpifort)"
        return 0
    fi
    if ! has_binding "$2" "$3"; then
        echo "skipped  $1: $mpifort does not support \"${2:-$3}\""
        return 0
    fi
    echo "Fortran  $1"
    "$mpifort" -O2 -g -Wall ${FFLAGS:-} -I"$here" -o "$out/$1" "$here/$1.f90" || {
        echo "build.sh: cannot build $1 with $mpifort" >&2
        exit 1
    }
}

build_fortran jacobi3d_mpif "" "include 'mpif.h'"
build_fortran jacobi3d_usempi "use mpi" ""
build_fortran jacobi3d_f08 "use mpi_f08" ""
build_fortran files_fortran "use mpi" ""

for source in "$here"/*.py; do
    [ -e "$source" ] || continue
    echo "Python   $(basename "$source")"
    cp "$source" "$out/"
done

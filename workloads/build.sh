#!/bin/sh
# Builds all workloads with one MPI. See -h.
set -eu

usage() {
    cat <<'TEXT'
usage: build.sh OUTDIR [MPICC] [MPIFORT]

Builds every program of this folder and of apps/ with -O2 -g into OUTDIR.
  MPICC    the MPI compiler wrapper for C        (default: mpicc); the one for
           C++ is the mpicxx that lies beside it
  MPIFORT  the MPI compiler wrapper for Fortran  (default: the mpifort that
           lies beside MPICC: another one would be of another MPI)
Fortran programs are skipped with a notice where there is no MPIFORT or where
it lacks the Fortran binding that a program uses, C++ programs where there is no
mpicxx. Python programs are copied. CFLAGS, CXXFLAGS and FFLAGS of the
environment are added to the compilers' flags.
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
# mpicc.openmpi has mpicxx.openmpi beside it, smpicc has smpicxx.
mpicxx=$(dirname "$mpicc_path")/$(echo "$ending" | sed 's/mpicc/mpicxx/')
# Objects and Fortran modules on their way into programs.
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

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

for source in "$here"/*.c "$here"/apps/*.c; do
    build_c "$(basename "$source" .c)" "$source"
done

# Programs of several files: each is compiled by itself, then they are linked.
build_apart() { # build_apart PROGRAM COMPILER FLAGS SOURCE...
    program=$1 compiler=$2 flags=$3
    shift 3
    parts=""
    for source in "$@"; do
        part=$objects/$program-$(basename "$source").o
        "$compiler" $flags -O2 -g $warnings -I"$here" -c -o "$part" "$source" || {
            echo "build.sh: cannot build $program with $compiler" >&2
            exit 1
        }
        parts="$parts $part"
    done
    "$compiler" $flags -O2 -g -o "$out/$program" $parts -lm -lpthread || {
        echo "build.sh: cannot link $program with $compiler" >&2
        exit 1
    }
}

echo "C        molecules"
build_apart molecules "$mpicc" "-std=gnu11 ${CFLAGS:-}" "$here"/apps/molecules/*.c

if command -v "$mpicxx" >/dev/null 2>&1; then
    echo "C++      mgcg"
    build_apart mgcg "$mpicxx" "-std=gnu++17 ${CXXFLAGS:-}" "$here/apps/mgcg.cpp"
    echo "C++      fem"
    build_apart fem "$mpicxx" "-std=gnu++17 ${CXXFLAGS:-}" "$here"/apps/fem/*.cpp
    echo "C++      left_calls"
    build_apart left_calls "$mpicxx" "-std=gnu++17 ${CXXFLAGS:-}" "$here/left_calls.cpp"
    echo "C++      paths"
    build_apart paths "$mpicxx" "-std=gnu++17 ${CXXFLAGS:-}" "$here/paths.cpp"
else
    echo "skipped  mgcg, fem, left_calls, paths: no MPI compiler for C++ ($mpicxx)"
fi

# A program with a library that calls MPI when it is initialised.
build_early() {
    early=$here/early
    echo "C        libearly.so"
    "$mpicc" -std=gnu11 -O2 -g $warnings ${CFLAGS:-} -shared -fPIC -o "$out/libearly.so" \
        "$early/library.c" || {
        echo "build.sh: cannot build libearly.so with $mpicc" >&2
        exit 1
    }
    build_c early_call "$early/early_call.c" -L"$out" -learly -Wl,-rpath,"$out"
}

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

# A program without MPI, the library that it loads, and the one with MPI that this needs.
build_plugin() {
    plugin=$here/plugin
    library() { # library NAME COMPILER SOURCE...
        name=$1 compiler=$2
        shift 2
        echo "C        $name"
        "$compiler" -std=gnu11 -O2 -g $warnings ${CFLAGS:-} -shared -fPIC -o "$out/$name" "$@" || {
            echo "build.sh: cannot build $name with $compiler" >&2
            exit 1
        }
    }
    library libsolver.so "$mpicc" "$plugin/solver.c"
    # Of MPI it has the header alone.
    "$mpicc" -std=gnu11 -O2 -g $warnings ${CFLAGS:-} -fPIC -c -o "$objects/outer.o" "$plugin/outer.c"
    library libplugin.so "${CC:-cc}" "$objects/outer.o" -L"$out" -lsolver -Wl,-rpath,"$out"
    echo "C        plugin"
    "${CC:-cc}" -std=gnu11 -O2 -g $warnings -o "$out/plugin" "$plugin/plugin.c" -Wl,-rpath,"$out" -ldl
}

if [ "$ending" = smpicc ]; then
    echo "skipped  wrapped, plugin, early_call: SimGrid's compiler makes no such libraries"
    echo "skipped  coverage: SimGrid's MPI lacks families of functions it calls"
else
    build_wrapped
    build_plugin
    build_early
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

build_fortran() { # build_fortran PROGRAM USE-STATEMENT INCLUDE-STATEMENT [SOURCE...]
    program=$1 use=$2 include=$3
    shift 3
    [ $# -gt 0 ] || set -- "$here/$program.f90"
    if ! command -v "$mpifort" >/dev/null 2>&1; then
        echo "skipped  $program: no MPI compiler for Fortran ($mpifort)"
        return 0
    fi
    if ! has_binding "$use" "$include"; then
        echo "skipped  $program: $mpifort does not support \"${use:-$include}\""
        return 0
    fi
    echo "Fortran  $program"
    "$mpifort" -O2 -g -Wall ${FFLAGS:-} -I"$here" -J"$objects" -o "$out/$program" "$@" || {
        echo "build.sh: cannot build $program with $mpifort" >&2
        exit 1
    }
}

build_fortran jacobi3d_mpif "" "include 'mpif.h'"
build_fortran jacobi3d_usempi "use mpi" ""
build_fortran jacobi3d_f08 "use mpi_f08" ""
build_fortran files_fortran "use mpi" ""
apps=$here/apps
build_fortran cg2d "" "include 'mpif.h'" "$apps/counted_calls.f90" "$apps/cg2d.f90"
build_fortran mg3d "use mpi" "" "$apps/counted_calls.f90" "$apps/mg3d.f90"
build_fortran ssor "use mpi" "" "$apps/counted_calls.f90" "$apps/ssor.f90"

for source in "$here"/*.py; do
    [ -e "$source" ] || continue
    echo "Python   $(basename "$source")"
    cp "$source" "$out/"
done

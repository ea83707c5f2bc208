#!/usr/bin/env bash
# Builds all programs of this folder with one OpenMP runtime. See -h.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: build.sh OUTDIR [gcc|clang] [VERSION]

Builds every program of this folder and of constructs/ with -O2 -g into OUTDIR.
  gcc      gcc, g++ and gfortran, which use libgomp (the default)
  clang    clang-19, clang++-19 and flang-19, which use LLVM's libomp. It is the one
           of Debian's libomp-19-dev; where that is not installed, its packages are
           unpacked once into $KIZAMI_TEST_DIR/libomp (default ~/.cache/kizami/libomp)
  VERSION  of the compilers, as their names end: 13 for gcc-13 (default: gcc without
           any, clang with 19)

hybrid and mixture are built with each MPI of Debian, as hybrid.openmpi and so on. A
program whose comment says that it needs a later compiler ("Needs: gcc 13,
clang 15", or "none" where no version is known to do) is left out, and so are
those for which there is no compiler or no MPI: all with a word. CFLAGS,
CXXFLAGS and FFLAGS of the environment are added to the compilers' flags.
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
family=${2:-gcc}
version=${3:-}

first_of() { # first_of COMMAND...: the first that there is, or the first
    local command
    for command in "$@"; do
        if command -v "$command" >/dev/null 2>&1; then
            echo "$command"
            return
        fi
    done
    echo "$1"
}

flags=() warnings=(-Wall -Wextra) fortran_flags=() link=()
case $family in
gcc)
    end=${version:+-$version}
    cc=gcc$end cxx=g++$end fc=gfortran$end fortran=gfortran
    fortran_flags=(-std=f2008 -Wall -Wextra)
    ;;
clang)
    version=${version:-19}
    cc=clang-$version cxx=clang++-$version fc=$(first_of "flang-$version" "flang-new-$version") fortran=flang
    # It compares bounds of its own making in the loops that it turns into tasks.
    warnings+=(-Wno-sign-compare)
    # flang knows no other standard, and no -Wall.
    fortran_flags=(-std=f2018 -pedantic)
    ;;
*)
    echo "build.sh: the second argument is gcc or clang, not $family" >&2
    exit 2
    ;;
esac
if ! command -v "$cc" >/dev/null 2>&1; then
    echo "build.sh: no compiler for C: $cc" >&2
    exit 1
fi

# Modules, objects and what the compilers say.
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

# LLVM's runtime from the packages, without installing them.
unpack_libomp() { # unpack_libomp TARGET
    mkdir "$room/packages"
    (cd "$room/packages" && apt-get download "libomp5-$version" "libomp-$version-dev" >"$room/download" 2>&1) || {
        cat "$room/download" >&2
        echo "build.sh: no libomp: install libomp-$version-dev" >&2
        exit 1
    }
    local package
    for package in "$room"/packages/*.deb; do
        dpkg -x "$package" "$room/unpacked"
    done
    mkdir -p "$1"
    cp -a "$room/unpacked/." "$1"
}

if [ "$family" = clang ]; then
    echo '#include <omp.h>' >"$room/probe.c"
    echo 'int main(void) { return omp_get_max_threads() < 1; }' >>"$room/probe.c"
    # -fopenmp says libomp by default, but distributions may change that.
    flags=(-fopenmp=libomp)
    if "$cc" "${flags[@]}" -o "$room/probe" "$room/probe.c" >/dev/null 2>&1; then
        runtime=$("$cc" -print-file-name=libomp.so)
    else
        libomp=${KIZAMI_TEST_DIR:-$HOME/.cache/kizami}/libomp
        runtime=$libomp/usr/lib/llvm-$version/lib/libomp.so
        [ -e "$runtime" ] || unpack_libomp "$libomp"
        flags+=(-isystem "$libomp/usr/lib/llvm-$version/lib/clang/$version/include")
    fi
    # The runtime is found without LD_LIBRARY_PATH. (A name without a place lies where every program looks.)
    if [ "${runtime#/}" != "$runtime" ]; then
        place=$(cd "$(dirname "$runtime")" && pwd -P)
        link=("-L$place" "-Wl,-rpath,$place")
        runtime=$place/libomp.so
    fi
    echo "runtime  $runtime"
else
    flags=(-fopenmp)
fi

# The major number of a compiler's version.
major() { # major COMPILER
    case $family in
    gcc) "$1" -dumpversion | cut -d . -f 1 ;;
    clang) "$1" --version | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -n 1 ;;
    esac
}
declare -A majors
for compiler in "$cc" "$cxx" "$fc"; do
    if command -v "$compiler" >/dev/null 2>&1; then
        majors[$compiler]=$(major "$compiler")
    fi
done

# Whether the source's comment lets this compiler build it; says so if not.
may_build() { # may_build NAME SOURCE COMPILER KIND
    local needed
    if [ -z "${majors[$3]:-}" ]; then
        echo "skipped  $1: no compiler $3"
        return 1
    fi
    needed=$(sed -n "s/^[ *!]*Needs:.*\\b$4 \\([0-9a-z]*\\).*/\\1/p" "$2")
    if [ "$needed" = none ]; then
        echo "skipped  $1: $3 lacks what it uses, and no later version is known to have it"
        return 1
    fi
    if [ "${needed:-0}" -gt "${majors[$3]}" ]; then
        echo "skipped  $1: $3 lacks what it uses, which version $needed has"
        return 1
    fi
}

# Some at once: there are many programs, and each takes a moment.
most=$(nproc)
running=0 failed=0
finish_one() {
    wait -n || failed=1
    running=$((running - 1))
}
build() { # build WORD PROGRAM COMMAND...
    [ "$running" -lt "$most" ] || finish_one
    echo "$1  $2"
    (
        said=$room/$2.said
        # With its own folder for Fortran modules. Warnings are shown, but fail nothing.
        mkdir "$room/$2"
        cd "$room/$2"
        if "${@:3}" -o "$out/$2" >"$said" 2>&1; then
            cat "$said" >&2
        else
            cat "$said" >&2
            echo "build.sh: cannot build $2 with $3" >&2
            exit 1
        fi
    ) &
    running=$((running + 1))
}

c_flags=(-std=gnu11 -O2 -g "${warnings[@]}" "${flags[@]}" ${CFLAGS:-})
cxx_flags=(-std=gnu++17 -O2 -g "${warnings[@]}" "${flags[@]}" ${CXXFLAGS:-})

for source in "$here"/*.c "$here"/constructs/*.c; do
    name=$(basename "$source" .c)
    case $name in hybrid | mixture) continue ;; esac
    may_build "$name" "$source" "$cc" "$family" || continue
    build "C      " "$name" "$cc" "${c_flags[@]}" "$source" "${link[@]}" -lm -lpthread
done
for source in "$here"/*.cpp "$here"/constructs/*.cpp; do
    name=$(basename "$source" .cpp)
    may_build "$name" "$source" "$cxx" "$family" || continue
    build "C++    " "$name" "$cxx" "${cxx_flags[@]}" -I"$here/../../include" "$source" "${link[@]}" -lpthread
done
for source in "$here"/constructs/*.f90; do
    name=$(basename "$source" .f90)
    may_build "$name" "$source" "$fc" "$fortran" || continue
    build "Fortran" "$name" "$fc" -O2 -g -fopenmp "${fortran_flags[@]}" ${FFLAGS:-} -I"$here/constructs" "$source" "${link[@]}"
done
# A program without OpenMP, and the library with it that it loads.
build "C      " loaded "$cc" -std=gnu11 -O2 -g "${warnings[@]}" ${CFLAGS:-} "$here/loaded/loaded.c"
build "C      " libpart.so "$cc" "${c_flags[@]}" -shared -fPIC "$here/loaded/part.c" "${link[@]}"
for mpi in openmpi mpich; do
    if ! command -v "mpicc.$mpi" >/dev/null 2>&1; then
        echo "skipped  hybrid.$mpi and mixture.$mpi: no MPI compiler for C (mpicc.$mpi)"
        continue
    fi
    # Each wrapper has its own way to be told the compiler.
    for name in hybrid mixture; do
        build "C      " "$name.$mpi" env OMPI_CC="$cc" MPICH_CC="$cc" "mpicc.$mpi" "${c_flags[@]}" "$here/$name.c" "${link[@]}" -lm
    done
done
while [ "$running" -gt 0 ]; do
    finish_one
done
exit "$failed"

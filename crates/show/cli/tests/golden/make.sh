#!/usr/bin/env bash
# Records the golden traces: one small trace of each kind that Kizami must be able to open for ever. See -h.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: make.sh KIZAMI [FOLDER]

Records with the command KIZAMI (libkizami.so lies beside it) what FOLDER (default: schema-1, beside this script)
does not have yet. A trace that is there is never written again: it shows that what was recorded long ago still opens.
For a new schema, or a table that did not exist, give a new FOLDER.
Needs what .ci/prepare installs, and root for the run on two hosts. Programs are built in /tmp/golden, so that traces
name no folder of whoever makes them.
TEXT
}

case "${1:-}" in
-h | --help) usage; exit 0 ;;
"") usage >&2; exit 2 ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
kizami=$(realpath "$1")
folder=$(realpath -m "${2:-$here/schema-1}")
prepared=${KIZAMI_TEST_DIR:-$HOME/.cache/kizami}
place=/tmp/golden
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

rm -rf "$place"
mkdir -p "$place" "$folder"
cp -r "$here/../../../../../workloads" "$here/../../../../../include" "$place/"

build() { # name mpicc [mpifort]: the programs of an MPI, in a folder of its own
    (cd "$place" && PATH="$(dirname "$2"):$PATH" sh workloads/build.sh "$1" "${@:2}") >"$place/build-$1.log" 2>&1 ||
        { cat "$place/build-$1.log"; exit 1; }
}

# Whether a trace is still to be made; goes to where its program is.
wanted() { # trace mpi
    name=$1
    [ ! -e "$folder/$name.kz" ] && [ ! -e "$folder/$name.tar.gz" ] || return 1
    cd "$place/$2"
    echo "golden trace $name"
}

record() { # [option of record ...] -- command ...
    "$kizami" record -o "$folder/$name.kz" "$@" >"$place/$name.log" 2>&1 || { cat "$place/$name.log"; exit 1; }
}

build openmpi4 "$(command -v mpicc.openmpi)" "$(command -v mpifort.openmpi)"
build mpich4 "$(command -v mpicc.mpich)" "$(command -v mpifort.mpich)"
build openmpi5 "$prepared/python/openmpi5/bin/mpicc"
build mpich5 "$prepared/python/mpich5/bin/mpicc"
build abi "$prepared/python/mpich5/bin/mpicc_abi"
build smpi "$(command -v smpicc)"

# Each MPI and language.
if wanted openmpi4 openmpi4; then record -- mpirun.openmpi -n 4 ./stencil2d 64 12 300; fi
if wanted mpich4 mpich4; then record -- mpirun.mpich -n 4 ./stencil2d 64 12 300; fi
if wanted openmpi5 openmpi5; then
    (PATH=$prepared/python/openmpi5/bin:$PATH record -- mpirun --oversubscribe -n 2 ./cg 40 6)
fi
if wanted mpich5 mpich5; then
    (PATH=$prepared/python/mpich5/bin:$PATH record -- mpirun -n 2 ./radix_sort 300)
fi
if wanted standard-abi abi; then
    (PATH=$prepared/python/mpich5/bin:$PATH record -- mpirun -n 2 ./matmul_shift 12)
fi
if wanted fortran-mpif mpich4; then record -- mpirun.mpich -n 2 ./jacobi3d_mpif 8 5; fi
if wanted fortran-f08 openmpi4; then record -- mpirun.openmpi -n 2 ./jacobi3d_f08 8 5; fi
if wanted mpi4py openmpi4; then record -- mpirun.openmpi -n 2 /usr/bin/python3 ring.py 4 256; fi
if wanted simulated smpi; then
    cat >cluster.xml <<'XML'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" radical="0-7" suffix="" speed="1Gf" bw="125MBps" lat="100us"/>
</platform>
XML
    printf 'node-%d\n' 0 1 2 3 4 5 6 7 >hosts
    record -- smpirun -platform cluster.xml -hostfile hosts --cfg=smpi/simulate-computation:no \
        --log=root.thres:warning -n 8 ./stencil2d 32 6
fi

# Each thing a program can do.
if wanted helpers openmpi4; then record -- mpirun.openmpi -n 2 ./helpers 20 4; fi
if wanted paths openmpi4; then record -- mpirun.openmpi -n 4 ./mgcg 8 4; fi
if wanted coverage mpich4; then record -- mpirun.mpich -n 2 ./coverage coverage.data; fi
if wanted threads mpich4; then record -- mpirun.mpich -n 2 ./threads 2 5 64; fi
if wanted regions openmpi4; then record -- mpirun.openmpi -n 2 ./regions 4; fi
if wanted one-sided mpich4; then record -- mpirun.mpich -n 2 ./onesided 32; fi
if wanted persistent openmpi4; then record -- mpirun.openmpi -n 2 ./persistent 4 32; fi
if wanted wildcard mpich4; then record -- mpirun.mpich -n 3 ./wildcard 6; fi
if wanted files openmpi4; then record -- mpirun.openmpi -n 2 ./io io.data 64; fi
if wanted late-sender openmpi4; then record -- mpirun.openmpi -n 2 ./late_sender 5 6; fi
# The run of the README and the book, where ranks wait and machines are quiet: see that nothing else runs.
if wanted late-sender-20 openmpi4; then
    record -- mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -n 4 ./late_sender 20 20
fi

# Each way to record. There is one more, paper.kz: older versions drew as a paper does while they recorded.
if wanted kept openmpi4; then record --keep 1% --keep-all-below 0 -- mpirun.openmpi -n 2 ./stencil2d 32 400; fi
if wanted kept-mpich mpich4; then record --keep 10K/s --keep-all-below 0 -- mpirun.mpich -n 4 ./spin_exchange halo 200 100 50 64; fi
if wanted counters openmpi4; then
    record --counters page-faults,context-switches -- mpirun.openmpi -n 2 ./stencil2d 32 6
fi
if wanted stopped-together openmpi4; then
    record --memory 1M --spill together -- mpirun.openmpi -n 2 ./halo 3000 8
fi

# One rank is killed in the middle; the launcher then ends the others.
if wanted killed mpich4; then
    "$kizami" record -o "$folder/$name.kz" -- mpirun.mpich -n 2 ./late_sender 10 100000 >"$place/$name.log" 2>&1 &
    recording=$!
    until compgen -G "$folder/$name.kz/raw/*.calls" >/dev/null; do sleep 0.05; done
    sleep 0.4
    first=$(ls "$folder/$name.kz/raw" | sed -n 's/.*\.\([0-9]*\)\.[0-9]*\.calls$/\1/p' | sort -n | head -1)
    kill -9 "$first"
    wait "$recording" || true
fi

# Two ranks wait for one that does not come, until somebody interrupts the run.
if wanted hung openmpi4; then
    timeout -s INT 3 "$kizami" record -o "$folder/$name.kz" -- mpirun.openmpi -n 3 ./hang busy \
        >"$place/$name.log" 2>&1 || true
fi

# Two hosts: each rank has a host name of its own, and the second a clock that is 5 ms ahead, runs 20 ppm fast and
# wanders by 3 us. Where clocks are not compared, messages come before they were sent until sealing moves them.
on_two_hosts() { # [option of record ...]
    printf '#!/bin/sh\nexec unshare --uts sh -c "hostname node-$PMI_RANK; exec $*"\n' >on_its_host
    chmod +x on_its_host
    KIZAMI_TEST_CLOCK="0=0,0,0,30;1=5000000,20,3000,30" \
        record "$@" -- mpirun.mpich -n 2 ./on_its_host ./spin_exchange halo 40 500 200 64
}
if wanted two-hosts mpich4; then on_two_hosts; fi
if wanted two-hosts-repaired mpich4; then on_two_hosts --no-clock-rounds; fi

# Made from others.
make_from() { # command source [option ...]
    "$kizami" "$1" "$2.kz" -o "$name.kz" "${@:3}" >"$place/$name.log" || { cat "$place/$name.log"; exit 1; }
}
if wanted reduced openmpi4; then (cd "$folder" && make_from reduce openmpi4 --keep 5% --keep-all-below 0); fi
if wanted reduced-paper mpich4; then (cd "$folder" && make_from reduce mpich4 --keep 20% --importance paper:h2); fi
if wanted undisturbed openmpi4; then (cd "$folder" && make_from undisturb openmpi4); fi
if wanted replayed mpich4; then (cd "$folder" && make_from replay mpich4 --network ideal --cpu 2x); fi

# Threads: two ranks with four each.
if wanted hybrid openmpi4; then
    mpicc.openmpi -g -O2 -fopenmp -o hybrid ../workloads/openmp/hybrid.c
    OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive record -- mpirun.openmpi -n 2 ./hybrid 3 2000
fi

# Tasks in virtual time.
if wanted fleng openmpi4; then
    (cd "$place/workloads/fleng" && "$kizami" fleng reverse.fl 'numbers(6, L), naive(L, R)' -o "$folder/fleng.kz" >/dev/null)
fi

# Raw segments that wait to be sealed, packed because most of them is room that was not needed. They hold numbers of
# functions: after a change of functions.txt they can only be refused, and these alone are then to be removed and made
# anew.
pack() {
    (cd "$folder" && tar --sort=name --owner=0 --group=0 -czf "$name.tar.gz" "$name.kz" && rm -r "$name.kz")
}
if wanted raw openmpi4; then record --no-seal -- mpirun.openmpi -n 2 ./stencil2d 16 4 && pack; fi
if wanted raw-kept mpich4; then record --no-seal --keep 1% --keep-all-below 0 -- mpirun.mpich -n 2 ./stencil2d 16 100 && pack; fi
if wanted raw-counters mpich4; then
    record --no-seal --counters page-faults,context-switches -- mpirun.mpich -n 2 ./stencil2d 16 4 && pack
fi

rm -rf "$folder"/*.kz/derived "$place"
du -sh --apparent-size "$folder"

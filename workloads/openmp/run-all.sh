#!/usr/bin/env bash
# Runs every program of a folder that build.sh filled, and says which failed. See -h.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: run-all.sh DIR [COMMAND...]

Runs every program of DIR with 1, 2 and 4 threads, naps and pool in all their
shapes, fib in all its modes, endings in all its ways but being killed, and hybrid
and mixture with 2 ranks. Prints the programs that failed, with what
they wrote, and exits with 1 if there are any. COMMAND is put before each
program, to run them under a tool; before mpirun for those. SECONDS_EACH (60) is
how long a program may take.
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

directory=$(cd "$1" && pwd)
shift
# On few cores, threads that wait actively take the time of those that work.
export OMP_CANCELLATION=true OMP_WAIT_POLICY=passive OMP_DYNAMIC=false
ran=0 failed=0
said=$(mktemp)
trap 'rm -f "$said"' EXIT

run() { # run COMMAND...
    local code=0
    timeout "${SECONDS_EACH:-60}" "$@" >"$said" 2>&1 </dev/null || code=$?
    ran=$((ran + 1))
    if [ "$code" -ne 0 ]; then
        failed=$((failed + 1))
        echo "failed with $code, OMP_NUM_THREADS=$OMP_NUM_THREADS: $*"
        sed 's/^/    /' "$said"
    fi
}

for program in "$directory"/*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    for threads in 1 2 4; do
        export OMP_NUM_THREADS=$threads
        case $(basename "$program") in
        fib)
            for mode in plain if final; do
                run "$@" "$program" 18 5 $mode
            done
            ;;
        naps)
            for shape in tree wave cholesky flat; do
                run "$@" "$program" $shape 0 500
            done
            ;;
        pool)
            for shape in tree wave sort; do
                run "$@" "$program" $shape 0 500 $threads
            done
            ;;
        endings)
            for what in threads together fork child exec; do
                run "$@" "$program" $what
            done
            ;;
        *.so) ;;
        *.openmpi)
            run "$@" mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 2 "$program"
            ;;
        *.mpich)
            run "$@" mpirun.mpich -n 2 "$program"
            ;;
        *)
            run "$@" "$program"
            ;;
        esac
    done
done
echo "$ran runs, $failed failed"
[ "$ran" -gt 0 ] && [ "$failed" -eq 0 ]

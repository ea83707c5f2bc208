"""The same as truth.h for programs in Python."""
import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
mode = sys.argv[1] if len(sys.argv) > 1 else "sick"
began = MPI.Wtime()


def number(which, otherwise):
    """The number that follows the mode, or the one after it, and so on."""
    return int(sys.argv[which + 1]) if len(sys.argv) > which + 1 else otherwise


def work_us(us):
    if us > 0:
        time.sleep(us / 1e6)


def end():
    print(f"loop {MPI.Wtime() - began:.9f}", flush=True)

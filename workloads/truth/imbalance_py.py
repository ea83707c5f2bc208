"""One rank solves a harder part than the others; numbers are added up by buffers.

arguments: steps, work of each rank (us), additional work of the late one (us), the late one
disease: imbalance
place: apart
run: 4 openmpi=4 args="60 4000 8000 2" blamed=2
run: 2 mpich=2 args="60 4000 8000 1" blamed=1
"""
from array import array

import truth
from mpi4py import MPI


def solve(us):
    truth.work_us(us)
    return array("d", [1.0] * 10)


def main():
    steps, us, more_us = truth.number(1, 60), truth.number(2, 4000), truth.number(3, 8000)
    if truth.mode == "sick" and truth.world.rank == truth.number(4, 2):
        us += more_us
    whole = array("d", [0.0] * 10)
    for _ in range(steps):
        part = solve(us)  # place begin
        truth.world.Allreduce([part, MPI.DOUBLE], [whole, MPI.DOUBLE])  # place end
    truth.end()


main()

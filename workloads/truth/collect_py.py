"""Rank 0 takes a pickled object of each rank, one after the other, and works on each. A reduction does it together.

arguments: steps, work of each rank (us), work of rank 0 on each object (us)
disease: collection-loop imbalance late-root
place: apart
blamed: 0
run: 4 openmpi=4 args="60 4000 3000"
"""
from array import array

import truth
from mpi4py import MPI


def solve(us):
    truth.work_us(us)
    return array("d", [truth.world.rank] * 1000)


def collect(part, object_us):
    world = truth.world
    if truth.mode != "sick":
        whole = array("d", bytes(8 * len(part)))
        world.Reduce([part, MPI.DOUBLE], [whole, MPI.DOUBLE], root=0)
    elif world.rank == 0:
        for source in range(1, world.size):
            found = world.recv(source=source, tag=5)  # place begin
            truth.work_us(object_us)
            assert len(found["part"]) == len(part)  # place end
    else:
        world.send({"part": part, "name": "m" * 100}, dest=0, tag=5)


def main():
    steps, us, object_us = truth.number(1, 60), truth.number(2, 4000), truth.number(3, 3000)
    for step in range(steps):
        collect(solve(us), object_us)
        truth.world.bcast({"step": step} if truth.world.rank == 0 else None)
    truth.end()


main()

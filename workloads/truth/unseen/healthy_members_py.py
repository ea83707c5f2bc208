"""Nothing is wrong: an ensemble whose members are independent of each other, two of them (or one for each rank), with a halo between
the ranks of a member. Statistics over all members travel while the next step is computed, and are looked at every fifth step.

arguments: steps, work of each rank (us), members
run: 4 openmpi=4 args="45 11000 2"
run: 2 mpich=2 args="45 11000 1"
"""
from array import array

import truth
from mpi4py import MPI

OFTEN = 5


class Member:
    def __init__(self, members):
        self.comm = truth.world.Split(truth.world.rank % members, truth.world.rank)
        self.edge, self.halo = array("d", [1.0] * 200), array("d", [0.0] * 200)

    def advance(self, us):
        size, rank = self.comm.size, self.comm.rank
        requests = [
            self.comm.Irecv([self.halo, MPI.DOUBLE], (rank - 1) % size, 0),
            self.comm.Isend([self.edge, MPI.DOUBLE], (rank + 1) % size, 0),
        ]
        truth.work_us(us)
        MPI.Request.Waitall(requests)


class Statistics:
    def __init__(self):
        self.mine, self.all = array("d", [1.0] * 20), array("d", [0.0] * 20)
        self.pending = MPI.REQUEST_NULL

    def add(self):
        self.pending.Wait()
        self.pending = truth.world.Iallreduce([self.mine, MPI.DOUBLE], [self.all, MPI.DOUBLE])

    def finish(self):
        self.pending.Wait()


def main():
    steps, us = truth.number(1, 45), truth.number(2, 11000)
    member, statistics = Member(truth.number(3, 2)), Statistics()
    for step in range(steps):
        member.advance(us * (0.99 + 0.02 * ((step * 5 + truth.world.rank * 3) % 7) / 6))
        if step % OFTEN == OFTEN - 1:
            statistics.add()
    statistics.finish()
    truth.end()


main()

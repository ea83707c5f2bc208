"""Every so many steps the first rank gathers what all have and writes a checkpoint alone (a sleep), before it broadcasts the
length of the next time step, for which all others wait. In the fixed run the file system takes it while the run goes on.

arguments: steps, work of each rank (us), writing (us), every how many steps, numbers of each rank
disease: serialised-io rare-imbalance imbalance late-root
blamed: 0
place: apart
run: 4 openmpi=4 args="60 5000 16000 5 2000"
run: 2 mpich=2 args="60 5000 16000 5 2000"
"""
from array import array

import truth
from mpi4py import MPI


class Checkpoint:
    def __init__(self, numbers, writing_us):
        self.state = array("d", [truth.world.rank] * numbers)
        first = truth.world.rank == 0
        self.whole = array("d", bytes(8 * numbers * truth.world.size)) if first else None
        self.writing_us = writing_us

    def gather(self):
        whole = [self.whole, MPI.DOUBLE] if self.whole is not None else None
        truth.world.Gather([self.state, MPI.DOUBLE], whole, root=0)

    def write(self):
        self.gather()
        if truth.world.rank == 0:
            truth.work_us(self.writing_us)  # the place


def agree_on_dt(dt):
    return truth.world.bcast(dt if truth.world.rank == 0 else None)  # the place


def main():
    steps, us, writing_us, every, numbers = (truth.number(which, 0) for which in range(1, 6))
    checkpoint = Checkpoint(numbers, writing_us if truth.mode == "sick" else 0)
    dt = 0.1
    for step in range(steps):
        dt = agree_on_dt(dt)
        truth.work_us(us)
        if step % every == every - 1:
            checkpoint.write()  # the place
    agree_on_dt(dt)
    truth.end()


main()

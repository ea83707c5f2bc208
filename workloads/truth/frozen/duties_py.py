"""An ocean with three diagnostics, each of which is put together on one rank, which then works on it: heat, salt and ice. It
is the first rank for all three, as nobody ever said which, and all others wait for it where it broadcasts what to do next.
Shared out over ranks, they are worked on at the same time.

arguments: steps, work of each rank (us), work on a diagnostic (us)
disease: imbalance late-root
blamed: 0
place: apart
run: 4 openmpi=4 args="50 6000 2500"
run: 2 mpich=2 args="50 6000 2500"
"""
from array import array

import truth
from mpi4py import MPI


class Diagnostic:
    def __init__(self, name, root, us):
        self.name, self.root, self.us = name, root, us
        self.mine = array("d", [1.0] * 100)
        self.whole = array("d", bytes(8 * 100))

    def put_together(self):
        whole = [self.whole, MPI.DOUBLE] if truth.world.rank == self.root else None
        truth.world.Reduce([self.mine, MPI.DOUBLE], whole, root=self.root)

    def analyse(self):
        if truth.world.rank == self.root:
            truth.work_us(self.us)  # the place
        return self.name


def root_of(number):
    return 0 if truth.mode == "sick" else truth.world.size - 1 - number % truth.world.size


def next_orders(step):
    return truth.world.bcast({"step": step + 1} if truth.world.rank == 0 else None)  # the place


def main():
    steps, us, work_us = truth.number(1, 50), truth.number(2, 6000), truth.number(3, 2500)
    heat, salt, ice = (Diagnostic(name, root_of(number), work_us) for number, name in enumerate(["heat", "salt", "ice"]))
    for step in range(steps):
        truth.work_us(us)
        for diagnostic in heat, salt, ice:
            diagnostic.put_together()
        heat.analyse()  # place begin
        salt.analyse()
        ice.analyse()
        orders = next_orders(step)  # place end
        assert orders["step"] == step + 1
    truth.end()


main()

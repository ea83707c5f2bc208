"""Quantum Monte Carlo: each rank moves its walkers, and then all agree on a trial energy. A walker may come into a region where many
attempts are needed, on another rank each time, and all others wait for that rank. The fix shares out attempts: walkers that
need many are taken over by whoever has few, so that each rank has its share.

arguments: steps, moving (us), attempts of a difficult walker (us), seed
disease: random-imbalance moving-imbalance
fix: balance
run: 4 openmpi=4 args="50 7000 6000 seed"
"""
import random
from array import array

import truth
from mpi4py import MPI


class Walkers:
    def __init__(self, us, difficult_us, seed):
        self.us, self.difficult_us = us, difficult_us
        self.same_everywhere = random.Random(seed)
        self.here = random.Random(1000 * seed + truth.world.rank)

    def attempts_us(self):
        where = self.same_everywhere.randrange(truth.world.size)
        if truth.mode != "sick":
            return self.difficult_us / truth.world.size
        return self.difficult_us if where == truth.world.rank else 0

    def move(self):
        truth.work_us(self.us * self.here.uniform(0.97, 1.03) + self.attempts_us())  # the place


class Energy:
    def __init__(self):
        self.mine, self.all = array("d", [-1.0, 1.0]), array("d", [0.0, 0.0])

    def agree(self):
        truth.world.Allreduce([self.mine, MPI.DOUBLE], [self.all, MPI.DOUBLE])  # the place
        return self.all[0] / self.all[1]


def main():
    steps = truth.number(1, 50)
    walkers, energy = Walkers(truth.number(2, 7000), truth.number(3, 6000), truth.number(4, 1)), Energy()
    for _ in range(steps):
        walkers.move()  # place begin
        energy.agree()  # place end
    truth.end()


main()

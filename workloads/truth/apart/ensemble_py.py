"""An ensemble of forecasts, a group of ranks with a communicator of its own for each member. One member has a stiffer
problem, so its group takes more inner iterations in every step, and all groups wait for it where the ensemble's mean is
made. The fix gives it a solver that needs no more than the others; balanced, groups have ranks as they have work.

arguments: cycles, steps of a cycle, work of a step (us), additional work of the slow member (us), ranks of a group, the
           slow member
disease: imbalance
place: apart
run: 6-balance openmpi=6 args="20 4 3000 4000 2 1" blamed=2-3 fix=balance
run: 4 openmpi=4 args="24 3 4000 3000 2 0" blamed=0-1
run: 2 mpich=2 args="24 3 4000 3000 1 1" blamed=1
"""
from array import array

import truth
from mpi4py import MPI


class Member:
    def __init__(self, number, group, us):
        self.number, self.group, self.us = number, group, us
        self.state = array("d", [number] * 500)

    def step(self):
        local = array("d", [1.0])
        residual = array("d", [0.0])
        truth.work_us(self.us)  # place begin
        self.group.Allreduce([local, MPI.DOUBLE], [residual, MPI.DOUBLE])

    def forecast(self, steps):
        for _ in range(steps):
            self.step()


def mean_of(members, state):
    mean = array("d", bytes(8 * len(state)))
    truth.world.Allreduce([state, MPI.DOUBLE], [mean, MPI.DOUBLE])  # place end
    return array("d", [value / members for value in mean])


def main():
    cycles, steps, us, more_us = (truth.number(which, 0) for which in range(1, 5))
    size, slow = truth.number(5, 2), truth.number(6, 0)
    number = truth.world.rank // size
    group = truth.world.Split(number, truth.world.rank)
    members = truth.world.size // size
    shares = {"sick": 1 if number == slow else 0, "fix": 0, "balance": 1 / members}
    member = Member(number, group, us + more_us * shares[truth.mode])
    for _ in range(cycles):
        member.forecast(steps)
        member.state = mean_of(members, member.state)
    truth.end()


main()

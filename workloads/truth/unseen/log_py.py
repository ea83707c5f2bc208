"""A model of two parts, water and air. Half of all ranks have more water, the others more air, and both together take the same time
everywhere. Behind each part the largest change is found over all ranks, only to be logged, so everybody waits for those who
have more of the one and then for those who have more of the other. The fix logs both once, at the end of the step.

arguments: steps, mean work of each rank on a part (us), by how much parts differ (%)
disease: needless-collective needless-barrier moving-imbalance
run: 4 openmpi=4 args="40 8000 45"
run: 2 mpich=2 args="40 8000 45"
"""
from array import array

import truth
from mpi4py import MPI


class Log:
    def __init__(self, at_once):
        self.at_once = at_once
        self.pending, self.lines = [], []

    def largest(self, changes):
        mine, every = array("d", changes), array("d", [0.0] * len(changes))
        truth.world.Allreduce([mine, MPI.DOUBLE], [every, MPI.DOUBLE], op=MPI.MAX)  # the place
        self.lines.extend(every)

    def add(self, change):
        if self.at_once:
            self.largest([change])  # the place
        else:
            self.pending.append(change)

    def end_of_step(self):
        if self.pending:
            self.largest(self.pending)
            self.pending = []


class Part:
    def __init__(self, us, sign, differs):
        more = sign if truth.world.rank % 2 == 0 else -sign
        self.us, self.step = us * (1 + more * differs), 0

    def advance(self):
        self.step += 1
        truth.work_us(self.us * (0.98 + 0.04 * ((self.step * 5 + truth.world.rank * 3) % 9) / 8))  # the place
        return 1 / self.step


def main():
    steps, us, differs = truth.number(1, 40), truth.number(2, 8000), truth.number(3, 45) / 100
    parts = [Part(us, 1, differs), Part(us, -1, differs)]
    log = Log(truth.mode == "sick")
    for _ in range(steps):
        for part in parts:
            change = part.advance()  # place begin
            log.add(change)  # place end
        log.end_of_step()
    truth.end()


main()

"""A climate column model in three parts, each of which ends with another exchange: edges with neighbours, a sum that is only waited
for in the next part, and a broadcast. One rank's core is too hot and runs at two thirds of its speed in all parts.

arguments: steps, work of each rank on each of three parts (us), by how much the hot core is slower (%), its rank
disease: slow-ranks imbalance
place: apart
run: 4 openmpi=4 args="40 5000 3500 4000 50 2" blamed=2
"""
from array import array

import truth
from mpi4py import MPI


class Core:
    def __init__(self, slower):
        self.slower = slower
        self.done = 0

    def work(self, us):
        self.done += 1
        truth.work_us(us * self.slower * (0.98 + 0.04 * ((self.done * 3 + truth.world.rank * 5) % 7) / 6))


class Columns:
    def __init__(self, core):
        self.core = core
        self.mine, self.all = array("d", [1.0] * 8), array("d", [0.0] * 8)
        self.edge, self.halo = array("d", [0.0] * 100), array("d", [0.0] * 100)
        size, rank = truth.world.size, truth.world.rank
        self.right, self.left = (rank + 1) % size, (rank - 1) % size
        self.sum = MPI.REQUEST_NULL

    def dynamics(self, us):
        self.core.work(us)  # place begin
        truth.world.Sendrecv([self.edge, MPI.DOUBLE], self.right, 0, [self.halo, MPI.DOUBLE], self.left, 0)  # place end

    def physics(self, us):
        self.core.work(us)  # place begin
        self.sum.Wait()  # place end
        self.sum = truth.world.Iallreduce([self.mine, MPI.DOUBLE], [self.all, MPI.DOUBLE])

    def output(self, us, step):
        self.core.work(us)  # place begin
        truth.world.Bcast([self.edge, MPI.DOUBLE], root=step % truth.world.size)  # place end

    def finish(self):
        self.sum.Wait()


def main():
    steps = truth.number(1, 40)
    parts = [truth.number(2, 5000), truth.number(3, 3500), truth.number(4, 4000)]
    hot = truth.mode == "sick" and truth.world.rank == truth.number(6, 2)
    columns = Columns(Core(1 + truth.number(5, 50) / 100 if hot else 1))
    for step in range(steps):
        columns.dynamics(parts[0])
        columns.physics(parts[1])
        columns.output(parts[2], step)
    columns.finish()
    truth.end()


main()

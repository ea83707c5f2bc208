"""Particles in a channel, a box for each rank. In every step some of them go on to the next box with the wind, and from the
last one there is no way out, so it fills up, and all others wait for it where the field is added up. The fix moves the walls
of boxes as particles move, so that each has the same number of them.

arguments: steps, work of each rank on its particles at the beginning (us), how many of a thousand go on
disease: growing-imbalance imbalance
fix: balance
place: apart
run: 4 openmpi=4 args="50 12000 20" blamed=3
run: 2 mpich=2 args="50 12000 20" blamed=1
"""
from array import array

import truth
from mpi4py import MPI

PARTICLES = 1000


class Box:
    def __init__(self, us_of_one, going):
        self.particles = [0.0] * PARTICLES
        self.us_of_one, self.going = us_of_one, going
        last = truth.world.size - 1
        rank = truth.world.rank
        self.left = rank - 1 if rank > 0 else MPI.PROC_NULL
        self.right = rank + 1 if rank < last else MPI.PROC_NULL

    def push(self):
        truth.work_us(len(self.particles) * self.us_of_one)  # the place

    def migrate(self):
        """With walls that move, as many come as go."""
        count = int(len(self.particles) * self.going) if self.right != MPI.PROC_NULL else 0
        leaving, self.particles = self.particles[:count], self.particles[count:]
        coming = truth.world.sendrecv(leaving, dest=self.right, source=self.left)
        if truth.mode == "sick":
            self.particles += coming or []
        else:
            self.particles += leaving


def field_of(density):
    mine, everywhere = array("d", [density]), array("d", [0.0])
    truth.world.Allreduce([mine, MPI.DOUBLE], [everywhere, MPI.DOUBLE])  # the place
    return everywhere[0]


def main():
    steps, us, thousandths = truth.number(1, 60), truth.number(2, 6000), truth.number(3, 15)
    box = Box(us / PARTICLES, thousandths / 1000)
    for _ in range(steps):
        box.push()  # place begin
        field_of(len(box.particles))  # place end
        box.migrate()
    truth.end()


main()

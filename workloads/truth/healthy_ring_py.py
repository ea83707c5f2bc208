"""Nothing is wrong: a ring of ranks with the same work on each, and objects that travel meanwhile.

arguments: steps, work of each rank (us)
run: 4 openmpi=4 args="60 10000"
run: 2 mpich=2 args="60 10000"
"""
import truth


def main():
    world = truth.world
    steps, us = truth.number(1, 60), truth.number(2, 10000)
    for step in range(steps):
        coming = world.irecv(source=(world.rank - 1) % world.size, tag=1)
        going = world.isend({"step": step}, dest=(world.rank + 1) % world.size, tag=1)
        truth.work_us(us)
        assert coming.wait()["step"] == step
        going.wait()
    truth.end()


main()

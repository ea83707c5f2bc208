"""Rank 0 makes up the parameters of the next step before it broadcasts them, and everybody waits for that.

arguments: steps, work of each rank (us), work of rank 0 before the broadcast (us)
disease: late-root imbalance
blamed: 0
place: apart
run: 4 openmpi=4 args="60 4000 6000"
run: 2 mpich=2 args="60 4000 6000"
"""
import truth


def parameters(step, us):
    truth.work_us(us)
    return {"step": step, "length": 0.1}


def main():
    world, steps, us = truth.world, truth.number(1, 60), truth.number(2, 4000)
    before_us = truth.number(3, 6000) if truth.mode == "sick" else 0
    for step in range(steps):
        made = parameters(step, before_us) if world.rank == 0 else None  # place begin
        made = world.bcast(made)  # place end
        assert made["step"] == step
        truth.work_us(us)
    truth.end()


main()

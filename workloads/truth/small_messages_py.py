"""Neighbours exchange a list item by item, each pickled and sent alone, where one message with the list would do.

arguments: steps, work of each rank (us), items
disease: small-messages
place: apart
run: 4 openmpi=4 args="30 4000 300"
run: 2 mpich=2 args="30 4000 300"
"""
import truth


def exchange(items):
    world = truth.world
    partner = world.rank ^ 1
    if truth.mode != "sick":
        return world.sendrecv(items, dest=partner, source=partner)
    return [world.sendrecv(item, dest=partner, source=partner) for item in items]  # the place


def main():
    steps, us, count = truth.number(1, 30), truth.number(2, 4000), truth.number(3, 300)
    for _ in range(steps):
        truth.work_us(us)
        exchange(list(range(count)))
    truth.end()


main()

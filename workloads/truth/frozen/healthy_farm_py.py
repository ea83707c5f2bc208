"""Nothing is wrong: a task farm. The master hands out tasks to whoever is free, many for each worker, and each worker has a
second one ahead, so that it never waits for the next. The master waits most of the time, as it should.

arguments: tasks of each worker, mean work of a task (us)
run: 4 openmpi=4 args="60 12000"
run: 2 mpich=2 args="60 12000"
"""
import truth
from mpi4py import MPI

TASK, RESULT = 1, 2
AHEAD = 2


class Master:
    def __init__(self, tasks):
        self.tasks = iter(tasks)
        self.results = []

    def give(self, worker):
        truth.world.send(next(self.tasks, None), dest=worker, tag=TASK)

    def run(self):
        workers = range(1, truth.world.size)
        for _ in range(AHEAD):
            for worker in workers:
                self.give(worker)
        awaited = AHEAD * len(workers)
        while awaited > 0:
            status = MPI.Status()
            result = truth.world.recv(source=MPI.ANY_SOURCE, tag=RESULT, status=status)
            if result is None:
                awaited -= 1
            else:
                self.results.append(result)
                self.give(status.Get_source())


def work():
    done = 0
    while done < AHEAD:
        us = truth.world.recv(source=0, tag=TASK)
        if us is None:
            done += 1
        else:
            truth.work_us(us)
        truth.world.send(us, dest=0, tag=RESULT)


def main():
    each, us = truth.number(1, 60), truth.number(2, 12000)
    tasks = [us * (0.9 + 0.2 * (number * 7 % 11) / 10) for number in range(each * (truth.world.size - 1))]
    if truth.world.rank == 0:
        Master(tasks).run()
    else:
        work()
    truth.end()


main()

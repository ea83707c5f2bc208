"""Statistics of turbulence: every rank makes histograms of its part, and the first one takes them in order of rank, merges each
into its own by itself, and tells all others the quantiles they go on with. The fix merges in a reduction, whose
operation adds up counts and costs next to nothing.

arguments: steps, work of each rank on its histograms (us), merging one of them (us)
disease: collection-loop imbalance late-root serialised-section
blamed: 0
run: 4 openmpi=4 args="40 9000 1900"
run: 2 mpich=2 args="40 9000 6500"
"""
from array import array

import truth
from mpi4py import MPI

HISTOGRAM, BINS = 4, 64


class Histogram:
    def __init__(self, bins=BINS):
        self.counts = array("d", [1.0] * bins)

    def merge(self, other, us):
        truth.work_us(us)  # the place
        for at, count in enumerate(other.counts):
            self.counts[at] += count

    def quantile(self):
        return sum(self.counts) / 2


def collect(mine, us):
    if truth.world.rank != 0:
        truth.world.send(mine, dest=0, tag=HISTOGRAM)
        return None
    for source in range(1, truth.world.size):  # place begin
        mine.merge(truth.world.recv(source=source, tag=HISTOGRAM), us)  # place end
    return mine.quantile()


def quantile_by_hand(mine, us):
    return truth.world.bcast(collect(mine, us), root=0)  # the place


def quantile_by_reduction(mine):
    every = array("d", [0.0] * BINS)
    truth.world.Allreduce([mine.counts, MPI.DOUBLE], [every, MPI.DOUBLE])
    return sum(every) / 2


def main():
    steps, us, merge_us = truth.number(1, 40), truth.number(2, 9000), truth.number(3, 1900)
    for step in range(steps):
        truth.work_us(us * (0.98 + 0.04 * ((step * 7 + truth.world.rank * 5) % 11) / 10))
        histogram = Histogram()
        if truth.mode == "sick":
            quantile_by_hand(histogram, merge_us)  # the place
        else:
            quantile_by_reduction(histogram)
    truth.end()


main()

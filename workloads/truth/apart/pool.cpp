/* Iterations to a self-consistent field: in each, a master hands out chunks of integrals to whoever asks, and then all add
 * up their parts of the matrix. Chunks are so large that there are a few for each worker, so at the end of each
 * iteration some still work on their last one while the others have nothing left: now these, now those, as integrals differ.
 * Handed out in small chunks, all end at nearly the same time.
 *
 * arguments: iterations, integrals, mean work on one (us), integrals in a chunk, seed
 * disease: random-imbalance moving-imbalance
 * fix: balance
 * run: 9 smpi=9 args="30 160 400 8 seed"
 * run: 25 smpi=25 args="30 720 350 12 seed"
 * run: 5 real=5 args="20 72 2000 8 seed"
 */
#include "truth.h"

#include <vector>

enum { ASK = 1, TAKE = 2, LENGTH = 200 };

static void hand_out(int integrals, int chunk, int workers)
{
    for (int next = 0, done = 0; done < workers; next += chunk) {
        MPI_Status status;
        MPI_Recv(nullptr, 0, MPI_INT, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
        int first = next < integrals ? next : -1;
        MPI_Send(&first, 1, MPI_INT, status.MPI_SOURCE, TAKE, MPI_COMM_WORLD);
        done += first < 0;
    }
}

/* What differs between integrals is how many of their parts can be left out. */
static double chunk_us(int first, int integrals, int chunk, double us, long iteration, long seed)
{
    double sum = 0;
    for (int integral = first; integral < first + chunk && integral < integrals; integral++)
        sum += us * (0.4 + 1.2 * chance(seed, iteration, integral));
    return sum;
}

static void take_chunks(int integrals, int chunk, double us, long iteration, long seed)
{
    for (;;) {
        int first;
        MPI_Send(nullptr, 0, MPI_INT, 0, ASK, MPI_COMM_WORLD); /* place begin */
        MPI_Recv(&first, 1, MPI_INT, 0, TAKE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (first < 0)
            return;
        work_us(chunk_us(first, integrals, chunk, us, iteration, seed)); /* place end */
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long iterations = truth_number(&truth, 1, 30), seed = truth_number(&truth, 5, 1);
    int integrals = (int)truth_number(&truth, 2, 160);
    int chunk = truth.mode == SICK ? (int)truth_number(&truth, 4, 8) : 1;
    double us = truth_number(&truth, 3, 400);
    std::vector<double> mine(LENGTH), matrix(LENGTH);
    for (long iteration = 0; iteration < iterations; iteration++) {
        if (truth.rank == 0)
            hand_out(integrals, chunk, truth.ranks - 1);
        else
            take_chunks(integrals, chunk, us, iteration, seed);
        MPI_Allreduce(mine.data(), matrix.data(), LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work_us(us); /* Everybody diagonalises the matrix. */
    }
    truth_end(&truth);
}

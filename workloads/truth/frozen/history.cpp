/* A model whose ranks, in groups of three, put what they have into the window of a rank that writes history, which opens it
 * when it has compressed what it took before. One of those has fields that compress badly and is late with its window, so
 * its three wait, and as they exchange with their neighbours, all others do.
 *
 * arguments: steps, work of each rank of the model (us), compressing (us), additional compressing of the late one (us), the
 *            late one (every fourth rank writes history, from 3)
 * disease: late-post imbalance
 * run: 16 smpi=16 args="60 3000 1500 4800 11" blamed=11
 * run: 4 real=4 args="50 6000 3000 8000 3" blamed=3
 */
#include "truth.h"

#include <vector>

enum { GROUP = 4, LENGTH = 200 };

class History {
    MPI_Comm comm;
    MPI_Group others;
    MPI_Win window;
    double *taken;
    int place;

public:
    explicit History(int rank)
    {
        MPI_Comm_split(MPI_COMM_WORLD, rank / GROUP, rank, &comm);
        MPI_Comm_rank(comm, &place);
        bool writes = place == GROUP - 1;
        int writer = GROUP - 1;
        MPI_Group all;
        MPI_Comm_group(comm, &all);
        writes ? MPI_Group_excl(all, 1, &writer, &others) : MPI_Group_incl(all, 1, &writer, &others);
        MPI_Group_free(&all);
        MPI_Aint bytes = writes ? (GROUP - 1) * LENGTH * (MPI_Aint)sizeof(double) : 0;
        MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, comm, &taken, &window);
    }
    ~History()
    {
        MPI_Win_free(&window);
        MPI_Group_free(&others);
        MPI_Comm_free(&comm);
    }
    void write(double compressing_us)
    {
        work_us(compressing_us);          /* place begin */
        MPI_Win_post(others, 0, window); /* place end */
        MPI_Win_wait(window);
    }
    void put(const std::vector<double> &field)
    {
        MPI_Win_start(others, 0, window);
        MPI_Put(field.data(), LENGTH, MPI_DOUBLE, GROUP - 1, place * LENGTH, LENGTH, MPI_DOUBLE, window);
        MPI_Win_complete(window);
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 60);
    double us = truth_number(&truth, 2, 3000), compressing_us = truth_number(&truth, 3, 1500);
    if (truth.mode == SICK && truth.rank == truth_number(&truth, 5, 11))
        compressing_us += truth_number(&truth, 4, 3500);
    bool writes = truth.rank % GROUP == GROUP - 1;
    std::vector<double> field(LENGTH), halo(LENGTH);
    MPI_Comm model;
    int rank, ranks;
    MPI_Comm_split(MPI_COMM_WORLD, writes, truth.rank, &model);
    MPI_Comm_rank(model, &rank);
    MPI_Comm_size(model, &ranks);
    {
        History history(truth.rank);
        for (long step = 0; step < steps; step++) {
            if (writes) {
                history.write(compressing_us);
                continue;
            }
            work_us(us);
            history.put(field);
            MPI_Sendrecv(field.data(), LENGTH, MPI_DOUBLE, (rank + 1) % ranks, 0, halo.data(), LENGTH, MPI_DOUBLE,
                         (rank + ranks - 1) % ranks, 0, model, MPI_STATUS_IGNORE);
        }
    }
    MPI_Comm_free(&model);
    truth_end(&truth);
}

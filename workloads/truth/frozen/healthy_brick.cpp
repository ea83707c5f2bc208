/* Nothing is wrong: a stencil on a brick of ranks in 3-D. Faces are sent before the work on the inside, which is much longer
 * than they travel, and each border is done when its face has come. Every tenth step there is a sum.
 *
 * arguments: steps, work of each rank on the inside (us), on each of six borders (us), doubles of a face
 * run: 27 smpi=27 args="50 5000 200 10000"
 */
#include "truth.h"

#include <array>
#include <vector>

class Brick {
    static constexpr int faces = 6;
    MPI_Comm grid;
    std::array<int, faces> beside;
    std::array<std::vector<double>, faces> out, in;
    std::array<MPI_Request, faces> coming, going;

public:
    Brick(int ranks, int length)
    {
        int sizes[3] = {0, 0, 0}, around[3] = {1, 1, 1};
        MPI_Dims_create(ranks, 3, sizes);
        MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, around, 0, &grid);
        for (int axis = 0; axis < 3; axis++)
            MPI_Cart_shift(grid, axis, 1, &beside[2 * axis], &beside[2 * axis + 1]);
        for (int face = 0; face < faces; face++) {
            out[face].resize(length);
            in[face].resize(length);
        }
    }
    ~Brick() { MPI_Comm_free(&grid); }
    void start()
    {
        for (int face = 0; face < faces; face++)
            MPI_Irecv(in[face].data(), (int)in[face].size(), MPI_DOUBLE, beside[face], face ^ 1, grid, &coming[face]);
        for (int face = 0; face < faces; face++)
            MPI_Isend(out[face].data(), (int)out[face].size(), MPI_DOUBLE, beside[face], face, grid, &going[face]);
    }
    void inside(double us) { work_us(us); }
    void borders(double us)
    {
        for (int done = 0; done < faces; done++) {
            int face;
            MPI_Waitany(faces, coming.data(), &face, MPI_STATUS_IGNORE);
            work_us(us);
        }
        MPI_Waitall(faces, going.data(), MPI_STATUSES_IGNORE);
    }
    double energy()
    {
        double mine = 1, all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
        return all;
    }
};

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    long steps = truth_number(&truth, 1, 50);
    double inside_us = truth_number(&truth, 2, 5000), border_us = truth_number(&truth, 3, 200);
    {
        Brick brick(truth.ranks, (int)truth_number(&truth, 4, 10000));
        for (long step = 0; step < steps; step++) {
            brick.start();
            brick.inside(inside_us);
            brick.borders(border_us);
            if (step % 10 == 9 && brick.energy() <= 0)
                break;
        }
    }
    truth_end(&truth);
}

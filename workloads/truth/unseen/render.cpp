/* A film, frame by frame in tiles: a master hands out tiles and puts each that comes back into the frame, with correction of its
 * colours, before it hands out the next one. There are so many workers that they queue for the master. The fix
 * has workers correct colours; what is left to the master is a twentieth.
 *
 * arguments: frames, tiles of a frame, work of a worker on a tile (us), correction of its colours (us)
 * disease: imbalance late-sender collection-loop
 * blamed: 0
 * run: 13 smpi=13 args="24 96 4200 520"
 */
#include "truth.h"

#include <vector>

enum { TILE = 1, DONE = 2, END = 3, PIXELS = 256 };

class Frame {
    std::vector<double> pixels;
    double correct_us;

public:
    explicit Frame(double correct_us) : pixels(PIXELS), correct_us(correct_us) {}
    double *place() { return pixels.data(); }
    void put_in() { work_us(correct_us); } // the place
};

class Master {
    int workers;
    Frame frame;

    void hand_out(int tile, int worker) { MPI_Send(&tile, 1, MPI_INT, worker, TILE, MPI_COMM_WORLD); }
    int take()
    {
        MPI_Status status;
        MPI_Recv(frame.place(), PIXELS, MPI_DOUBLE, MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &status);
        return status.MPI_SOURCE;
    }

public:
    Master(int workers, double correct_us) : workers(workers), frame(correct_us) {}
    void render(int tiles)
    {
        int next = 0;
        for (int worker = 1; worker <= workers && next < tiles; worker++)
            hand_out(next++, worker);
        for (int done = 0; done < tiles; done++) { // place begin
            int worker = take();
            frame.put_in();
            if (next < tiles)
                hand_out(next++, worker);
        } // place end
    }
    void end()
    {
        for (int worker = 1; worker <= workers; worker++)
            MPI_Send(nullptr, 0, MPI_INT, worker, END, MPI_COMM_WORLD);
    }
};

static void serve(double us)
{
    std::vector<double> pixels(PIXELS);
    for (long count = 0;; count++) {
        MPI_Status status;
        int tile;
        MPI_Recv(&tile, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status); // the place
        if (status.MPI_TAG == END)
            return;
        work_us(us * (0.9 + 0.2 * chance(46, (uint64_t)tile, 1)));
        MPI_Send(pixels.data(), PIXELS, MPI_DOUBLE, 0, DONE, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct truth truth = truth_begin(argc, argv);
    int frames = (int)truth_number(&truth, 1, 24), tiles = (int)truth_number(&truth, 2, 96);
    double us = truth_number(&truth, 3, 4200), correct_us = truth_number(&truth, 4, 520);
    if (truth.rank != 0)
        serve(truth.mode == SICK ? us : us + correct_us);
    else {
        Master master(truth.ranks - 1, truth.mode == SICK ? correct_us : correct_us / 20);
        for (int frame = 0; frame < frames; frame++)
            master.render(tiles);
        master.end();
    }
    truth_end(&truth);
}

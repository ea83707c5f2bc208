/*
 * Values of other ranks' nodes. Who needs what is not known beforehand: each
 * rank looks up whose the nodes are that its rows need, and tells them.
 */
#ifndef FEM_EXCHANGE_H
#define FEM_EXCHANGE_H

#include "counted_calls.h"

#include "mesh.h"

#include <vector>

enum { LIST_TAG = 1, VALUE_TAG = 2 };

class Exchange {
public:
    /*
     * Makes the columns of the matrix local: own nodes first, others behind
     * them by rank. With `probe`, ranks are told how many will write to them
     * and take the lists as they come; else all tell all how long lists are.
     */
    Exchange(const Mesh &mesh, const std::vector<Box> &boxes, int rank, Matrix &matrix, bool probe);

    int own() const { return own_; }
    int all() const { return all_; }
    int neighbours() const { return static_cast<int>(from_.size()); }

    /* Fetches the values of other ranks' nodes into their places behind ours. */
    void fetch(std::vector<double> &x);

private:
    struct Receipt {
        int rank, first, count;
    };
    struct Gift {
        int rank;
        std::vector<int> nodes; /* of ours, as places in vectors */
    };

    void number_columns(const Mesh &mesh, const std::vector<Box> &boxes, Matrix &matrix);
    void ask_after_counts();
    void ask_by_probing();
    void send_lists();
    void take_list(int rank, const std::vector<long> &numbers);

    const Mesh *mesh_;
    Box box_;
    int rank_, size_, own_, all_;
    std::vector<std::vector<long>> wanted_; /* of each rank: numbers of its nodes, rising */
    std::vector<Receipt> from_;
    std::vector<Gift> to_;
    std::vector<double> packed_;
    std::vector<MPI_Request> requests_;
};

#endif

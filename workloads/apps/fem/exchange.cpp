#include "exchange.h"

#include <algorithm>
#include <map>

namespace {

int place_in(const Box &box, const int at[3])
{
    int wide = box.high[0] - box.low[0], high = box.high[1] - box.low[1];
    return ((at[2] - box.low[2]) * high + at[1] - box.low[1]) * wide + at[0] - box.low[0];
}

int owner_of(const std::vector<Box> &boxes, const int at[3])
{
    for (size_t rank = 0; rank < boxes.size(); rank++)
        if (boxes[rank].has(at))
            return static_cast<int>(rank);
    fprintf(stderr, "fem: nobody has node (%d, %d, %d)\n", at[0], at[1], at[2]);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return -1;
}

} // namespace

Exchange::Exchange(const Mesh &mesh, const std::vector<Box> &boxes, int rank, Matrix &matrix, bool probe)
    : mesh_(&mesh), box_(boxes[rank]), rank_(rank), size_(static_cast<int>(boxes.size())),
      own_(boxes[rank].nodes()), all_(own_), wanted_(boxes.size())
{
    number_columns(mesh, boxes, matrix);
    if (probe)
        ask_by_probing();
    else
        ask_after_counts();
    std::sort(to_.begin(), to_.end(), [](const Gift &a, const Gift &b) { return a.rank < b.rank; });
}

void Exchange::number_columns(const Mesh &mesh, const std::vector<Box> &boxes, Matrix &matrix)
{
    std::map<long, int> owner; /* of nodes that are not ours */
    int at[3];
    for (long number : matrix.column) {
        mesh.place(number, at);
        if (!box_.has(at) && owner.count(number) == 0)
            owner[number] = owner_of(boxes, at);
    }
    for (const auto &[number, rank] : owner)
        wanted_[rank].push_back(number);
    std::map<long, int> place;
    for (int rank = 0; rank < size_; rank++) {
        if (wanted_[rank].empty())
            continue;
        from_.push_back(Receipt{rank, all_, static_cast<int>(wanted_[rank].size())});
        for (long number : wanted_[rank])
            place[number] = all_++;
    }
    for (long &column : matrix.column) {
        mesh.place(column, at);
        column = box_.has(at) ? place_in(box_, at) : place[column];
    }
}

void Exchange::take_list(int rank, const std::vector<long> &numbers)
{
    Gift gift{rank, {}};
    for (long number : numbers) {
        int at[3];
        mesh_->place(number, at);
        if (!box_.has(at)) {
            fprintf(stderr, "fem: rank %d wants node %ld, which rank %d has not\n", rank, number, rank_);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        gift.nodes.push_back(place_in(box_, at));
    }
    to_.push_back(gift);
    note_receive(rank, LIST_TAG, static_cast<long>(numbers.size() * sizeof(long)));
}

void Exchange::send_lists()
{
    for (const Receipt &from : from_) {
        const std::vector<long> &list = wanted_[from.rank];
        CALL(MPI_Send, list.data(), from.count, MPI_LONG, from.rank, LIST_TAG, MPI_COMM_WORLD);
        note_send(from.rank, LIST_TAG, static_cast<long>(list.size() * sizeof(long)));
    }
}

void Exchange::ask_after_counts()
{
    std::vector<int> ask(size_, 0), asked(size_, 0);
    for (const Receipt &from : from_)
        ask[from.rank] = from.count;
    CALL(MPI_Alltoall, ask.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<std::vector<long>> lists(size_);
    requests_.clear();
    for (int rank = 0; rank < size_; rank++) {
        if (asked[rank] == 0)
            continue;
        lists[rank].resize(asked[rank]);
        requests_.emplace_back();
        CALL(MPI_Irecv, lists[rank].data(), asked[rank], MPI_LONG, rank, LIST_TAG, MPI_COMM_WORLD,
             &requests_.back());
    }
    send_lists();
    CALL(MPI_Waitall, static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (int rank = 0; rank < size_; rank++)
        if (asked[rank] > 0)
            take_list(rank, lists[rank]);
}

void Exchange::ask_by_probing()
{
    std::vector<int> writes(size_, 0);
    int expected = 0;
    for (const Receipt &from : from_)
        writes[from.rank] = 1;
    CALL(MPI_Reduce_scatter_block, writes.data(), &expected, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    requests_.resize(from_.size());
    for (size_t i = 0; i < from_.size(); i++) {
        const std::vector<long> &list = wanted_[from_[i].rank];
        CALL(MPI_Isend, list.data(), from_[i].count, MPI_LONG, from_[i].rank, LIST_TAG, MPI_COMM_WORLD,
             &requests_[i]);
        note_send(from_[i].rank, LIST_TAG, static_cast<long>(list.size() * sizeof(long)));
    }
    for (; expected > 0; expected--) {
        MPI_Status status;
        int count;
        CALL(MPI_Probe, MPI_ANY_SOURCE, LIST_TAG, MPI_COMM_WORLD, &status);
        CALL(MPI_Get_count, &status, MPI_LONG, &count);
        std::vector<long> list(count);
        CALL(MPI_Recv, list.data(), count, MPI_LONG, status.MPI_SOURCE, LIST_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
        take_list(status.MPI_SOURCE, list);
    }
    CALL(MPI_Waitall, static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void Exchange::fetch(std::vector<double> &x)
{
    requests_.resize(from_.size());
    for (size_t i = 0; i < from_.size(); i++) {
        CALL(MPI_Irecv, x.data() + from_[i].first, from_[i].count, MPI_DOUBLE, from_[i].rank, VALUE_TAG,
             MPI_COMM_WORLD, &requests_[i]);
        note_receive(from_[i].rank, VALUE_TAG, from_[i].count * static_cast<long>(sizeof(double)));
    }
    for (const Gift &gift : to_) {
        packed_.clear();
        for (int node : gift.nodes)
            packed_.push_back(x[node]);
        CALL(MPI_Send, packed_.data(), static_cast<int>(packed_.size()), MPI_DOUBLE, gift.rank, VALUE_TAG,
             MPI_COMM_WORLD);
        note_send(gift.rank, VALUE_TAG, static_cast<long>(packed_.size() * sizeof(double)));
    }
    CALL(MPI_Waitall, static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

/*
 * A box of hexahedral elements, cut into boxes for ranks, and the matrix of
 * Poisson's equation on it: each rank makes the rows of its own nodes.
 */
#ifndef FEM_MESH_H
#define FEM_MESH_H

#include <vector>

/* Nodes [low, high) along each axis. */
struct Box {
    int low[3], high[3];

    int nodes() const { return (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]); }
    bool has(const int at[3]) const;
};

/* Cuts the longest side again and again; whoever asks gets the same boxes. */
std::vector<Box> cut(const int nodes[3], int parts);

class Mesh {
public:
    explicit Mesh(const int elements[3]);

    const int *nodes() const { return nodes_; }
    long number(const int at[3]) const
    {
        return (static_cast<long>(at[2]) * nodes_[1] + at[1]) * nodes_[0] + at[0];
    }
    void place(long number, int at[3]) const;
    /* What the solution is at a node. Elements can be bent as they will: it is linear. */
    double solution(const int at[3]) const;
    bool on_surface(const int at[3]) const;
    /* The part of an element's matrix for two of its corners, 0 to 7. */
    void element_matrix(const int element[3], double matrix[8][8]) const;

private:
    double coordinate(int axis, int index) const;

    int nodes_[3];
};

/* Rows of the nodes of a box. Columns are numbers in the whole mesh until they are made local. */
struct Matrix {
    std::vector<int> begin;
    std::vector<long> column;
    std::vector<double> value;
    std::vector<double> right_side;
};

/* Nodes on the surface are held at the solution; their columns are moved to the right side. */
Matrix assemble(const Mesh &mesh, const Box &box);

#endif

#include "mesh.h"

#include <cmath>

bool Box::has(const int at[3]) const
{
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] < low[axis] || at[axis] >= high[axis])
            return false;
    return true;
}

namespace {

void cut_again(const Box &box, int parts, std::vector<Box> &boxes)
{
    if (parts == 1) {
        boxes.push_back(box);
        return;
    }
    int axis = 0;
    for (int other = 1; other < 3; other++)
        if (box.high[other] - box.low[other] > box.high[axis] - box.low[axis])
            axis = other;
    int first = parts / 2, length = box.high[axis] - box.low[axis];
    Box lower = box, upper = box;
    lower.high[axis] = upper.low[axis] = box.low[axis] + length * first / parts;
    cut_again(lower, first, boxes);
    cut_again(upper, parts - first, boxes);
}

} // namespace

std::vector<Box> cut(const int nodes[3], int parts)
{
    std::vector<Box> boxes;
    cut_again(Box{{0, 0, 0}, {nodes[0], nodes[1], nodes[2]}}, parts, boxes);
    return boxes;
}

Mesh::Mesh(const int elements[3])
{
    for (int axis = 0; axis < 3; axis++)
        nodes_[axis] = elements[axis] + 1;
}

void Mesh::place(long number, int at[3]) const
{
    at[0] = static_cast<int>(number % nodes_[0]);
    at[1] = static_cast<int>(number / nodes_[0] % nodes_[1]);
    at[2] = static_cast<int>(number / nodes_[0] / nodes_[1]);
}

/* Layers of elements get thicker from one side to the other, in each dimension differently. */
double Mesh::coordinate(int axis, int index) const
{
    double part = static_cast<double>(index) / (nodes_[axis] - 1);
    return part * (1 + 0.2 * (axis + 1) * part);
}

double Mesh::solution(const int at[3]) const
{
    return 1 + 2 * coordinate(0, at[0]) - 3 * coordinate(1, at[1]) + 4 * coordinate(2, at[2]);
}

bool Mesh::on_surface(const int at[3]) const
{
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] == 0 || at[axis] == nodes_[axis] - 1)
            return true;
    return false;
}

/* Products of gradients of the corners' shape functions, integrated with two points an axis. */
void Mesh::element_matrix(const int element[3], double matrix[8][8]) const
{
    double side[3], volume = 1;
    for (int axis = 0; axis < 3; axis++) {
        side[axis] = coordinate(axis, element[axis] + 1) - coordinate(axis, element[axis]);
        volume *= side[axis];
    }
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++)
            matrix[a][b] = 0;
    for (int point = 0; point < 8; point++) {
        double gradient[8][3];
        for (int corner = 0; corner < 8; corner++)
            for (int axis = 0; axis < 3; axis++) {
                gradient[corner][axis] = 1 / side[axis];
                for (int other = 0; other < 3; other++) {
                    double where = 0.5 + ((point >> other & 1) - 0.5) / std::sqrt(3.0);
                    int far = corner >> other & 1;
                    if (other == axis)
                        gradient[corner][axis] *= far ? 1 : -1;
                    else
                        gradient[corner][axis] *= far ? where : 1 - where;
                }
            }
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++)
                for (int axis = 0; axis < 3; axis++)
                    matrix[a][b] += volume / 8 * gradient[a][axis] * gradient[b][axis];
    }
}

namespace {

/* Adds what the elements around a node give to its row: 27 nodes, itself in the middle. */
void make_row(const Mesh &mesh, const int at[3], double row[27])
{
    for (int i = 0; i < 27; i++)
        row[i] = 0;
    for (int mine = 0; mine < 8; mine++) {
        /* The element in which the node is corner `mine`. */
        int element[3];
        bool exists = true;
        for (int axis = 0; axis < 3; axis++) {
            element[axis] = at[axis] - (mine >> axis & 1);
            exists = exists && element[axis] >= 0 && element[axis] < mesh.nodes()[axis] - 1;
        }
        if (!exists)
            continue;
        double matrix[8][8];
        mesh.element_matrix(element, matrix);
        for (int other = 0; other < 8; other++) {
            int index = 0;
            for (int axis = 2; axis >= 0; axis--)
                index = index * 3 + (other >> axis & 1) - (mine >> axis & 1) + 1;
            row[index] += matrix[mine][other];
        }
    }
}

void add_row(const Mesh &mesh, const int at[3], Matrix &matrix)
{
    double row[27], right = 0;
    if (mesh.on_surface(at)) {
        matrix.column.push_back(mesh.number(at));
        matrix.value.push_back(1);
        right = mesh.solution(at);
    } else {
        make_row(mesh, at, row);
        for (int index = 0; index < 27; index++) {
            int there[3] = {at[0] + index % 3 - 1, at[1] + index / 3 % 3 - 1, at[2] + index / 9 - 1};
            if (mesh.on_surface(there)) {
                right -= row[index] * mesh.solution(there);
            } else {
                matrix.column.push_back(mesh.number(there));
                matrix.value.push_back(row[index]);
            }
        }
    }
    matrix.right_side.push_back(right);
    matrix.begin.push_back(static_cast<int>(matrix.column.size()));
}

} // namespace

Matrix assemble(const Mesh &mesh, const Box &box)
{
    Matrix matrix;
    matrix.begin.push_back(0);
    int at[3];
    for (at[2] = box.low[2]; at[2] < box.high[2]; at[2]++)
        for (at[1] = box.low[1]; at[1] < box.high[1]; at[1]++)
            for (at[0] = box.low[0]; at[0] < box.high[0]; at[0]++)
                add_row(mesh, at, matrix);
    return matrix;
}

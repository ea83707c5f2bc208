/*
 * doacross: a loop in two dimensions whose iterations wait for those above and left of them.
 *
 * 2 parallel regions, no tasks; the first loop waits 2 x 20 x 19 times, the second 98 times: not for iterations that
 * there are not.
 */
#include "check.h"

enum { N = 20 };

int main(void)
{
    static long ways[N][N], plain[N][N];
#pragma omp parallel for ordered(2) schedule(static, 1)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            ways[i][j] = i == 0 || j == 0 ? 1 : (ways[i - 1][j] + ways[i][j - 1]) % 1000003;
#pragma omp ordered depend(source)
        }
    long different = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            plain[i][j] = i == 0 || j == 0 ? 1 : (plain[i - 1][j] + plain[i][j - 1]) % 1000003;
            different += plain[i][j] != ways[i][j];
        }
    check("different numbers", different, 0);

    static long line[100];
#pragma omp parallel for ordered(1) schedule(dynamic)
    for (int i = 0; i < 100; i++) {
#pragma omp ordered depend(sink : i - 2)
        line[i] = i < 2 ? i : line[i - 2] + i;
#pragma omp ordered depend(source)
    }
    check("sum of the even ones", line[98], 2450);
    check("sum of the odd ones", line[99], 2500);
    return checked("doacross", 2, 0);
}

/*
 * sections: pieces of code for different threads.
 *
 * 2 parallel regions: sections in one, parallel sections; 4 + 2 sections, no tasks.
 */
#include "check.h"

int main(void)
{
    int value[4] = {0}, last = 0, sum = 0;
#pragma omp parallel
    {
#pragma omp sections lastprivate(last) reduction(+ : sum)
        {
#pragma omp section
            sum += value[0] = 1;
#pragma omp section
            sum += value[1] = 2;
#pragma omp section
            sum += value[2] = 3;
#pragma omp section
            {
                sum += value[3] = 4;
                last = 5;
            }
        }
    }
    check("sum", sum, 10);
    check("values", value[0] * 1000 + value[1] * 100 + value[2] * 10 + value[3], 1234);
    check("last", last, 5);

    int first = 0, second = 0;
#pragma omp parallel sections
    {
#pragma omp section
        first = 6;
#pragma omp section
        second = 7;
    }
    check("parallel sections", first * second, 42);
    return checked("sections", 2, 0);
}

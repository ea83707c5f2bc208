/*
 * critical_locks: mutual exclusion in all its forms.
 *
 * 1 parallel region, no tasks. 200 iterations, in each: 1 unnamed critical, 1 named, 1 with a hint, 1 lock, 1 lock tried until it
 * is had, 1 nested lock taken twice, 1 atomic.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    enum { TIMES = 200 };
    long plain = 0, named = 0, hinted = 0, locked = 0, tried = 0, nested = 0, atomic = 0;
    omp_lock_t lock, busy;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_lock(&busy);
    omp_init_nest_lock(&nest);
#pragma omp parallel for
    for (int i = 0; i < TIMES; i++) {
#pragma omp critical
        plain += i;
#pragma omp critical(of_a_name)
        named += i;
#pragma omp critical(of_a_hint) hint(omp_sync_hint_contended)
        hinted += i;
        omp_set_lock(&lock);
        locked += i;
        omp_unset_lock(&lock);
        while (!omp_test_lock(&busy)) {
#pragma omp taskyield
        }
        tried += i;
        omp_unset_lock(&busy);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        nested += i;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#pragma omp atomic
        atomic += i;
    }
    omp_destroy_lock(&lock);
    omp_destroy_lock(&busy);
    omp_destroy_nest_lock(&nest);
    const long wanted = TIMES * (TIMES - 1) / 2;
    check("critical", plain, wanted);
    check("named critical", named, wanted);
    check("critical with a hint", hinted, wanted);
    check("lock", locked, wanted);
    check("tried lock", tried, wanted);
    check("nested lock", nested, wanted);
    check("atomic", atomic, wanted);
    return checked("critical_locks", 1, 0);
}

/*
 * teams: leagues of teams on the host.
 *
 * 3 leagues of at most 3 teams, each with a parallel region or a loop of its own; no tasks.
 */
#include "check.h"
#include <omp.h>

int main(void)
{
    int leaders = 0, teams = 0, sum = 0, combined = 0;
#pragma omp teams num_teams(3) thread_limit(4) reduction(+ : leaders) reduction(max : teams)
    {
        leaders++;
        teams = omp_get_num_teams();
    }
    check("leaders of teams", leaders, teams);

#pragma omp teams num_teams(3) thread_limit(4) reduction(+ : sum)
    {
        int mine = 0;
#pragma omp parallel for reduction(+ : mine)
        for (int i = 0; i < 100; i++)
            mine += i;
        if (omp_get_team_num() == 0)
            sum += mine;
    }
    check("sum of the first team", sum, 4950);

#pragma omp teams distribute parallel for num_teams(3) thread_limit(4) reduction(+ : combined)
    for (int i = 0; i < 1000; i++)
        combined += i;
    check("sum of all teams", combined, 499500);
    return checked("teams", -1, 0);
}

/*
 * detach_outside: detached tasks that are completed by a thread of which OpenMP knows nothing, as libraries for I/O do.
 *
 * 1 parallel region, 2 x 8 tasks: each of 8 detached tasks starts a POSIX thread that writes a number and completes the task;
 * a task after it by depend reads the number.
 */
#include "check.h"
#include <omp.h>
#include <pthread.h>
#include <time.h>

enum { TASKS = 8 };

struct request {
    omp_event_handle_t event;
    int *target, value;
};

static void *answer(void *argument)
{
    struct request *request = argument;
    struct timespec length = {0, 1000000};
    nanosleep(&length, NULL);
    *request->target = request->value;
    omp_fulfill_event(request->event);
    return NULL;
}

int main(void)
{
    struct request request[TASKS];
    pthread_t thread[TASKS];
    int value[TASKS] = {0}, seen[TASKS] = {0};
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : value[i]) shared(request, thread, value)
        {
            request[i] = (struct request){event, &value[i], i + 1};
            pthread_create(&thread[i], NULL, answer, &request[i]);
        }
#pragma omp task depend(in : value[i]) shared(value, seen)
        seen[i] = value[i];
    }
    int sum = 0;
    for (int i = 0; i < TASKS; i++) {
        pthread_join(thread[i], NULL);
        sum += seen[i];
    }
    check("sum of the answers", sum, TASKS * (TASKS + 1) / 2);
    return checked("detach_outside", 1, 2 * TASKS);
}

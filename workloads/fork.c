/*
 * fork: ranks start children between their messages.
 *
 *     fork [ROUNDS=3]
 *
 * In each round every rank forks two children: one runs /bin/true by exec, one
 * leaves at once by _exit, and neither calls MPI. A tracer must follow neither:
 * the children's exit must not close, write or remove what the parent records.
 *
 * Calls of each rank: MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1
 * each; MPI_Sendrecv ROUNDS (4 bytes, tag 9, to rank + 1, from rank - 1, modulo
 * the number of ranks), MPI_Allreduce ROUNDS (4 bytes)
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAG = 9, EXIT_CODE = 5 };

/* Starts a child, waits for it and gives its exit code, or -1. */
static int child(int with_exec)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (with_exec)
            execl("/bin/true", "true", (char *)NULL);
        _exit(EXIT_CODE); /* not exit(): the parent's atexit handlers are not ours */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int mine = rank;
    for (int i = 0; i < rounds; i++) {
        int received;
        wrong |= child(1) != 0;
        MPI_Sendrecv(&mine, 1, MPI_INT, right, TAG, &received, 1, MPI_INT, left, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine = received;
        wrong |= child(0) != EXIT_CODE;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    wrong |= rounds > 0 && sum != size * (size - 1) / 2;
    if (wrong)
        fprintf(stderr, "fork: rank %d has a wrong sum or a failed child\n", rank);
    else if (rank == 0)
        printf("fork ranks %d rounds %d sum %d\n", size, rounds, sum);
    MPI_Finalize();
    return wrong;
}

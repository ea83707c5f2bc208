/* The Fortran names of the MPI functions that the programs of this folder call, for SimGrid.
 *
 * SimGrid has them in a library that all simulated ranks share, and calls from there into MPI cannot be told apart by
 * rank, so the tracer does not see them. These are in the program itself, which is there once for each rank. Each does all
 * it has to do before it goes over to the C function, as its last act, without coming back: the caller that the C function
 * sees is the Fortran program. Only MPI_Cart_create comes back.
 *
 * Compiled with -O2, which makes those last calls jumps. Statuses are never looked at, and every call succeeds. */
#include <mpi.h>

#define TYPE(type) MPI_Type_f2c(*type)
#define COMM(comm) MPI_Comm_f2c(*comm)

enum { REQUESTS = 1 << 14, TOGETHER = 64 };

/* A request is a number in Fortran: the place of the real one here. */
static MPI_Request requests[REQUESTS];
static int last_request;
static MPI_Request together[TOGETHER];

void smpi_init_fortran_types(void);

static MPI_Request *new_request(int *number)
{
    last_request = (last_request + 1) % REQUESTS;
    *number = last_request;
    return &requests[last_request];
}

static void put_together(int count, const int *numbers)
{
    for (int i = 0; i < count && i < TOGETHER; i++)
        together[i] = requests[numbers[i]];
}

void mpi_init_(int *error)
{
    smpi_init_fortran_types();
    *error = 0;
    MPI_Init(NULL, NULL);
}

void mpi_finalize_(int *error)
{
    *error = 0;
    MPI_Finalize();
}

void mpi_comm_rank_(int *comm, int *rank, int *error)
{
    *error = 0;
    MPI_Comm_rank(COMM(comm), rank);
}

void mpi_comm_size_(int *comm, int *size, int *error)
{
    *error = 0;
    MPI_Comm_size(COMM(comm), size);
}

void mpi_dims_create_(int *ranks, int *dimensions, int *sizes, int *error)
{
    *error = 0;
    MPI_Dims_create(*ranks, *dimensions, sizes);
}

void mpi_cart_create_(int *comm, int *dimensions, int *sizes, int *around, int *reorder, int *grid, int *error)
{
    MPI_Comm created;
    *error = MPI_Cart_create(COMM(comm), *dimensions, sizes, around, *reorder, &created);
    *grid = MPI_Comm_c2f(created);
}

void mpi_cart_shift_(int *comm, int *direction, int *by, int *source, int *destination, int *error)
{
    *error = 0;
    MPI_Cart_shift(COMM(comm), *direction, *by, source, destination);
}

void mpi_send_(void *data, int *count, int *type, int *to, int *tag, int *comm, int *error)
{
    *error = 0;
    MPI_Send(data, *count, TYPE(type), *to, *tag, COMM(comm));
}

void mpi_ssend_(void *data, int *count, int *type, int *to, int *tag, int *comm, int *error)
{
    *error = 0;
    MPI_Ssend(data, *count, TYPE(type), *to, *tag, COMM(comm));
}

void mpi_recv_(void *data, int *count, int *type, int *from, int *tag, int *comm, int *status, int *error)
{
    (void)status;
    *error = 0;
    MPI_Recv(data, *count, TYPE(type), *from, *tag, COMM(comm), MPI_STATUS_IGNORE);
}

void mpi_isend_(void *data, int *count, int *type, int *to, int *tag, int *comm, int *request, int *error)
{
    *error = 0;
    MPI_Isend(data, *count, TYPE(type), *to, *tag, COMM(comm), new_request(request));
}

void mpi_irecv_(void *data, int *count, int *type, int *from, int *tag, int *comm, int *request, int *error)
{
    *error = 0;
    MPI_Irecv(data, *count, TYPE(type), *from, *tag, COMM(comm), new_request(request));
}

void mpi_send_init_(void *data, int *count, int *type, int *to, int *tag, int *comm, int *request, int *error)
{
    *error = 0;
    MPI_Send_init(data, *count, TYPE(type), *to, *tag, COMM(comm), new_request(request));
}

void mpi_recv_init_(void *data, int *count, int *type, int *from, int *tag, int *comm, int *request, int *error)
{
    *error = 0;
    MPI_Recv_init(data, *count, TYPE(type), *from, *tag, COMM(comm), new_request(request));
}

void mpi_startall_(int *count, int *numbers, int *error)
{
    *error = 0;
    put_together(*count, numbers);
    MPI_Startall(*count, together);
}

void mpi_waitall_(int *count, int *numbers, int *statuses, int *error)
{
    (void)statuses;
    *error = 0;
    put_together(*count, numbers);
    MPI_Waitall(*count, together, MPI_STATUSES_IGNORE);
}

void mpi_sendrecv_(void *out, int *count, int *type, int *to, int *tag, void *in, int *in_count, int *in_type, int *from,
                   int *in_tag, int *comm, int *status, int *error)
{
    (void)status;
    *error = 0;
    MPI_Sendrecv(out, *count, TYPE(type), *to, *tag, in, *in_count, TYPE(in_type), *from, *in_tag, COMM(comm),
                 MPI_STATUS_IGNORE);
}

void mpi_barrier_(int *comm, int *error)
{
    *error = 0;
    MPI_Barrier(COMM(comm));
}

void mpi_bcast_(void *data, int *count, int *type, int *root, int *comm, int *error)
{
    *error = 0;
    MPI_Bcast(data, *count, TYPE(type), *root, COMM(comm));
}

void mpi_allreduce_(void *mine, void *all, int *count, int *type, int *op, int *comm, int *error)
{
    *error = 0;
    MPI_Allreduce(mine, all, *count, TYPE(type), MPI_Op_f2c(*op), COMM(comm));
}

void mpi_reduce_(void *mine, void *all, int *count, int *type, int *op, int *root, int *comm, int *error)
{
    *error = 0;
    MPI_Reduce(mine, all, *count, TYPE(type), MPI_Op_f2c(*op), *root, COMM(comm));
}

void mpi_gather_(void *part, int *count, int *type, void *whole, int *in_count, int *in_type, int *root, int *comm,
                 int *error)
{
    *error = 0;
    MPI_Gather(part, *count, TYPE(type), whole, *in_count, TYPE(in_type), *root, COMM(comm));
}

void mpi_scatter_(void *whole, int *count, int *type, void *part, int *in_count, int *in_type, int *root, int *comm,
                  int *error)
{
    *error = 0;
    MPI_Scatter(whole, *count, TYPE(type), part, *in_count, TYPE(in_type), *root, COMM(comm));
}

void mpi_alltoall_(void *out, int *count, int *type, void *in, int *in_count, int *in_type, int *comm, int *error)
{
    *error = 0;
    MPI_Alltoall(out, *count, TYPE(type), in, *in_count, TYPE(in_type), COMM(comm));
}

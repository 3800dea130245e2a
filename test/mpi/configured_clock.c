/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded into strag-tune: a clock that does not run but when the program communicates, and
 * then by the configured time of that. So the result of --model is known beforehand.
 *
 *     CLOCK_ALPHA      microseconds of a message, for each rank of MPI_COMM_WORLD that begins a
 *                     ping: 10,20,30
 *     CLOCK_BANDWIDTH  Gbit/s of such a message, likewise
 *     CLOCK_OVERHEAD  microseconds that each end takes for a further message
 *     CLOCK_LOCAL      microseconds, Gbit/s: of an allreduce of two ranks, without the reduction
 *     CLOCK_REDUCTION  Gbit/s
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static double now;

/* Number `index` of a list, of which the last one stands for all that are not there. */
static double configured(const char *name, int index)
{
    const char *text = getenv(name);
    for (const char *comma; text && index > 0 && (comma = strchr(text, ',')); index--)
        text = comma + 1;
    return text ? strtod(text, NULL) : 0;
}

static double seconds_of(double bytes, const char *gbit_per_second, int index)
{
    return 8e-9 * bytes / configured(gbit_per_second, index);
}

double MPI_Wtime(void)
{
    return now;
}

/* The pair's first rank has sent; what it receives has gone there and back. (No object of MPI's is
 * named here, so that the shell that starts the program can load this, too.) */
int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    const int rank = text ? (int)strtol(text, NULL, 10) : 0;
    int size;
    PMPI_Type_size(type, &size);
    if (size == 1)
        now += 2 * (1e-6 * configured("CLOCK_ALPHA", rank) +
                    seconds_of(count, "CLOCK_BANDWIDTH", rank));
    return PMPI_Recv(buffer, count, type, source, tag, comm, status);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    now += 2e-6 * configured("CLOCK_OVERHEAD", 0);
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Allreduce(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const double bytes = (double)count * (double)sizeof(float);
    now += 1e-6 * configured("CLOCK_LOCAL", 0) + seconds_of(bytes, "CLOCK_LOCAL", 1) +
           seconds_of(bytes, "CLOCK_REDUCTION", 0);
    return PMPI_Allreduce(input, output, count, type, op, comm);
}

int MPI_Reduce_local(const void *input, void *output, int count, MPI_Datatype type, MPI_Op op)
{
    now += seconds_of((double)count * (double)sizeof(float), "CLOCK_REDUCTION", 0);
    return PMPI_Reduce_local(input, output, count, type, op);
}

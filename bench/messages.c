/* Messages of ranks, slowed or counted: LD_PRELOAD under mpirun.
   HQMM_DELAY_US: every message waits so long before it leaves.
   HQMM_BYTES:    a file for each rank, NAME.RANK, gets the number of bytes that it sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long long bytes = 0;

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const char* given = getenv("HQMM_DELAY_US");
  if (given != NULL) usleep((useconds_t)atoi(given));
  bytes += count; /* of bytes: hqmm sends nothing else */
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Finalize(void) {
  const char* given = getenv("HQMM_BYTES");
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (given != NULL) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", given, rank);
    FILE* file = fopen(name, "w");
    if (file != NULL) {
      fprintf(file, "%lld\n", bytes);
      fclose(file);
    }
  }
  return PMPI_Finalize();
}

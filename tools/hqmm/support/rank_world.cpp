#include "support/rank_world.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

namespace hqmm::cli {
namespace {

std::optional<int> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return {};
  int out = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, fault] = std::from_chars(text, end, out);
  if (fault != std::errc() || rest != end) return {};
  return out;
}

World world_of(int rank, int size) {
  // The first machine is filled first: there a rank has the same number among all.
  return {rank, size, rank == 0 || number_of("OMPI_COMM_WORLD_LOCAL_RANK") == rank};
}

}  // namespace

/// What starts the job says so: mpirun of Open MPI, srun, mpiexec of others.
World world() {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}};
  for (const auto& [rank, size] : kNames) {
    const auto r = number_of(rank), s = number_of(size);
    if (r && s && *r >= 0 && *r < *s) return world_of(*r, *s);
  }
  // srun gives its variables to every step, whether it is of MPI or not
  const auto r = number_of("PMIX_RANK"), s = number_of("SLURM_STEP_NUM_TASKS");
  if (r && s && *r >= 0 && *r < *s) return world_of(*r, *s);
  return {};
}

}  // namespace hqmm::cli

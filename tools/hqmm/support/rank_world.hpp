// Which rank of how many this process is, as the environment says it before Open MPI is loaded.
#pragma once

#include "support/internals.hpp"

namespace hqmm::cli {

struct World {
  int rank = 0, size = 1;
  bool with_first = true;  // surely on the machine of rank 0
};

[[nodiscard]] World world();

}  // namespace hqmm::cli

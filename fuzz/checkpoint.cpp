// Checkpoints of training, with the seal that only a whole one has: what comes after it is tried.
#include "hqmm/core/error.hpp"
#include "hqmm/run/checkpoint_file.hpp"
#include "target.hpp"

namespace hqmm::fuzz {

void checkpoint(std::string_view bytes) {
  const std::string sealed = seal_checkpoint(std::string(bytes));
  read_or_refuse([&] { (void)parse_checkpoint(sealed, "checkpoint.h5", "0000000000000000"); });
}

}  // namespace hqmm::fuzz

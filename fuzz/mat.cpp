// MATLAB files up to version 7; matio reads them, in a process of its own.
#include "hqmm/io/mat.hpp"

#include "target.hpp"

namespace hqmm::fuzz {

void mat(std::string_view bytes) {
  const std::string path = path_of(bytes);
  read_or_refuse([&] { (void)read_sequences(path, {.format = Format::kMat}); });
}

}  // namespace hqmm::fuzz

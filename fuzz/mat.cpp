// MATLAB files up to version 7; matio reads them, in a process of its own.
#include "hqmm/io/mat.hpp"

#include "hqmm/io/mat_check.hpp"
#include "target.hpp"

namespace hqmm::fuzz {

void mat(std::string_view bytes) {
  // Here too, where libFuzzer sees which branches it takes.
  read_or_refuse([&] { check_mat5(bytes, "fuzz.mat"); });
  const std::string path = path_of(bytes);
  read_or_refuse([&] { (void)read_sequences(path, {.format = Format::kMat}); });
}

}  // namespace hqmm::fuzz

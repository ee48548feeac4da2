// NumPy arrays.
#include "hqmm/io/npy.hpp"

#include "target.hpp"

namespace hqmm::fuzz {

void npy(std::string_view bytes) {
  const std::string path = path_of(bytes);
  read_or_refuse([&] { (void)read_sequences(path, {.format = Format::kNpy}); });
  read_or_refuse([&] {
    (void)read_sequences(path,
                         {.format = Format::kNpy, .alphabet = Alphabet::parse("3"), .base = 1});
  });
}

}  // namespace hqmm::fuzz

// What a sandbox sends back: the process there may have been corrupted by the file it read.
#include <algorithm>
#include <cstring>

#include "hqmm/io/arrays_wire.hpp"
#include "target.hpp"

namespace hqmm::fuzz {

void reply(std::string_view bytes) {
  const auto from = [&bytes](char* to, std::size_t size) {
    const std::size_t count = std::min(size, bytes.size());
    std::memcpy(to, bytes.data(), count);
    bytes.remove_prefix(count);
    return count;
  };
  const std::size_t which = choice(bytes, 2);
  WireReader in(from, std::size_t{1} << 24);
  try {
    if (which == 0) {
      const ModelArrays arrays = take_model_arrays(in);
      read_or_refuse([&] { (void)assemble(arrays, "fuzz.h5"); });
    } else {
      const std::vector<StoredMatrix> matrices = take_matrices(in);
      read_or_refuse([&] { (void)to_sequences(views(matrices), true, "fuzz.mat", {}); });
    }
  } catch (const WireFault&) {  // what the parent takes for a damaged file
  }
}

}  // namespace hqmm::fuzz

#include "hqmm/io/atomic_file.hpp"

#include "hqmm/io/atomic_stream.hpp"

namespace hqmm::detail {

void write_file(const std::string& path, std::string_view bytes) {
  AtomicStream stream(path);
  stream.write(bytes);
  stream.finish();
}

}  // namespace hqmm::detail

// The one object that knows where the source tree is: all others are the same in every clone.
#include <filesystem>

namespace hqmm::detail::testing {

const std::filesystem::path& source_dir();

const std::filesystem::path& source_dir() {
  static const std::filesystem::path path(HQMM_SOURCE_DIR);
  return path;
}

}  // namespace hqmm::detail::testing

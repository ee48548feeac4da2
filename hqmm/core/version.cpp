#include "hqmm/version.hpp"

namespace hqmm {

std::string_view version() noexcept { return HQMM_VERSION; }

}  // namespace hqmm

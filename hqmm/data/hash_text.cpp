#include "hqmm/data/hash_text.hpp"

#include <fmt/format.h>

namespace hqmm::detail {

std::string hash_text(const SequenceSet& set) { return fmt::format("{:016x}", set.hash()); }

}  // namespace hqmm::detail

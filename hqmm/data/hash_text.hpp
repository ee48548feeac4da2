// The hash of a data set as it is written everywhere: 16 hexadecimal digits.
#pragma once

#include <string>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail {

[[nodiscard]] std::string hash_text(const SequenceSet& set);

}  // namespace hqmm::detail

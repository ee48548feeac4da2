// read_sequences() on an input that is open already.
#pragma once

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

/// Nothing has been taken of the input yet. Throws as read_sequences() does.
[[nodiscard]] SequenceSet read_input(Input& input, const ReadOptions& options);

}  // namespace hqmm::detail

// The UCI repository's sequence files (splice.data, promoters.data): `CLASS, NAME, SEQUENCE` lines
// of letters, with blanks or tabs around the fields.
#pragma once

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

[[nodiscard]] SequenceSet read_uci(Input& input, const ReadOptions& options);

}  // namespace hqmm::detail

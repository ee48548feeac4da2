// Labelled text: `CLASS<TAB>SEQUENCE` lines. A class may hold anything but TAB and newline; a
// sequence is written as in the text format. Lines without a TAB that start with '#' are comments.
#pragma once

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

[[nodiscard]] SequenceSet read_labelled(Input& input, const ReadOptions& options);

}  // namespace hqmm::detail

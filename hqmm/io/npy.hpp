// NumPy's .npy: an integer array, 1-D (one sequence) or 2-D (rows are sequences).
#pragma once

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

/// Any integer or bool type, either byte order, C or Fortran order; floats that are whole numbers,
/// with NaN for missing.
[[nodiscard]] SequenceSet read_npy(Input& input, const ReadOptions& options);

}  // namespace hqmm::detail

// MATLAB files up to version 7 (through matio): integer matrices whose rows are sequences.
#pragma once

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

/// Fields of structs are named with dots ("data.trn_data"). Version 7.3 files are HDF5 and read as
/// such.
[[nodiscard]] SequenceSet read_mat(Input& input, const ReadOptions& options);

}  // namespace hqmm::detail

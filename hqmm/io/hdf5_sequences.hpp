// HDF5 integer data sets, 1-D (one sequence) or 2-D (rows are sequences), and MATLAB 7.3 files,
// which are HDF5 with the axes the other way round.
#pragma once

#include <string>

#include "hqmm/io/input.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

/// Data sets are named by path ("group/data"); dots do for slashes, as in MATLAB. Read from memory,
/// so a pipe or a gzip file will do.
[[nodiscard]] SequenceSet read_hdf5_sequences(Input& input, const ReadOptions& options);
[[nodiscard]] SequenceSet hdf5_sequences(const std::string& bytes, const std::string& file,
                                         const ReadOptions& options);

}  // namespace hqmm::detail

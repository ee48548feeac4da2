// Arrays and matrices on their way out of a sandbox. What comes out is consistent: an array has as
// many numbers as its shape says.
#pragma once

#include "hqmm/io/model_arrays.hpp"
#include "hqmm/io/stored_matrix.hpp"
#include "hqmm/io/wire.hpp"

namespace hqmm::detail {

void put(WireWriter& out, const NdArray& array);
[[nodiscard]] NdArray take_array(WireReader& in);

void put(WireWriter& out, const ModelArrays& arrays);
[[nodiscard]] ModelArrays take_model_arrays(WireReader& in);

void put(WireWriter& out, const std::vector<StoredMatrix>& matrices);
[[nodiscard]] std::vector<StoredMatrix> take_matrices(WireReader& in);

}  // namespace hqmm::detail

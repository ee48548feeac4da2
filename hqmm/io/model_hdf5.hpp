// The arrays of one model in one HDF5 group: a model file has them at its root, a classifier file
// once per class.
#pragma once

#include "hqmm/io/hdf5_items.hpp"

namespace hqmm::detail {

/// Kind, field, arrays and anchor.
void read_model_group(const Hdf5ItemReader& group, ModelArrays& out);
void write_model_group(const Hdf5ItemWriter& group, const ModelArrays& arrays);

}  // namespace hqmm::detail

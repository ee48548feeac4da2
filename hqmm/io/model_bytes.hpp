// Model files in memory.
#pragma once

#include <string>

#include "hqmm/io/model_file.hpp"

namespace hqmm::detail {

enum class ModelFormat { kHdf5, kJson, kMat };

/// By extension: .json, .mat, and HDF5 for .h5, .hdf5 and everything else.
[[nodiscard]] ModelFormat model_format_of(const std::string& path);

/// read_model() for a file in memory; `name` is what errors call it.
[[nodiscard]] ModelFile parse_model(const std::string& bytes, const std::string& name);

[[nodiscard]] std::string serialize_model(const ModelFile& file, ModelFormat format);

}  // namespace hqmm::detail

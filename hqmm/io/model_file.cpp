#include "hqmm/io/model_file.hpp"

#include "hqmm/core/fail.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/input.hpp"
#include "hqmm/io/model_arrays.hpp"
#include "hqmm/io/model_bytes.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr std::string_view kMatMagic = "MATLAB 5.0 MAT-file";

ModelArrays read_arrays(const std::string& bytes, const std::string& path) {
  if (bytes.starts_with(kHdf5Magic)) return read_hdf5_arrays(bytes, path);
  if (bytes.starts_with(kMatMagic)) return read_mat_arrays(bytes, path);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && bytes[first] == '{') return read_json_arrays(bytes, path);
  throw fail(ErrorCode::kBadData, Where{.file = path}, "{}",
             bytes.empty() ? "is empty; expected a model file"
                           : "is not a model file (expected HDF5, MATLAB v5 or JSON)");
}

}  // namespace

ModelFormat detail::model_format_of(const std::string& path) {
  if (path.ends_with(".json")) return ModelFormat::kJson;
  if (path.ends_with(".mat")) return ModelFormat::kMat;
  return ModelFormat::kHdf5;
}

ModelFile read_model(const std::string& path) { return parse_model(read_all(path), path); }

ModelFile detail::parse_model(const std::string& bytes, const std::string& name) {
  return assemble(read_arrays(bytes, name), name);
}

std::string detail::serialize_model(const ModelFile& file, ModelFormat format) {
  const ModelArrays arrays = disassemble(file);
  switch (format) {
    case ModelFormat::kJson:
      return write_json_arrays(arrays);
    case ModelFormat::kMat:
      return write_mat_arrays(arrays);
    case ModelFormat::kHdf5:
      break;
  }
  return write_hdf5_arrays(arrays);
}

void write_model(const std::string& path, const ModelFile& file) {
  write_file(path, serialize_model(file, model_format_of(path)));
}

}  // namespace hqmm

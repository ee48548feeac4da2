// ModelArrays: a model as named arrays, the form all three file formats share. A format only moves
// arrays; what they must look like is checked in one place, assemble().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/io/model_file.hpp"

namespace hqmm::detail {

/// A dense array in C order; real ones have zero imaginary parts.
struct NdArray {
  std::vector<std::size_t> shape;
  std::vector<Complex> values;
  bool is_complex = true;  // how to write it

  [[nodiscard]] std::string shape_text() const;  // "(6, 1, 2, 2)"
};

struct ModelArrays {
  std::optional<std::string> format;
  std::optional<std::int64_t> version;
  std::optional<std::string> kind;
  std::optional<std::string> field;  // "real" or "complex", which it is without
  std::map<std::string, NdArray> arrays;
  std::optional<std::vector<std::string>> alphabet;
  std::string position_anchor = "start";
  std::string provenance = "{}";  // JSON
};

inline constexpr std::string_view kModelFormat = "hqmm-model";
/// A file has the lowest version that holds its model: HMMs and complex HQMMs that emit on edges
/// are plain, the other HQMMs structured.
inline constexpr std::int64_t kPlainVersion = 1;
inline constexpr std::int64_t kStructuredVersion = 2;
inline constexpr std::string_view kRealField = "real";
inline constexpr std::string_view kComplexField = "complex";
/// Larger arrays are taken for damage: 2^27 numbers are 2 GiB.
inline constexpr std::size_t kMostElements = std::size_t{1} << 27;

/// Every array a model file may hold, by name.
inline constexpr const char* kArrayNames[] = {
    "kraus", "initial_state", "position_map", "transition", "emission", "edges", "initial"};

/// Builds and validates the model; errors name `file`, the `place` in it where there are several
/// models ("class 'EI'"), and the array.
[[nodiscard]] ModelFile assemble(const ModelArrays& arrays, const std::string& file,
                                 const std::string& place = {});
[[nodiscard]] ModelArrays disassemble(const ModelFile& file);

/// Whether a file of this version can be read; and what to say when not.
[[nodiscard]] bool is_known_version(std::int64_t version);
[[nodiscard]] std::string unknown_version(std::optional<std::int64_t> version);

// One reader and one writer per format, on whole files in memory.
[[nodiscard]] ModelArrays read_hdf5_arrays(const std::string& bytes, const std::string& file);
[[nodiscard]] std::string write_hdf5_arrays(const ModelArrays& arrays);
[[nodiscard]] ModelArrays read_json_arrays(const std::string& bytes, const std::string& file);
[[nodiscard]] std::string write_json_arrays(const ModelArrays& arrays);
[[nodiscard]] ModelArrays read_mat_arrays(const std::string& bytes, const std::string& file);
[[nodiscard]] std::string write_mat_arrays(const ModelArrays& arrays);

}  // namespace hqmm::detail

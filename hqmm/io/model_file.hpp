// Model files: HDF5 (the native one), JSON and MATLAB, all holding the same named arrays.
//
//   hqmm   kraus (s, w, n, n) or (sets, s, w, n, n) complex, initial_state (n, n) complex,
//          position_map (L) with its anchor when positions have sets of their own
//          in version 2: field "real" (arrays are real, too) or "complex"; a model that emits on
//          its states has transition (w, n, n) and emission (s, n) in place of kraus, both with a
//          leading axis (sets) likewise
//   hmm    transition (n, n) column-stochastic, emission (s, n), initial (n)
//   both   format, version, kind, alphabet, provenance
#pragma once

#include <string>

#include "hqmm/core/export.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

struct ModelFile {
  AnyModel model;
  std::string provenance = "{}";  // JSON: options, seed, data hash, version, scores
};

enum class ModelFormat { kHdf5, kJson, kMat };

/// By extension: .json, .mat, and HDF5 for .h5, .hdf5 and everything else.
[[nodiscard]] ModelFormat model_format_of(const std::string& path);

/// Reads any of the three, told apart by content ("-": stdin; packed or not). Throws kNoInput, or
/// kBadData naming the file, the array and what is wrong with it. What comes back is valid
/// (require_valid).
[[nodiscard]] ModelFile read_model(const std::string& path);

/// The same for a file in memory; `name` is what errors call it.
[[nodiscard]] ModelFile parse_model(const std::string& bytes, const std::string& name);

/// Writes atomically. The same model and provenance give the same bytes.
void write_model(const std::string& path, const ModelFile& file);
[[nodiscard]] std::string serialize_model(const ModelFile& file, ModelFormat format);

}  // namespace hqmm

// Model files: HDF5 (the native one), JSON and MATLAB, all holding the same named arrays.
//
//   hqmm   kraus (s, w, n, n) or (sets, s, w, n, n) complex, initial_state (n, n) complex,
//          position_map (L) with its anchor if positions have their own sets
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

/// Reads any of the three, recognised by content ("-": stdin; packed or not). Throws kNoInput, or
/// kBadData naming the file, the array and what is wrong with it. The result is valid
/// (require_valid).
[[nodiscard]] ModelFile read_model(const std::string& path);

/// Writes atomically, in the format given by the extension: .json, .mat, and HDF5 for all others.
/// The same model and provenance give the same bytes.
void write_model(const std::string& path, const ModelFile& file);

}  // namespace hqmm

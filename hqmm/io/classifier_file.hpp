// Classifier files: HDF5, kind "classifier".
//
//   attributes   format "hqmm-model"; version 1, or 2 where a class has a structured model;
//                kind "classifier"
//   classes      the classes' names, in byte order
//   priors       their prior probabilities
//   alphabet     the symbols of all models
//   provenance   JSON
//   0, 1, 2 …    a group per class, in the order of `classes`, with the attributes kind and field
//                and the arrays of a model file. Groups are numbered because names are data and
//                may hold '/'.
#pragma once

#include <string>

#include "hqmm/core/export.hpp"
#include "hqmm/model/classifier.hpp"

namespace HQMM_API hqmm {

struct ClassifierFile {
  Classifier classifier;
  std::string provenance = "{}";  // JSON: options, seed, data hash, version
};

/// Throws kNoInput, or kBadData naming the file, the class, the array and what is wrong with it.
/// The result is valid (require_valid).
[[nodiscard]] ClassifierFile read_classifier(const std::string& path);

/// Writes atomically. The same content gives the same bytes.
void write_classifier(const std::string& path, const ClassifierFile& file);

}  // namespace hqmm

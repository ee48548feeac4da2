// Classifier files in memory.
#pragma once

#include <string>

#include "hqmm/io/classifier_file.hpp"

namespace hqmm::detail {

/// Whether a file says that it is a classifier; false for anything else that can be read. Nothing
/// else is checked.
[[nodiscard]] bool is_classifier_file(const std::string& path);
/// The same for a file in memory: pipes are read once.
[[nodiscard]] bool is_classifier(const std::string& bytes, const std::string& name);

/// read_classifier() for a file in memory; `name` is what errors call it.
[[nodiscard]] ClassifierFile parse_classifier(const std::string& bytes, const std::string& name);

[[nodiscard]] std::string serialize_classifier(const ClassifierFile& file);

}  // namespace hqmm::detail

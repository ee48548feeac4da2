// The parts of a report's document, one function for each kind of thing. The names of the keys are
// those of report/src/document.ts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/report/report.hpp"

namespace hqmm::detail::report {

using Json = nlohmann::ordered_json;

/// A model with the name that people know it by, to be scored.
struct NamedModel {
  std::string name;
  std::string method;  // its key in the palette
  AnyModel model;
};

/// What a run folder holds. `model` becomes the run's model, if it is there.
[[nodiscard]] Json run_item(const std::string& path, const ReportOptions& options,
                            std::optional<NamedModel>& model);
[[nodiscard]] Json model_item(const std::string& name, const ModelFile& file);
[[nodiscard]] Json classifier_item(const std::string& name, const ClassifierFile& file);
/// A JSON file of ours. Throws kBadData for any other.
[[nodiscard]] Json json_item(const std::string& path, const std::string& bytes);

/// Scores of all models on the same sequences; the first `truth` is the model that made them.
[[nodiscard]] Json scores(const ReportData& data, const std::vector<NamedModel>& models,
                          int threads);

/// "name: value" pairs, in order.
class Facts {
 public:
  void add(const std::string& name, std::string value) {
    pairs_.emplace_back(name, std::move(value));
  }
  [[nodiscard]] Json json() const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

/// The last part of a path, as people call the thing.
[[nodiscard]] std::string short_name(const std::string& path);

}  // namespace hqmm::detail::report

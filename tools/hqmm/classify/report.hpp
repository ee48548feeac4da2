// What cross-validation found, as a terminal shows it, as JSON and as a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "classify/classify.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

struct CrossValidationView {
  const SequenceSet& data;
  const std::vector<ClassifierSetting>& settings;
  const CrossValidationOptions& how;
  const CrossValidation& found;
  std::optional<Explanation> explanation;
  std::string prior;
  double seconds = 0.0;
};

[[nodiscard]] std::string cross_validation_text(const CrossValidationView& view);
[[nodiscard]] Json cross_validation_json(const CrossValidationView& view);
/// Markdown, the same bytes for the same result: no time and no path.
[[nodiscard]] std::string cross_validation_report(const CrossValidationView& view);

}  // namespace hqmm::cli

#include "classify/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hqmm/core/simd.hpp"
#include "hqmm/data/hash_text.hpp"
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/classifier_settings.hpp"
#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/run/train_config.hpp"
#include "hqmm/version.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

constexpr double kThresholds[] = {0.5, 0.8, 0.9, 0.95, 0.99};
constexpr std::size_t kStrongest = 6;
constexpr std::size_t kMostClassesAcross = 24;  // of a confusion matrix on a terminal

Spread over_folds(const CrossValidation& found) {
  std::vector<double> errors;
  for (const FoldOutcome& fold : found.folds) errors.push_back(fold.mean_class_error);
  return spread(errors);
}

std::string setting_text(const CrossValidationView& view, std::size_t s) {
  return view.settings[s].text.empty() ? "the only one" : view.settings[s].text;
}

Cells fold_cells(const CrossValidationView& view) {
  Cells out{{"fold", "rows", "mean class error", "selected inside the other folds"}};
  for (std::size_t f = 0; f < view.found.folds.size(); ++f) {
    const FoldOutcome& fold = view.found.folds[f];
    out.push_back({std::to_string(f + 1), std::to_string(fold.rows),
                   fmt::format("{:.4f}", fold.mean_class_error), setting_text(view, fold.setting)});
  }
  return out;
}

std::vector<double> corrected(const CrossValidation& found) {
  std::vector<double> p;
  for (const BaselineOutcome& one : found.baselines) p.push_back(one.against.p);
  return holm(p);
}

Cells baseline_cells(const CrossValidationView& view) {
  const CrossValidation& found = view.found;
  Cells out{{"method", "mean class error", "ours − it ± s.e.", "p (Holm)", "McNemar p"}};
  out.push_back(
      {"this classifier", fmt::format("{:.4f}", found.figures.mean_class_error.value), "", "", ""});
  const std::vector<double> p = corrected(found);
  for (std::size_t b = 0; b < found.baselines.size(); ++b) {
    const BaselineOutcome& one = found.baselines[b];
    out.push_back(
        {one.options.name(), fmt::format("{:.4f}", one.figures.mean_class_error.value),
         fmt::format("{:+.4f} ± {:.4f}", one.against.difference, one.against.standard_error),
         fmt::format("{:.2g}", p[b]), fmt::format("{:.2g}", one.against.mcnemar_p)});
  }
  return out;
}

Cells abstention_cells(const CrossValidation& found) {
  Cells out{{"least posterior", "answered", "error of those", "mean class error"}};
  for (const double threshold : kThresholds) {
    const Abstention one = abstain(found.posteriors, found.labels, threshold);
    const auto figure = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.4f}", *value) : std::string("–");
    };
    out.push_back({fmt::format("{}", threshold), percent(one.answered), figure(one.error),
                   figure(one.mean_class)});
  }
  return out;
}

std::string headline(const CrossValidationView& view) {
  const Spread folds = over_folds(view.found);
  return fmt::format(
      "mean class error {:.4f} ± {:.4f} (over rows){}", view.found.figures.mean_class_error.value,
      view.found.figures.mean_class_error.standard_error,
      folds.standard_error ? fmt::format(", ± {:.4f} (over folds)", *folds.standard_error) : "");
}

std::string protocol(const CrossValidationView& view) {
  return fmt::format("{} sequences of {} classes, {} folds, --group {}, {} prior, seed {}",
                     view.data.size(), view.found.classes.size(), view.found.folds.size(),
                     view.how.grouping.text(), view.prior, view.how.seed);
}

Json fold_json(const CrossValidationView& view, std::size_t f) {
  const FoldOutcome& fold = view.found.folds[f];
  Json out;
  out["fold"] = f;
  out["rows"] = fold.rows;
  out["mean_class_error"] = fold.mean_class_error;
  out["overall_error"] = fold.overall_error;
  out["setting"] = view.settings[fold.setting].text;
  out["options"] = to_json(view.settings[fold.setting].options);
  out["inner"] = Json::array();
  for (std::size_t s = 0; s < fold.inner.size(); ++s) {
    out["inner"].push_back({{"setting", view.settings[s].text},
                            {"mean_class_error", fold.inner[s].mean_class_error},
                            {"log_loss", number(fold.inner[s].log_loss)}});
  }
  out["unlearned_classes"] = Json::array();
  for (const std::uint32_t c : fold.unlearned)
    out["unlearned_classes"].push_back(view.found.classes[c]);
  if (fold.classifier) {
    double residual = 0.0;
    for (const AnyModel& model : fold.classifier->models)
      residual = std::max(residual, feasibility_residual(model));
    out["feasibility_residual"] = residual;
  }
  return out;
}

Json baselines_json(const CrossValidationView& view) {
  Json out = Json::array();
  const std::vector<double> p = corrected(view.found);
  for (std::size_t b = 0; b < view.found.baselines.size(); ++b) {
    const BaselineOutcome& one = view.found.baselines[b];
    Json figures = figures_json(view.found.classes, one.figures, view.prior);
    Json entry;
    entry["name"] = one.options.name();
    for (const char* key : {"mean_class_error", "mean_class_error_standard_error", "class_error",
                            "overall_error", "confusion", "log_loss"})
      entry[key] = figures[key];
    entry["expected_calibration_error"] = one.figures.calibration_error;
    entry["comparison"] = {{"difference", one.against.difference},
                           {"standard_error", one.against.standard_error},
                           {"p", one.against.p},
                           {"p_holm", p[b]},
                           {"only_classifier_wrong", one.against.only_a_wrong},
                           {"only_baseline_wrong", one.against.only_b_wrong},
                           {"mcnemar_p", one.against.mcnemar_p}};
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

std::string cross_validation_text(const CrossValidationView& view) {
  const CrossValidation& found = view.found;
  std::string out = protocol(view) + "\n" + headline(view) + "\n\nErrors\n";
  out += errors_text(found.classes, found.figures);
  if (found.classes.size() <= kMostClassesAcross)
    out += "\nDecisions\n" + confusion_text(found.classes, found.figures);
  out += "\nAre the probabilities right?\n" + calibration_text(found.figures, view.prior);
  out += "\nWhen only sure answers are given\n" + table(abstention_cells(found));
  out += "\nFolds\n" + table(fold_cells(view));
  if (!found.baselines.empty())
    out += "\nAgainst what one would try first, on the same folds\n" + table(baseline_cells(view));
  if (view.explanation) out += "\n" + explanation_text(*view.explanation, kStrongest);
  return out;
}

Json cross_validation_json(const CrossValidationView& view) {
  Json out;
  out["folds"] = Json::array();
  for (std::size_t f = 0; f < view.found.folds.size(); ++f)
    out["folds"].push_back(fold_json(view, f));
  out.update(figures_json(view.found.classes, view.found.figures, view.prior));
  out["mean_class_error_fold_standard_error"] = number(over_folds(view.found).standard_error);
  out["abstention"] = Json::array();
  for (const double threshold : kThresholds)
    out["abstention"].push_back(
        abstention_json(abstain(view.found.posteriors, view.found.labels, threshold)));
  out["baselines"] = baselines_json(view);
  if (view.explanation) out["explanation"] = explanation_json(*view.explanation);
  Json settings = Json::array();
  for (const ClassifierSetting& setting : view.settings) settings.push_back(setting.text);
  out["provenance"] = {{"command", "classify cross-validate"},
                       {"version", HQMM_VERSION},
                       {"simd", simd_target()},
                       {"data_hash", hash_text(view.data)},
                       {"sequences", view.data.size()},
                       {"seed", view.how.seed},
                       {"group", view.how.grouping.text()},
                       {"folds", view.found.folds.size()},
                       {"inner_folds", view.how.inner_folds},
                       {"settings", std::move(settings)}};
  out["seconds"] = view.seconds;
  return out;
}

std::string cross_validation_report(const CrossValidationView& view) {
  const CrossValidation& found = view.found;
  std::string out = "# How well the classes are told apart\n\n";
  out += fmt::format("{}. {}.\n\n", protocol(view), headline(view));
  out +=
      "Every fold is scored once, by models learned from the other folds; what is selected is "
      "selected inside those. Rows grouped together are never on both sides.\n\n## Errors\n\n";
  out += markdown_table(error_cells(found.classes, found.figures));
  out += "\n## Decisions\n\n" + markdown_table(confusion_cells(found.classes, found.figures));
  out += fmt::format(
      "\n## Probabilities\n\nExpected calibration error {:.4f}, log loss {:.4f} nats, "
      "of a population with the {} prior.\n\n",
      found.figures.calibration_error, found.figures.log_loss, view.prior);
  out += markdown_table(calibration_cells(found.figures));
  out += "\nWhen only sure answers are given:\n\n" + markdown_table(abstention_cells(found));
  out += "\n## Folds\n\n" + markdown_table(fold_cells(view));
  if (!found.baselines.empty()) {
    out += "\n## Against what one would try first\n\n" + markdown_table(baseline_cells(view));
    out +=
        "\nThe difference weighs all classes the same; its p value is corrected for the number of "
        "comparisons. McNemar's exact test counts every row the same.\n";
  }
  if (!view.explanation) return out;
  out += fmt::format(
      "\n## What the decisions rest on\n\nA contribution is what the symbol of a position "
      "(counted from 0; from the end −1 is the last) changes in the log-odds of the class, "
      "in nats: the mean over the class's own rows, "
      "each explained by the models that never saw it ({} rows).\n",
      view.explanation->rows());
  for (std::size_t c = 0; c < found.classes.size(); ++c)
    out += fmt::format("\n### {}\n\n{}", class_text(found.classes[c]),
                       markdown_table(explanation_cells(*view.explanation, c, 10)));
  return out;
}

}  // namespace hqmm::cli

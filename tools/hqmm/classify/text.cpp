// Tables and JSON of how good a classifier is, and why it decides as it does.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "classify/classify.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/explain.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/classifier.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

std::string estimate(const Estimate& estimate) {
  return fmt::format("{:.4f} ± {:.4f}", estimate.value, estimate.standard_error);
}

}  // namespace

std::string class_text(const std::string& name) { return printable(name, 60); }
std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

Cells error_cells(const std::vector<std::string>& classes, const Classification& figures) {
  Cells out{{"class", "rows", "wrong", "error ± s.e."}};
  std::uint64_t rows = 0, wrong = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::uint64_t here = 0;
    for (const std::uint64_t count : figures.confusion[c]) here += count;
    const std::uint64_t errors = here - figures.confusion[c][c];
    const auto& error = figures.class_errors[c];
    out.push_back({class_text(classes[c]), std::to_string(here), std::to_string(errors),
                   error ? estimate(*error) : "–"});
    rows += here;
    wrong += errors;
  }
  out.push_back({"mean of the classes", "", "", estimate(figures.mean_class_error)});
  out.push_back(
      {"all rows", std::to_string(rows), std::to_string(wrong), estimate(figures.overall_error)});
  return out;
}

std::string errors_text(const std::vector<std::string>& classes, const Classification& figures) {
  return table(error_cells(classes, figures));
}

Cells confusion_cells(const std::vector<std::string>& classes, const Classification& figures) {
  Cells out{{"true class ↓  taken for →"}};
  for (const std::string& name : classes) out.front().push_back(class_text(name));
  for (std::size_t c = 0; c < classes.size(); ++c) {
    out.push_back({class_text(classes[c])});
    for (const std::uint64_t count : figures.confusion[c])
      out.back().push_back(std::to_string(count));
  }
  return out;
}

std::string confusion_text(const std::vector<std::string>& classes, const Classification& figures) {
  return table(confusion_cells(classes, figures));
}

Cells calibration_cells(const Classification& figures) {
  Cells out{{"top posterior", "rows", "mean posterior", "share right"}};
  for (const CalibrationBin& bin : figures.calibration) {
    if (bin.rows == 0) continue;
    out.push_back({fmt::format("{:.3f}–{:.3f}", bin.from, bin.to), std::to_string(bin.rows),
                   fmt::format("{:.3f}", bin.confidence), fmt::format("{:.3f}", bin.accuracy)});
  }
  return out;
}

std::string calibration_text(const Classification& figures, const std::string& prior) {
  return table(calibration_cells(figures)) +
         fmt::format(
             "  expected calibration error {:.4f}, log loss {:.4f} nats ({} prior: every "
             "class weighs what that says)\n",
             figures.calibration_error, figures.log_loss, prior);
}

Cells explanation_cells(const Explanation& explanation, std::size_t c, std::size_t strongest) {
  Cells out{{"position", "symbol", "contribution", "of the symbol", "share with it"}};
  for (const Explanation::Strong& one : explanation.strongest(c, strongest)) {
    out.push_back({std::to_string(explanation.position_name(one.place)),
                   explanation.alphabet().token(one.symbol), fmt::format("{:+.2f}", one.mean),
                   fmt::format("{:+.2f}", one.symbol_mean), percent(one.symbol_share)});
  }
  return out;
}

std::string explanation_text(const Explanation& explanation, std::size_t strongest) {
  std::string out;
  for (std::size_t c = 0; c < explanation.classes().size(); ++c) {
    out += fmt::format("What speaks for {} (mean change of its log-odds in its own rows, nats)\n",
                       class_text(explanation.classes()[c]));
    out += table(explanation_cells(explanation, c, strongest)) + "\n";
  }
  return out;
}

Json figures_json(const std::vector<std::string>& classes, const Classification& figures,
                  const std::string& prior) {
  Json out;
  out["classes"] = classes;
  out["mean_class_error"] = figures.mean_class_error.value;
  out["mean_class_error_standard_error"] = figures.mean_class_error.standard_error;
  out["class_error"] = Json::object();
  out["class_error_standard_error"] = Json::object();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const auto& error = figures.class_errors[c];
    out["class_error"][classes[c]] = error ? Json(error->value) : Json(nullptr);
    out["class_error_standard_error"][classes[c]] =
        error ? Json(error->standard_error) : Json(nullptr);
  }
  out["overall_error"] = figures.overall_error.value;
  out["overall_error_standard_error"] = figures.overall_error.standard_error;
  out["confusion"] = figures.confusion;
  out["log_loss"] = number(figures.log_loss);
  Json bins = Json::array();
  for (const CalibrationBin& bin : figures.calibration) {
    bins.push_back({{"from", bin.from},
                    {"to", bin.to},
                    {"rows", bin.rows},
                    {"weight", bin.weight},
                    {"confidence", bin.rows > 0 ? Json(bin.confidence) : Json(nullptr)},
                    {"accuracy", bin.rows > 0 ? Json(bin.accuracy) : Json(nullptr)}});
  }
  out["calibration"] = {{"prior", prior},
                        {"expected_calibration_error", figures.calibration_error},
                        {"bins", std::move(bins)}};
  return out;
}

Json abstention_json(const Abstention& abstention) {
  return {{"threshold", abstention.threshold},
          {"answered", abstention.answered},
          {"error", number(abstention.error)},
          {"mean_class_error", number(abstention.mean_class)}};
}

Json explanation_json(const Explanation& explanation) {
  Json out;
  out["unit"] = "nats of log-odds";
  out["rows"] = explanation.rows();
  const std::size_t symbols = explanation.alphabet().size();
  for (std::size_t c = 0; c < explanation.classes().size(); ++c) {
    Json positions = Json::array();
    for (std::size_t place = 0; place < explanation.positions(); ++place) {
      Json by_symbol = Json::object();
      for (std::size_t y = 0; y < symbols; ++y) {
        const auto symbol = static_cast<Symbol>(y);
        const Explanation::Cell& all = explanation.all(c, place, symbol);
        if (all.rows == 0) continue;
        by_symbol[explanation.alphabet().token(symbol)] = {
            {"mean", all.mean()},
            {"rows", all.rows},
            {"own_rows", explanation.own(c, place, symbol).rows}};
      }
      positions.push_back({{"position", explanation.position_name(place)},
                           {"mean", explanation.own(c, place).mean()},
                           {"symbols", std::move(by_symbol)}});
    }
    Json strong = Json::array();
    for (const Explanation::Strong& one : explanation.strongest(c, 10)) {
      strong.push_back({{"position", explanation.position_name(one.place)},
                        {"symbol", explanation.alphabet().token(one.symbol)},
                        {"mean", one.mean},
                        {"symbol_mean", one.symbol_mean},
                        {"share", one.symbol_share}});
    }
    out["classes"][explanation.classes()[c]] = {{"strongest", std::move(strong)},
                                                {"positions", std::move(positions)}};
  }
  return out;
}

std::size_t rows_to_explain(const Classifier& classifier, std::size_t longest) {
  constexpr double kWork = 2e10;  // operations: some ten seconds
  double row = 1.0;
  for (const AnyModel& model : classifier.models) {
    const auto n =
        static_cast<double>(std::visit([](const auto& m) { return m.latent_dim(); }, model));
    const auto* hqmm = std::get_if<Hqmm>(&model);
    const double w = hqmm != nullptr ? static_cast<double>(hqmm->kraus_rank()) : n;
    const auto s = static_cast<double>(alphabet_of(model).size());
    row += 16.0 * (s + 2.0) * w * n * n * n * static_cast<double>(longest);
  }
  return static_cast<std::size_t>(std::max(50.0, kWork / row));
}

}  // namespace hqmm::cli

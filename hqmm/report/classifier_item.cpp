// A classifier: what each of its positions says for and against each class, as a logo.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "hqmm/io/json_number.hpp"
#include "hqmm/report/items.hpp"

namespace hqmm::detail::report {
namespace {

constexpr std::size_t kMostPositions = 200;
constexpr std::size_t kMostLetters = 32;

/// P(y at position t) under one class's model, whatever the other positions hold: [t·s + y].
std::vector<double> marginals(const AnyModel& model, std::size_t positions) {
  const std::size_t s = alphabet_of(model).size();
  std::vector<double> out(positions * s);
  std::visit(
      [&](const auto& m) {
        auto filter = make_filter(m);
        filter.restart(positions);
        for (std::size_t t = 0; t < positions; ++t) {
          filter.next_distribution(std::span(out).subspan(t * s, s));
          filter.skip();
        }
      },
      model);
  return out;
}

/// The length of the position map; 0 when all models are stationary.
std::size_t positions_of(const Classifier& classifier) {
  std::size_t out = 0;
  for (const AnyModel& model : classifier.models)
    if (const auto* hqmm = std::get_if<Hqmm>(&model); hqmm && !hqmm->positions.stationary())
      out = std::max(out, hqmm->positions.entries().size());
  return std::min(out, kMostPositions);
}

Json logo(const Classifier& classifier, std::size_t positions) {
  const std::size_t s = classifier.alphabet().size();
  const std::size_t classes = classifier.models.size();
  std::vector<std::vector<double>> all;
  for (const AnyModel& model : classifier.models) all.push_back(marginals(model, positions));
  Json out = Json::array();
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t k = 0; k < positions * s; ++k) {
      double others = 0.0;
      for (std::size_t other = 0; other < classes; ++other)
        if (other != c) others += all[other][k] / static_cast<double>(classes - 1);
      const double odds = std::log2(std::max(all[c][k], 1e-12) / std::max(others, 1e-12));
      out.push_back({{"class", classifier.classes[c]},
                     {"position", k / s + 1},
                     {"symbol", classifier.alphabet().token(static_cast<Symbol>(k % s))},
                     {"log_odds", number(odds)},
                     {"frequency", number(all[c][k])}});
    }
  }
  return out;
}

}  // namespace

Json classifier_item(const std::string& name, const ClassifierFile& file) {
  const Classifier& classifier = file.classifier;
  Json out{{"kind", "classifier"}, {"name", name}, {"classes", classifier.classes}};
  const std::size_t positions = positions_of(classifier);
  const bool drawn =
      positions > 0 && classifier.models.size() > 1 && classifier.alphabet().size() <= kMostLetters;
  Facts facts;
  facts.add("alphabet", classifier.alphabet().description());
  facts.add("positions", positions == 0 ? "all alike" : std::to_string(positions));
  for (std::size_t c = 0; c < classifier.classes.size(); ++c)
    facts.add(fmt::format("prior of {}", classifier.classes[c]),
              fmt::format("{:.4g}", classifier.priors[c]));
  out["facts"] = facts.json();
  out["alphabet"] = drawn ? Json(classifier.alphabet().all_tokens()) : Json::array();
  out["logo"] = drawn ? logo(classifier, positions) : Json::array();
  return out;
}

}  // namespace hqmm::detail::report

// STAND-IN: not for main. n = 1 frequencies per position set.
#include "hqmm/learn/classifier_learner.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "hqmm/learn/trainer.hpp"

namespace hqmm {

Classifier fit_classifier(const SequenceSet& data, const ClassifierOptions& options,
                          const ClassifierHooks& hooks) {
  if (!data.labelled()) throw fail(ErrorCode::kBadData, "the sequences have no classes");
  std::map<std::string, std::vector<std::uint32_t>> rows;
  for (std::uint32_t i = 0; i < data.size(); ++i) rows[data.classes()[data.label(i)]].push_back(i);
  const std::vector<std::uint32_t> sets = options.positions.sets(data.longest());
  const PositionMap map(
      sets.size() > 1 && options.positions.kind != PositionPlan::Kind::kStationary
          ? sets
          : std::vector<std::uint32_t>{0},
      options.positions.from_end ? PositionMap::Anchor::kEnd : PositionMap::Anchor::kStart);
  Classifier out;
  const std::size_t s = data.alphabet().size();
  for (const auto& [name, own] : rows) {
    if (hooks.stop_requested && hooks.stop_requested())
      throw fail(ErrorCode::kInterrupted, "interrupted");
    std::vector<std::vector<double>> p(map.set_count(),
                                       std::vector<double>(s, options.pseudo_count));
    for (const std::uint32_t i : own)
      for (std::size_t t = 0; t < data[i].size(); ++t)
        if (data[i][t] != kMissing) p[map.set_at(t, data[i].size())][data[i][t]] += 1;
    Hqmm model;
    model.alphabet = data.alphabet();
    model.positions = map;
    model.initial_state = maximally_mixed(1);
    for (auto& one : p) {
      double sum = 0;
      for (const double x : one) sum += x;
      Stack gamma(static_cast<Index>(s), 1);
      for (std::size_t y = 0; y < s; ++y) {
        const double smooth =
            (1 - options.smoothing) * one[y] / sum + options.smoothing / static_cast<double>(s);
        gamma(static_cast<Index>(y), 0) = std::sqrt(smooth);
      }
      model.sets.emplace_back(static_cast<Index>(s), 1, gamma);
    }
    out.classes.push_back(name);
    out.models.push_back(model);
    const auto count = static_cast<double>(rows.size());
    out.priors.push_back(options.prior == PriorKind::kEmpirical
                             ? static_cast<double>(own.size()) / static_cast<double>(data.size())
                             : 1.0 / count);
  }
  if (options.prior == PriorKind::kGiven) out.priors = options.given_priors;
  for (std::size_t m = 0; m < options.members; ++m)
    for (std::size_t e = 1; e <= options.train.epochs; ++e)
      if (hooks.on_epoch) hooks.on_epoch(m, e, -1.0);
  return out;
}

void require_usable(const ClassifierOptions& options) {
  if (!(options.dropout >= 0.0 && options.dropout < 1.0))
    throw fail(ErrorCode::kUsage, "dropout: expected a number from 0 to below 1");
}

}  // namespace hqmm

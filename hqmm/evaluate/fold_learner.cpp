#include "hqmm/evaluate/fold_learner.hpp"
#include "hqmm/engine/device.hpp"

#include <algorithm>
#include <numeric>

#include "hqmm/core/fail.hpp"
#include "hqmm/evaluate/posteriors_on.hpp"
#include "hqmm/learn/class_labels.hpp"
#include "hqmm/model/log_posteriors.hpp"

namespace hqmm::detail {
namespace {

using Rows = std::vector<std::uint32_t>;

/// The chosen rows with the classes they have: subset() would keep the names of absent ones.
SequenceSet with_own_classes(const SequenceSet& data, const Rows& rows) {
  SequenceSet out(data.alphabet());
  for (const std::uint32_t i : rows) {
    const SequenceView row = data[i];
    for (std::size_t t = 0; t < row.size(); ++t) out.push_back(row[t]);
    out.end_sequence_labelled(data.classes()[data.label(i)]);
  }
  return out;
}

}  // namespace

double work_of(const ClassifierSetting& setting, const SplitRows& rows) {
  const ClassifierOptions& options = setting.options;
  return static_cast<double>((options.train.epochs + options.generative_epochs) * options.members *
                             rows.train.size());
}

void Meter::add(double work) {
  const std::lock_guard lock(mutex_);
  done_ += work;
  if (hooks_.on_progress) hooks_.on_progress(std::min(done_ / total_, 1.0));
}

std::vector<std::size_t> FoldLearner::count(const Rows& rows) const {
  std::vector<std::size_t> out(classes_.names.size());
  for (const std::uint32_t i : rows) ++out[classes_.labels[i]];
  return out;
}

/// One job is one thread; given priors are shared out among the classes that are there.
ClassifierOptions FoldLearner::options_for(const ClassifierSetting& setting,
                                           const Rows& train) const {
  ClassifierOptions out = setting.options;
  out.train.threads = 1;
  if (out.prior != PriorKind::kGiven) return out;
  const std::vector<std::size_t> counts = count(train);
  std::vector<double> kept;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0) kept.push_back(out.given_priors[c]);
  const double sum = std::accumulate(kept.begin(), kept.end(), 0.0);
  for (double& prior : kept) prior /= sum;
  out.given_priors = std::move(kept);
  return out;
}

Posteriors FoldLearner::score(const ClassifierSetting& setting, const SplitRows& rows, Meter& meter,
                              std::optional<Classifier>* keep) const {
  if (meter.stop() && meter.stop()()) throw fail(ErrorCode::kInterrupted, "interrupted");
  Posteriors out(rows.scored.size(), classes_.names.size());
  const SequenceSet train = with_own_classes(data_, rows.train);
  const double work = work_of(setting, rows);
  if (train.classes().size() == 1) {
    const std::uint32_t only = classes_.labels[rows.train.front()];
    for (std::size_t i = 0; i < rows.scored.size(); ++i) out.row(i)[only] = 0.0;
    meter.add(work);
    return out;
  }
  const ClassifierOptions options = options_for(setting, rows.train);
  double done = 0.0;
  ClassifierHooks hooks;
  hooks.stop_requested = meter.stop();
  hooks.on_epoch = [&](std::size_t, std::size_t, double) {
    const auto epochs =
        static_cast<double>((options.train.epochs + options.generative_epochs) * options.members);
    const double step = std::min(work / epochs, work - done);
    done += step;
    meter.add(step);
  };
  Classifier classifier = fit_classifier(train, options, hooks);
  const auto gpu = open_device(options.train.device, options.train.memory);
  const Posteriors found = posteriors_on(classifier, data_.subset(rows.scored), 1, gpu.get());
  for (std::size_t c = 0; c < classifier.classes.size(); ++c) {
    const auto place =
        std::lower_bound(classes_.names.begin(), classes_.names.end(), classifier.classes[c]);
    const auto at = static_cast<std::size_t>(place - classes_.names.begin());
    for (std::size_t i = 0; i < rows.scored.size(); ++i) out.row(i)[at] = found.row(i)[c];
  }
  meter.add(work - done);
  if (keep != nullptr) *keep = std::move(classifier);
  return out;
}

Posteriors FoldLearner::baseline(const BaselineOptions& baseline, const ClassifierOptions& options,
                                 const SplitRows& rows) const {
  const std::vector<std::size_t> counts = count(rows.train);
  const std::vector<double> priors = class_priors(options.prior, options.given_priors, counts);
  Posteriors out(rows.scored.size(), classes_.names.size());
  for (std::size_t c = 0; c < classes_.names.size(); ++c) {
    Rows own;
    for (const std::uint32_t i : rows.train)
      if (classes_.labels[i] == c) own.push_back(i);
    if (own.empty()) continue;
    const FrequencyModel model(data_, own, baseline);
    for (std::size_t i = 0; i < rows.scored.size(); ++i)
      out.row(i)[c] = model.log_likelihood(data_[rows.scored[i]]);
  }
  for (std::size_t i = 0; i < rows.scored.size(); ++i) {
    const std::vector<double> row = log_posteriors(out.row(i), priors);
    std::copy(row.begin(), row.end(), out.row(i).begin());
  }
  return out;
}

}  // namespace hqmm::detail

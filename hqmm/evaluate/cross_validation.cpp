#include "hqmm/evaluate/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/data/group_sequences.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/evaluate/fold_jobs.hpp"
#include "hqmm/evaluate/fold_learner.hpp"
#include "hqmm/evaluate/paired_errors.hpp"
#include "hqmm/learn/class_labels.hpp"

namespace hqmm::detail {
namespace {

using Rows = std::vector<std::uint32_t>;

constexpr double kHeldOutShare = 0.2;

std::vector<double> priors_of(const ClassifierOptions& options,
                              const std::vector<std::size_t>& counts) {
  return class_priors(options.prior, options.given_priors, counts);
}

/// An ensemble is as good a setting as one of its members is: where all are of the same size, the
/// choice is made with single models.
std::vector<ClassifierSetting> with_single_members(std::vector<ClassifierSetting> settings) {
  const std::size_t members = settings.front().options.members;
  const auto same = [&](const ClassifierSetting& one) { return one.options.members == members; };
  if (std::all_of(settings.begin(), settings.end(), same))
    for (ClassifierSetting& one : settings) one.options.members = 1;
  return settings;
}

class Validator {
 public:
  Validator(const SequenceSet& data, const std::vector<ClassifierSetting>& settings,
            const CrossValidationOptions& options)
      : data_(data),
        settings_(settings),
        candidates_(with_single_members(settings)),
        options_(options),
        learner_(data) {}

  CrossValidation run(const Rows& fold_of, const CrossValidationHooks& hooks);
  [[nodiscard]] FoldOutcome select(const CrossValidationHooks& hooks) const;

 private:
  [[nodiscard]] std::size_t class_count() const { return classes().names.size(); }
  [[nodiscard]] const OrderedClasses& classes() const { return learner_.classes(); }
  [[nodiscard]] int jobs_at_a_time() const;
  [[nodiscard]] Rows labels_of(const Rows& rows) const;
  [[nodiscard]] std::vector<SplitRows> inner_splits(const Rows& rows) const;
  [[nodiscard]] std::vector<std::vector<SplitRows>> inner_splits(
      const std::vector<SplitRows>& outer) const;
  [[nodiscard]] double inner_work(const std::vector<std::vector<SplitRows>>& inner) const;
  void choose(const std::vector<std::vector<SplitRows>>& inner, Meter& meter,
              std::vector<FoldOutcome>& folds) const;
  void pick(const std::vector<Posteriors>& by_setting, const Rows& labels, FoldOutcome& fold) const;
  void finish(const std::vector<SplitRows>& outer, const std::vector<Posteriors>& scored,
              CrossValidation& out) const;

  const SequenceSet& data_;
  const std::vector<ClassifierSetting>& settings_;
  std::vector<ClassifierSetting> candidates_;  // the settings as they are tried inside
  const CrossValidationOptions& options_;
  FoldLearner learner_;
};

int Validator::jobs_at_a_time() const {
  int out = options_.threads;
  for (const ClassifierSetting& setting : settings_)
    out = jobs_on(setting.options.train.device, out);
  return out;
}

Rows Validator::labels_of(const Rows& rows) const {
  Rows out;
  for (const std::uint32_t i : rows) out.push_back(classes().labels[i]);
  return out;
}

std::vector<SplitRows> Validator::inner_splits(const Rows& rows) const {
  const SequenceSet inside = data_.subset(rows);
  std::vector<SplitRows> out;
  if (options_.inner_folds == 1) {
    const Split split = hold_out(inside, kHeldOutShare, options_.grouping, options_.seed);
    out.emplace_back();
    for (const std::uint32_t i : split.kept) out.back().train.push_back(rows[i]);
    for (const std::uint32_t i : split.held_out) out.back().scored.push_back(rows[i]);
    return out;
  }
  const Rows groups = group_sequences(inside, options_.grouping);
  const std::size_t count = std::size_t{*std::max_element(groups.begin(), groups.end())} + 1;
  const std::size_t folds = std::min(options_.inner_folds, count);
  const Rows fold_of = make_folds(inside, folds, options_.grouping, options_.seed);
  out.resize(folds);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t f = 0; f < folds; ++f)
      (fold_of[i] == f ? out[f].scored : out[f].train).push_back(rows[i]);
  }
  return out;
}

/// Empty where there is nothing to choose.
std::vector<std::vector<SplitRows>> Validator::inner_splits(
    const std::vector<SplitRows>& outer) const {
  std::vector<std::vector<SplitRows>> out(outer.size());
  for (std::size_t f = 0; f < outer.size() && settings_.size() > 1; ++f)
    out[f] = inner_splits(outer[f].train);
  return out;
}

double Validator::inner_work(const std::vector<std::vector<SplitRows>>& inner) const {
  double out = 0.0;
  for (const std::vector<SplitRows>& splits : inner)
    for (const SplitRows& split : splits)
      for (const ClassifierSetting& setting : candidates_) out += work_of(setting, split);
  return out;
}

/// Every setting on every inner fold of every fold, in parallel; then the choice of each fold.
void Validator::choose(const std::vector<std::vector<SplitRows>>& inner, Meter& meter,
                       std::vector<FoldOutcome>& folds) const {
  std::vector<FoldJob> jobs;
  for (std::size_t f = 0; f < inner.size(); ++f) {
    for (std::size_t s = 0; s < settings_.size(); ++s) {
      for (std::size_t k = 0; k < inner[f].size(); ++k)
        jobs.push_back({fmt::format("fold{}-setting{}-inner{}", f, s, k), s,
                        candidates_[s].options.members, &inner[f][k], false});
    }
  }
  const std::vector<FoldCell> parts = do_jobs(jobs, settings_, learner_, jobs_at_a_time(), meter);
  std::size_t next = 0;
  for (std::size_t f = 0; f < inner.size(); ++f) {
    if (inner[f].empty()) continue;
    Rows labels;
    for (const SplitRows& split : inner[f])
      for (const std::uint32_t i : split.scored) labels.push_back(classes().labels[i]);
    std::vector<Posteriors> by_setting;
    for (std::size_t s = 0; s < settings_.size(); ++s) {
      Posteriors whole(labels.size(), class_count());
      std::size_t row = 0;
      for (std::size_t k = 0; k < inner[f].size(); ++k, ++next) {
        for (std::size_t i = 0; i < parts[next].posteriors.rows(); ++i, ++row)
          std::copy_n(parts[next].posteriors.row(i).begin(), class_count(), whole.row(row).begin());
      }
      by_setting.push_back(std::move(whole));
    }
    pick(by_setting, labels, folds[f]);
  }
}

void Validator::pick(const std::vector<Posteriors>& by_setting, const Rows& labels,
                     FoldOutcome& fold) const {
  std::vector<std::size_t> counts(class_count());
  for (const std::uint32_t label : labels) ++counts[label];
  for (std::size_t s = 0; s < settings_.size(); ++s) {
    const Classification figures =
        judge(by_setting[s], labels, priors_of(settings_[s].options, counts));
    fold.inner.push_back({figures.mean_class_error.value, figures.log_loss});
  }
  std::size_t least = 0;
  for (std::size_t s = 1; s < settings_.size(); ++s)
    if (fold.inner[s].mean_class_error < fold.inner[least].mean_class_error) least = s;
  std::optional<std::size_t> best;
  for (std::size_t s = 0; s < settings_.size(); ++s) {
    const PairedErrors apart = compare(by_setting[s], by_setting[least], labels);
    if (apart.difference > apart.standard_error) continue;
    if (!best || fold.inner[s].log_loss < fold.inner[*best].log_loss) best = s;
  }
  fold.setting = best.value_or(least);
}

FoldOutcome Validator::select(const CrossValidationHooks& hooks) const {
  std::vector<SplitRows> whole(1);
  whole.front().train.resize(data_.size());
  std::iota(whole.front().train.begin(), whole.front().train.end(), 0U);
  const std::vector<std::vector<SplitRows>> inner = inner_splits(whole);
  Meter meter(hooks, inner_work(inner));
  std::vector<FoldOutcome> out(1);
  choose(inner, meter, out);
  return std::move(out.front());
}

void Validator::finish(const std::vector<SplitRows>& outer, const std::vector<Posteriors>& scored,
                       CrossValidation& out) const {
  for (std::size_t f = 0; f < outer.size(); ++f) {
    const Rows& rows = outer[f].scored;
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(scored[f].row(i).begin(), class_count(), out.posteriors.row(rows[i]).begin());
    FoldOutcome& fold = out.folds[f];
    const Classification figures = judge(scored[f], labels_of(rows), out.priors);
    fold.rows = rows.size();
    fold.mean_class_error = figures.mean_class_error.value;
    fold.overall_error = figures.overall_error.value;
    const std::vector<std::size_t> counts = learner_.count(outer[f].train);
    for (std::uint32_t c = 0; c < counts.size(); ++c)
      if (counts[c] == 0) fold.unlearned.push_back(c);
  }
  out.figures = judge(out.posteriors, out.labels, out.priors);
}

CrossValidation Validator::run(const Rows& fold_of, const CrossValidationHooks& hooks) {
  CrossValidation out;
  out.classes = classes().names;
  out.labels = classes().labels;
  out.fold_of = fold_of;
  Rows all(data_.size());
  std::iota(all.begin(), all.end(), 0U);
  out.priors = priors_of(settings_.front().options, learner_.count(all));
  out.posteriors = Posteriors(data_.size(), class_count());
  std::vector<SplitRows> outer(std::size_t{*std::max_element(fold_of.begin(), fold_of.end())} + 1);
  for (std::uint32_t i = 0; i < data_.size(); ++i) {
    for (std::size_t f = 0; f < outer.size(); ++f)
      (fold_of[i] == f ? outer[f].scored : outer[f].train).push_back(i);
  }
  out.folds.resize(outer.size());

  double work = 0.0;
  for (const SplitRows& rows : outer) work += work_of(settings_.front(), rows);
  const std::vector<std::vector<SplitRows>> inner = inner_splits(outer);
  Meter meter(hooks, work + inner_work(inner));
  choose(inner, meter, out.folds);
  std::vector<FoldJob> jobs;
  for (std::size_t f = 0; f < outer.size(); ++f) {
    const std::size_t setting = out.folds[f].setting;
    jobs.push_back(
        {fmt::format("fold{}", f), setting, settings_[setting].options.members, &outer[f], true});
  }
  std::vector<FoldCell> done = do_jobs(jobs, settings_, learner_, jobs_at_a_time(), meter);
  std::vector<Posteriors> scored(outer.size());
  for (std::size_t f = 0; f < outer.size(); ++f) {
    scored[f] = std::move(done[f].posteriors);
    out.folds[f].classifier = std::move(done[f].classifier);
  }
  finish(outer, scored, out);

  for (const BaselineOptions& options : options_.baselines) {
    BaselineOutcome found;
    found.options = options;
    found.posteriors = Posteriors(data_.size(), class_count());
    parallel_for(outer.size(), options_.threads, [&](std::size_t f) {
      const Posteriors here = learner_.baseline(options, settings_.front().options, outer[f]);
      const Rows& rows = outer[f].scored;
      for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(here.row(i).begin(), class_count(), found.posteriors.row(rows[i]).begin());
    });
    found.figures = judge(found.posteriors, out.labels, out.priors);
    found.against = compare(out.posteriors, found.posteriors, out.labels);
    out.baselines.push_back(std::move(found));
  }
  return out;
}

void require_ready(const SequenceSet& data, const std::vector<ClassifierSetting>& settings,
                   const CrossValidationOptions& options) {
  require_labelled(data);
  if (settings.empty()) throw fail(ErrorCode::kUsage, "no setting to choose from");
  if (options.inner_folds < 1) throw fail(ErrorCode::kUsage, "inner folds: at least 1");
  for (const ClassifierSetting& setting : settings) require_usable(setting.options);
}

}  // namespace

FoldOutcome select_setting(const SequenceSet& data, const std::vector<ClassifierSetting>& settings,
                           const CrossValidationOptions& options,
                           const CrossValidationHooks& hooks) {
  require_ready(data, settings, options);
  return Validator(data, settings, options).select(hooks);
}

CrossValidation cross_validate(const SequenceSet& data, const std::vector<std::uint32_t>& fold_of,
                               const std::vector<ClassifierSetting>& settings,
                               const CrossValidationOptions& options,
                               const CrossValidationHooks& hooks) {
  require_ready(data, settings, options);
  return Validator(data, settings, options).run(fold_of, hooks);
}

CrossValidation cross_validate(const SequenceSet& data,
                               const std::vector<ClassifierSetting>& settings,
                               const CrossValidationOptions& options,
                               const CrossValidationHooks& hooks) {
  require_labelled(data);
  const Rows fold_of = make_folds(data, options.folds, options.grouping, options.seed);
  return cross_validate(data, fold_of, settings, options, hooks);
}

}  // namespace hqmm::detail

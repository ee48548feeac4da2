#include "hqmm/reproduction/summary.hpp"

#include <algorithm>

#include "hqmm/evaluate/paired_errors.hpp"

namespace hqmm::detail::reproduction {
namespace {

bool same_group(const Cell& a, Cell b) {
  b.seed = a.seed;
  return a == b;
}

template <typename Get>
Spread over(const std::vector<const SyntheticOutcome*>& outcomes, Get get) {
  std::vector<double> values;
  for (const SyntheticOutcome* one : outcomes)
    if (const std::optional<double> value = get(*one)) values.push_back(*value);
  return spread(values);
}

/// Element by element; every row has the size of the first.
std::vector<double> mean_of_rows(const std::vector<const std::vector<double>*>& rows) {
  std::vector<double> out;
  if (rows.empty()) return out;
  out.assign(rows.front()->size(), 0.0);
  for (const std::vector<double>* row : rows) {
    for (std::size_t i = 0; i < std::min(out.size(), row->size()); ++i) out[i] += (*row)[i];
  }
  for (double& value : out) value /= static_cast<double>(rows.size());
  return out;
}

void add_synthetic(Group& group, const std::vector<const SyntheticOutcome*>& outcomes) {
  using Outcome = SyntheticOutcome;
  using Maybe = std::optional<double>;
  group.train = over(outcomes, [](const Outcome& o) { return Maybe(o.train.da); });
  group.validation = over(outcomes, [](const Outcome& o) { return Maybe(o.validation.da); });
  group.test = over(outcomes, [](const Outcome& o) { return Maybe(o.test.da); });
  group.raw_train = over(outcomes, [](const Outcome& o) { return o.train.raw_da; });
  group.raw_validation = over(outcomes, [](const Outcome& o) { return o.validation.raw_da; });
  group.raw = over(outcomes, [](const Outcome& o) { return o.test.raw_da; });
  group.last = over(outcomes, [](const Outcome& o) { return Maybe(o.last_validation.da); });
  group.raw_last = over(outcomes, [](const Outcome& o) { return o.last_validation.raw_da; });
  group.best_epoch =
      over(outcomes, [](const Outcome& o) { return Maybe(static_cast<double>(o.best_epoch)); });
  std::vector<const std::vector<double>*> rows;
  rows.reserve(outcomes.size());
  for (const Outcome* one : outcomes) rows.push_back(&one->test_da);
  group.test_da = mean_of_rows(rows);
  group.smallest_singular = outcomes.front()->smallest_singular;
  group.largest_singular = outcomes.front()->largest_singular;
  for (const Outcome* one : outcomes) {
    group.smallest_singular = std::min(group.smallest_singular, one->smallest_singular);
    group.largest_singular = std::max(group.largest_singular, one->largest_singular);
    group.time_bounded = group.time_bounded || one->status == "time-limit";
    group.diverged = group.diverged || one->status == "diverged";
  }
}

void add_splice(Group& group, const std::vector<const SpliceOutcome*>& outcomes) {
  std::vector<double> errors;
  std::vector<double> normalised;
  std::vector<const std::vector<double>*> rows;
  for (const SpliceOutcome* one : outcomes) {
    errors.push_back(one->mean_class_error);
    normalised.push_back(one->normalised_mean_class_error);
    rows.push_back(&one->class_errors);
    group.fold_errors.insert(group.fold_errors.end(), one->fold_errors.begin(),
                             one->fold_errors.end());
  }
  group.error = spread(errors);
  group.normalised_error = spread(normalised);
  group.class_errors = mean_of_rows(rows);
}

Group make_group(std::span<const CellResult> results, const Cell& cell) {
  Group out;
  out.cell = cell;
  std::vector<const SyntheticOutcome*> synthetic;
  std::vector<const SpliceOutcome*> splice;
  std::vector<double> seconds;
  for (const CellResult& one : results) {
    if (!same_group(one.cell, cell)) continue;
    ++out.seeds;
    seconds.push_back(seconds_of(one.outcome));
    if (const auto* outcome = std::get_if<SyntheticOutcome>(&one.outcome)) {
      synthetic.push_back(outcome);
    } else {
      splice.push_back(&std::get<SpliceOutcome>(one.outcome));
    }
  }
  out.seconds = spread(seconds);
  if (!synthetic.empty()) add_synthetic(out, synthetic);
  if (!splice.empty()) add_splice(out, splice);
  return out;
}

void add_comparison(std::vector<Comparison>& out, Study study, const Group* a, const Group* b) {
  if (a == nullptr || b == nullptr) return;
  if (a->test_da.size() != b->test_da.size() || a->test_da.size() < 2) return;
  out.push_back({study, a->cell, b->cell, paired_t_test(a->test_da, b->test_da), 1.0});
}

}  // namespace

std::vector<Group> group_results(std::span<const CellResult> results) {
  std::vector<Group> out;
  for (const CellResult& one : results) {
    const auto known = [&](const Group& group) { return same_group(group.cell, one.cell); };
    if (std::none_of(out.begin(), out.end(), known)) out.push_back(make_group(results, one.cell));
  }
  return out;
}

const Group* find_group(std::span<const Group> groups, Study study, Method method, Index latent_dim,
                        Index kraus_rank, bool clean, int ns_steps) {
  for (const Group& group : groups) {
    const Cell& cell = group.cell;
    if (cell.study == study && cell.method == method && cell.latent_dim == latent_dim &&
        cell.kraus_rank == kraus_rank && cell.clean == clean && cell.ns_steps == ns_steps)
      return &group;
  }
  return nullptr;
}

const Group* best_on_validation(std::span<const Group> groups, Study study, Method method,
                                Index latent_dim) {
  const Group* best = nullptr;
  for (const Group& group : groups) {
    if (group.cell.study != study || group.cell.method != method ||
        group.cell.latent_dim != latent_dim)
      continue;
    if (best == nullptr || group.validation.mean > best->validation.mean) best = &group;
  }
  return best;
}

std::vector<Comparison> compare(std::span<const Group> groups, Study study) {
  std::vector<Comparison> out;
  constexpr Index kLargest = 8;
  for (Index n = 2; n <= kLargest; ++n) {
    const Group* em = find_group(groups, study, Method::kEm, n, 0);
    add_comparison(out, study, best_on_validation(groups, study, Method::kNsRis, n), em);
    add_comparison(out, study, find_group(groups, study, Method::kNsRisWarm, n, n), em);
    for (Index w = 1; w <= kLargest; ++w) {
      for (const Method method : {Method::kNsRisPaper, Method::kNsRisPaperSmall})
        add_comparison(out, study, find_group(groups, study, method, n, w),
                       find_group(groups, study, Method::kCosm, n, w));
    }
  }
  std::vector<double> p;
  p.reserve(out.size());
  for (const Comparison& one : out) p.push_back(one.test.p);
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].corrected_p = corrected[i];
  return out;
}

std::vector<AboveTruth> above_truth(std::span<const Group> groups,
                                    const std::map<Study, SyntheticOutcome>& truths) {
  std::vector<AboveTruth> out;
  for (const Group& group : groups) {
    const auto truth = truths.find(group.cell.study);
    if (truth == truths.end() || group.test_da.size() < 2 ||
        group.test_da.size() != truth->second.test_da.size())
      continue;
    const PairedTest test = paired_t_test(group.test_da, truth->second.test_da);
    if (test.difference > 2.0 * test.standard_error) out.push_back({group.cell, test});
  }
  return out;
}

}  // namespace hqmm::detail::reproduction

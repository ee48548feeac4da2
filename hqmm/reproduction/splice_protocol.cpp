#include "hqmm/reproduction/splice_protocol.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/data/chunks.hpp"
#include "hqmm/data/folds.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/learn/baum_welch.hpp"
#include "hqmm/learn/class_labels.hpp"
#include "hqmm/learn/descent.hpp"
#include "hqmm/learn/rules.hpp"
#include "hqmm/learn/start.hpp"

namespace hqmm::detail {
namespace {

using Rows = std::vector<std::uint32_t>;

constexpr double kSelectionShare = 0.2;

bool never() { return false; }
bool is_literal(const SpliceCell& cell) { return reproduction::is_literal(cell.method); }

/// The rows a fold trains on, selects on and scores.
struct FoldRows {
  Rows train;
  Rows selection;
  Rows scored;
};

FoldRows rows_of_fold(const SequenceSet& data, const Rows& fold_of, std::uint32_t fold,
                      const SpliceCell& cell) {
  FoldRows out;
  Rows others;
  for (std::uint32_t i = 0; i < data.size(); ++i)
    (fold_of[i] == fold ? out.scored : others).push_back(i);
  if (!cell.clean) {
    out.train = std::move(others);
    out.selection = out.scored;
    return out;
  }
  const Split split =
      hold_out(data.subset(others), kSelectionShare, {Grouping::Kind::kIdentical, 0}, cell.seed);
  for (const std::uint32_t i : split.kept) out.train.push_back(others[i]);
  for (const std::uint32_t i : split.held_out) out.selection.push_back(others[i]);
  return out;
}

std::vector<double> likelihoods(const AnyModel& model, const SequenceSet& rows, bool raw) {
  std::vector<double> out;
  for (const SequenceLikelihood& one : fast_log_likelihoods(model, rows, 0, 1))
    out.push_back(raw ? one.raw_log_likelihood : one.log_likelihood);
  return out;
}

/// Row by row the class whose model gives the most; of equal ones the first.
Rows decide(const std::vector<std::vector<double>>& by_class) {
  Rows out(by_class.front().size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::uint32_t c = 1; c < by_class.size(); ++c)
      if (by_class[c][i] > by_class[out[i]][i]) out[i] = c;
  }
  return out;
}

Rows decide(const std::vector<AnyModel>& models, const SequenceSet& rows, bool raw) {
  std::vector<std::vector<double>> by_class;
  by_class.reserve(models.size());
  for (const AnyModel& model : models) by_class.push_back(likelihoods(model, rows, raw));
  return decide(by_class);
}

/// Rows and wrong decisions of each class.
class ClassErrors {
 public:
  explicit ClassErrors(std::size_t classes) : rows_(classes), wrong_(classes) {}
  void add(const SequenceSet& data, const Rows& rows, const Rows& decisions) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ++rows_[data.label(rows[i])];
      if (decisions[i] != data.label(rows[i])) ++wrong_[data.label(rows[i])];
    }
  }
  [[nodiscard]] double rate(std::size_t label) const {
    return rows_[label] == 0
               ? 0.0
               : static_cast<double>(wrong_[label]) / static_cast<double>(rows_[label]);
  }
  /// Over the classes that have rows.
  [[nodiscard]] double mean() const {
    double sum = 0.0;
    for (std::size_t c = 0; c < rows_.size(); ++c) sum += rate(c);
    const auto present =
        rows_.size() - static_cast<std::size_t>(std::count(rows_.begin(), rows_.end(), 0U));
    return present == 0 ? 0.0 : sum / static_cast<double>(present);
  }

 private:
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> wrong_;
};

/// The models after each epoch; where training diverged, the last one stands for the rest.
std::vector<AnyModel> descend(const SequenceSet& rows, const TrainOptions& options,
                              std::size_t stream) {
  const Chunks chunks = cut(rows, {0, 0});
  auto rule = options.learner == LearnerKind::kCosm ? make_cosm(options) : make_ns_ris(options);
  DescentLearner learner(std::get<Hqmm>(random_start(options, rows.alphabet(), stream)), chunks, 0,
                         options, stream, std::move(rule));
  std::vector<AnyModel> out;
  try {
    for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
      learner.run_epoch(epoch, never);
      out.push_back(learner.candidate());
    }
  } catch (const DivergedError&) {
    if (out.empty()) out.push_back(learner.candidate());
  }
  while (out.size() < options.epochs) out.push_back(out.back());
  return out;
}

/// The model each restart ends with.
std::vector<AnyModel> maximise(const SequenceSet& rows, const TrainOptions& options,
                               std::size_t stream) {
  std::vector<AnyModel> out;
  for (std::size_t restart = 0; restart < options.restarts; ++restart) {
    const AnyModel start =
        random_start(options, rows.alphabet(), stream * options.restarts + restart);
    BaumWelch learner(std::get<Hmm>(start), rows, options);
    try {
      for (std::size_t epoch = 0; epoch < options.epochs; ++epoch)
        if (learner.run_epoch(epoch, never).converged) break;
    } catch (const DivergedError&) {  // the model before stays
    }
    out.push_back(learner.candidate());
  }
  return out;
}

/// One class of one fold: its candidates, and what they make of the selection rows.
struct Trail {
  std::vector<AnyModel> candidates;
  std::vector<std::vector<double>> selection;  // [candidate][row]
};

Trail follow(const SequenceSet& data, const FoldRows& rows, std::uint32_t label, std::size_t stream,
             const SpliceCell& cell) {
  Rows own;
  for (const std::uint32_t i : rows.train)
    if (data.label(i) == label) own.push_back(i);
  if (own.empty()) {
    throw fail(ErrorCode::kBadData, "class '{}' has no row to train on in one of the folds",
               printable(data.classes()[label]));
  }
  const SequenceSet training = data.subset(own);
  const TrainOptions options = splice_options(cell, data.alphabet().size());
  Trail out;
  out.candidates = options.learner == LearnerKind::kEm ? maximise(training, options, stream)
                                                       : descend(training, options, stream);
  const SequenceSet selection = data.subset(rows.selection);
  for (const AnyModel& candidate : out.candidates)
    out.selection.push_back(likelihoods(candidate, selection, is_literal(cell)));
  return out;
}

/// The first candidate of the smallest mean class error on the selection rows.
std::size_t pick(const SequenceSet& data, const Rows& selection, std::span<const Trail> trails) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < trails.front().candidates.size(); ++k) {
    std::vector<std::vector<double>> by_class;
    for (const Trail& trail : trails) by_class.push_back(trail.selection[k]);
    ClassErrors errors(trails.size());
    errors.add(data, selection, decide(by_class));
    if (errors.mean() < least) {
      least = errors.mean();
      best = k;
    }
  }
  return best;
}

SpliceFold score_fold(const SequenceSet& data, const FoldRows& rows, std::span<const Trail> trails,
                      const SpliceCell& cell) {
  SpliceFold out;
  out.rows = rows.scored;
  out.picked = pick(data, rows.selection, trails);
  for (const Trail& trail : trails) out.models.push_back(trail.candidates[out.picked]);
  const SequenceSet scored = data.subset(rows.scored);
  out.normalised = decide(out.models, scored, false);
  out.decisions = is_literal(cell) ? decide(out.models, scored, true) : out.normalised;
  return out;
}

/// Labels in the order of their names.
Rows labels_by_name(const SequenceSet& data) {
  Rows out(data.classes().size());
  std::iota(out.begin(), out.end(), 0U);
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    return data.classes()[a] < data.classes()[b];
  });
  return out;
}

}  // namespace

std::vector<SpliceFold> run_splice_folds(const SequenceSet& data,
                                         const std::vector<std::uint32_t>& fold_of,
                                         const SpliceCell& cell, int threads) {
  require_labelled(data);
  const std::size_t classes = data.classes().size();
  const std::size_t folds = std::size_t{*std::max_element(fold_of.begin(), fold_of.end())} + 1;
  std::vector<FoldRows> rows;
  for (std::uint32_t f = 0; f < folds; ++f) rows.push_back(rows_of_fold(data, fold_of, f, cell));
  std::vector<Trail> trails(folds * classes);
  parallel_for(trails.size(), threads, [&](std::size_t job) {
    const auto label = static_cast<std::uint32_t>(job % classes);
    trails[job] = follow(data, rows[job / classes], label, job, cell);
  });
  std::vector<SpliceFold> out;
  for (std::size_t f = 0; f < folds; ++f)
    out.push_back(score_fold(data, rows[f], {&trails[f * classes], classes}, cell));
  return out;
}

SpliceOutcome run_splice_cell(const SequenceSet& data, const SpliceCell& cell, int threads) {
  const auto start = std::chrono::steady_clock::now();
  require_labelled(data);
  const Grouping grouping{cell.clean ? Grouping::Kind::kIdentical : Grouping::Kind::kNone, 0};
  const std::vector<std::uint32_t> fold_of = make_folds(data, kSpliceFolds, grouping, cell.seed);
  SpliceOutcome out;
  const std::size_t classes = data.classes().size();
  ClassErrors total(classes);
  ClassErrors total_normalised(classes);
  for (const SpliceFold& fold : run_splice_folds(data, fold_of, cell, threads)) {
    ClassErrors here(classes);
    here.add(data, fold.rows, fold.decisions);
    out.fold_errors.push_back(here.mean());
    total.add(data, fold.rows, fold.decisions);
    total_normalised.add(data, fold.rows, fold.normalised);
  }
  for (const std::uint32_t label : labels_by_name(data)) {
    out.class_errors.push_back(total.rate(label));
    out.normalised_class_errors.push_back(total_normalised.rate(label));
  }
  out.mean_class_error = total.mean();
  out.normalised_mean_class_error = total_normalised.mean();
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
  out.seconds = gone.count();
  return out;
}

}  // namespace hqmm::detail

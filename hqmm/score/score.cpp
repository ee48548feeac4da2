#include "hqmm/score/score.hpp"
#include "hqmm/engine/device.hpp"

#include <cmath>
#include <numbers>

#include "hqmm/engine/likelihood.hpp"
#include "hqmm/score/score_on.hpp"

namespace hqmm {
using namespace detail;
namespace {

/// Sums over sequences, in their order.
class Sums {
 public:
  Sums(std::size_t sequences, std::size_t alphabet_size) : alphabet_size_(alphabet_size) {
    accuracies_.reserve(sequences);
  }

  void add(const SequenceLikelihood& one, std::size_t index, double weight, Score& out) {
    if (one.scored == 0) {
      ++out.skipped;
      return;
    }
    ++out.sequences;
    out.symbols += one.scored;
    weighted_symbols_ += weight * static_cast<double>(one.scored);
    out.log_likelihood += weight * one.log_likelihood;
    raw_log_likelihood_ += weight * one.raw_log_likelihood;
    if (one.impossible_at && ++out.impossible == 1)
      out.first_impossible = Score::Place{index, *one.impossible_at};
    const auto da = description_accuracy(one.log_likelihood, one.scored, alphabet_size_);
    if (!da) return;
    accuracies_.push_back({*da, weight});
    weight_ += weight;
    raw_accuracies_ +=
        weight * *description_accuracy(one.raw_log_likelihood, one.scored, alphabet_size_);
  }

  [[nodiscard]] double raw_log_likelihood() const { return raw_log_likelihood_; }
  [[nodiscard]] double weighted_symbols() const { return weighted_symbols_; }
  [[nodiscard]] std::optional<double> raw_mean() const {
    if (accuracies_.empty()) return {};
    return raw_accuracies_ / weight_;
  }

  void finish(Score& out) const {
    if (accuracies_.empty()) return;
    double sum = 0.0;
    for (const auto& [value, weight] : accuracies_) sum += weight * value;
    const double mean = sum / weight_;
    out.da_mean = mean;
    if (accuracies_.size() < 2) return;
    double squares = 0.0;
    for (const auto& [value, weight] : accuracies_)
      squares += weight * (value - mean) * (value - mean);
    const auto count = static_cast<double>(accuracies_.size());
    out.da_std = std::sqrt(squares / (weight_ * (count - 1.0) / count));
  }

 private:
  struct Accuracy {
    double value;
    double weight;
  };

  std::size_t alphabet_size_;
  std::vector<Accuracy> accuracies_;
  double weight_ = 0.0;  // of all of them
  double weighted_symbols_ = 0.0;
  double raw_accuracies_ = 0.0;
  double raw_log_likelihood_ = 0.0;
};

std::optional<double> bits(double log_likelihood, double symbols) {
  if (symbols == 0.0) return {};
  return -log_likelihood / (symbols * std::numbers::ln2);
}

}  // namespace

Score score(const AnyModel& model, const SequenceSet& set, const ScoreOptions& options) {
  const auto gpu = open_device(options.device);
  return score_on(model, set, options, gpu.get());
}

Score detail::score_on(const AnyModel& model, const SequenceSet& set, const ScoreOptions& options,
                       CudaEngine* gpu, ScoringRanks others) {
  Score out;
  out.feasibility_residual = feasibility_residual(model);
  Sums sums(set.size(), alphabet_of(model).size());
  if (options.per_sequence) out.per_sequence.reserve(set.size());
  const auto add = [&](std::size_t first, std::span<const SequenceLikelihood> found) {
    for (std::size_t i = 0; i < found.size(); ++i)
      sums.add(found[i], first + i, set.weight(first + i), out);
    if (options.per_sequence)
      out.per_sequence.insert(out.per_sequence.end(), found.begin(), found.end());
  };
  if (others.ranks == nullptr) {
    fast_log_likelihoods(model, set, options.burn_in, options.threads, add, {}, gpu);
  } else {
    add(0, ask_log_likelihoods(*others.ranks, others.task, model, set, options.burn_in,
                               options.threads));
  }
  sums.finish(out);
  out.bits_per_symbol = bits(out.log_likelihood, sums.weighted_symbols());
  if (out.bits_per_symbol) out.perplexity = std::exp2(*out.bits_per_symbol);
  if (!is_feasible(model)) {
    out.raw = Score::Raw{sums.raw_log_likelihood(), sums.raw_mean(),
                         bits(sums.raw_log_likelihood(), sums.weighted_symbols())};
  }
  return out;
}

}  // namespace hqmm

#include "hqmm/score/score.hpp"

#include <cmath>
#include <numbers>

#include "hqmm/engine/likelihood.hpp"

namespace hqmm {
namespace {

/// Sums over sequences, in their order.
class Sums {
 public:
  Sums(std::size_t sequences, std::size_t alphabet_size) : alphabet_size_(alphabet_size) {
    accuracies_.reserve(sequences);
  }

  void add(const SequenceLikelihood& one, std::size_t index, Score& out) {
    if (one.scored == 0) {
      ++out.skipped;
      return;
    }
    ++out.sequences;
    out.symbols += one.scored;
    out.log_likelihood += one.log_likelihood;
    raw_log_likelihood_ += one.raw_log_likelihood;
    if (one.impossible_at && ++out.impossible == 1)
      out.first_impossible = Score::Place{index, *one.impossible_at};
    const auto da = description_accuracy(one.log_likelihood, one.scored, alphabet_size_);
    if (!da) return;
    accuracies_.push_back(*da);
    raw_accuracies_ += *description_accuracy(one.raw_log_likelihood, one.scored, alphabet_size_);
  }

  [[nodiscard]] double raw_log_likelihood() const { return raw_log_likelihood_; }
  [[nodiscard]] std::optional<double> raw_mean() const {
    if (accuracies_.empty()) return {};
    return raw_accuracies_ / static_cast<double>(accuracies_.size());
  }

  void finish(Score& out) const {
    if (accuracies_.empty()) return;
    double sum = 0.0;
    for (const double value : accuracies_) sum += value;
    const double mean = sum / static_cast<double>(accuracies_.size());
    out.da_mean = mean;
    if (accuracies_.size() < 2) return;
    double squares = 0.0;
    for (const double value : accuracies_) squares += (value - mean) * (value - mean);
    out.da_std = std::sqrt(squares / static_cast<double>(accuracies_.size() - 1));
  }

 private:
  std::size_t alphabet_size_;
  std::vector<double> accuracies_;
  double raw_accuracies_ = 0.0;
  double raw_log_likelihood_ = 0.0;
};

std::optional<double> bits(double log_likelihood, std::uint64_t symbols) {
  if (symbols == 0) return {};
  return -log_likelihood / (static_cast<double>(symbols) * std::numbers::ln2);
}

}  // namespace

Score score(const AnyModel& model, const SequenceSet& set, std::size_t burn_in, int threads,
            Detail detail) {
  Score out;
  out.feasibility_residual = feasibility_residual(model);
  Sums sums(set.size(), alphabet_of(model).size());
  if (detail == Detail::kSequences) out.per_sequence.reserve(set.size());
  fast_log_likelihoods(model, set, burn_in, threads, [&](std::size_t first, auto found) {
    for (std::size_t i = 0; i < found.size(); ++i) sums.add(found[i], first + i, out);
    if (detail == Detail::kSequences)
      out.per_sequence.insert(out.per_sequence.end(), found.begin(), found.end());
  });
  sums.finish(out);
  out.bits_per_symbol = bits(out.log_likelihood, out.symbols);
  if (out.bits_per_symbol) out.perplexity = std::exp2(*out.bits_per_symbol);
  if (!is_feasible(model)) {
    out.raw = Score::Raw{sums.raw_log_likelihood(), sums.raw_mean(),
                         bits(sums.raw_log_likelihood(), out.symbols)};
  }
  return out;
}

}  // namespace hqmm

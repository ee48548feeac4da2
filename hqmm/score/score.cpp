#include "hqmm/score/score.hpp"

#include <cmath>
#include <numbers>

#include "hqmm/engine/likelihood.hpp"

namespace hqmm {
namespace {

struct Moments {
  std::optional<double> mean;
  std::optional<double> deviation;
};

/// Of the description accuracies, by the likelihood that `member` points to. Two walks instead of a
/// list: there may be 10⁸ sequences.
Moments moments(const std::vector<SequenceLikelihood>& all, double SequenceLikelihood::*member,
                std::size_t alphabet_size) {
  const auto for_each = [&](auto visit) {
    for (const SequenceLikelihood& one : all)
      if (const auto da = description_accuracy(one.*member, one.scored, alphabet_size)) visit(*da);
  };
  Moments out;
  std::size_t count = 0;
  double sum = 0.0;
  for_each([&](double value) {
    ++count;
    sum += value;
  });
  if (count == 0) return out;
  out.mean = sum / static_cast<double>(count);
  if (count < 2) return out;
  double squares = 0.0;
  for_each([&](double value) { squares += (value - *out.mean) * (value - *out.mean); });
  out.deviation = std::sqrt(squares / static_cast<double>(count - 1));
  return out;
}

std::optional<double> bits(double log_likelihood, std::uint64_t symbols) {
  if (symbols == 0) return {};
  return -log_likelihood / (static_cast<double>(symbols) * std::numbers::ln2);
}

}  // namespace

Score score(const AnyModel& model, const SequenceSet& set, std::size_t burn_in, int threads) {
  Score out;
  out.feasibility_residual = feasibility_residual(model);
  out.per_sequence = fast_log_likelihoods(model, set, burn_in, threads);
  const std::size_t s = alphabet_of(model).size();
  Score::Raw raw;
  for (const SequenceLikelihood& one : out.per_sequence) {
    if (one.scored == 0) {
      ++out.skipped;
      continue;
    }
    ++out.sequences;
    out.symbols += one.scored;
    out.log_likelihood += one.log_likelihood;
    raw.log_likelihood += one.raw_log_likelihood;
    if (one.impossible_at) ++out.impossible;
  }
  const Moments da = moments(out.per_sequence, &SequenceLikelihood::log_likelihood, s);
  out.da_mean = da.mean;
  out.da_std = da.deviation;
  out.bits_per_symbol = bits(out.log_likelihood, out.symbols);
  if (out.bits_per_symbol) out.perplexity = std::exp2(*out.bits_per_symbol);
  if (!is_feasible(model)) {
    raw.da_mean = moments(out.per_sequence, &SequenceLikelihood::raw_log_likelihood, s).mean;
    raw.bits_per_symbol = bits(raw.log_likelihood, out.symbols);
    out.raw = raw;
  }
  return out;
}

}  // namespace hqmm

// Scores: a model's likelihood of a data set in the units that people compare.
//
//   description accuracy  DA = f(1 + ℓ/(len·ln s)) per sequence, f(x) = x for x > 0, tanh(x/8)
//   below:
//                         1 for a perfect guess, 0 for guessing uniformly, never under −1
//   bits per symbol       −ℓ/(len·ln 2);   perplexity 2^bits
//
// All figures are for the normalised model. For an infeasible one the un-normalised figures are
// kept as well, in `raw`: they are not probabilities.
//
// In a set with weights a sequence counts as often as its weight says, in sums and in means;
// numbers of sequences and symbols are not weighted, nor are the figures of single sequences.
#pragma once

#include <optional>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/engine/device_kind.hpp"
#include "hqmm/model/likelihood.hpp"

namespace HQMM_API hqmm {

struct Score {
  std::uint64_t sequences = 0;    // with at least one scored symbol
  std::uint64_t skipped = 0;      // without any: shorter than the burn-in, or all missing
  std::uint64_t symbols = 0;      // scored
  double log_likelihood = 0.0;    // total over scored symbols, nats
  std::optional<double> da_mean;  // over sequences
  std::optional<double> da_std;   // sample standard deviation over sequences; needs two
  std::optional<double> bits_per_symbol;
  std::optional<double> perplexity;
  std::uint64_t impossible = 0;  // sequences with a symbol of probability 0

  struct Raw {
    double log_likelihood = 0.0;
    std::optional<double> da_mean;
    std::optional<double> bits_per_symbol;
  };
  std::optional<Raw> raw;  // for infeasible models only
  double feasibility_residual = 0.0;

  struct Place {
    std::size_t sequence = 0;
    std::uint64_t position = 0;
  };
  std::optional<Place> first_impossible;  // symbol of probability 0

  std::vector<SequenceLikelihood> per_sequence;  // empty unless asked for
};

struct ScoreOptions {
  std::size_t burn_in = 0;   // symbols of every sequence that move the state and are not scored
  int threads = 0;           // 0: all cores; the numbers are the same
  bool per_sequence = true;  // keep the likelihoods of single sequences: 40 bytes for each
  DeviceKind device = DeviceKind::kCpu;
};

/// Throws kBadData if the set's symbols are not the model's.
[[nodiscard]] Score score(const AnyModel& model, const SequenceSet& set,
                          const ScoreOptions& options = {});

}  // namespace hqmm

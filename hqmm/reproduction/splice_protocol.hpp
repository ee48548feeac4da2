// The paper's splice evaluation: one stationary model per class, five folds, a row goes to the
// class whose model gives it the largest likelihood (uniform prior); the figure is the mean of the
// classes' error rates.
//
// Training leaves a line of candidates, the models after each epoch (EM: of each restart); the
// candidate with the smallest mean class error on the *selection rows*, the same one for all
// classes, is scored. Two protocols differ in what those rows are:
//
//   peers'   the scored fold itself, so the figure is picked on the rows it is reported for: leaky,
//            too small; folds at random, so that identical rows may be trained on and scored
//   clean    a fifth of the training folds, held out from training; identical rows stay together,
//            in the folds as in the held-out fifth. The scored fold is looked at once.
#pragma once

#include <cstdint>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/reproduction/method.hpp"

namespace hqmm::detail {

inline constexpr std::size_t kSpliceFolds = 5;

struct SpliceCell {
  Index latent_dim = 4;
  Index kraus_rank = 2;  // em has none
  /// One that is `on_splice`. For the literal retraction rows go by the un-normalised likelihood,
  /// as in the paper.
  reproduction::Method method = reproduction::Method::kNsRis;
  std::uint64_t seed = 1;
  bool clean = true;
};

struct SpliceOutcome {
  std::vector<double> fold_errors;   // mean class error of each fold
  std::vector<double> class_errors;  // over all folds; by class name: EI, IE, N
  double mean_class_error = 0.0;     // mean of class_errors
  double seconds = 0.0;              // training, selection and scoring, wall time
  /// The same models with rows going by the normalised likelihood: differs for ns-ris-literal only.
  std::vector<double> normalised_class_errors;
  double normalised_mean_class_error = 0.0;
};

/// Data with classes. The same bytes at any thread count, but for the seconds. Throws kUsage for an
/// method without splice, kBadData for data that cannot be cut into such folds.
[[nodiscard]] SpliceOutcome run_splice_cell(const SequenceSet& data, const SpliceCell& cell,
                                            int threads);

/// What training of a cell runs with, for provenance.
[[nodiscard]] TrainOptions splice_options(const SpliceCell& cell, std::size_t alphabet_size);

/// The result of one fold.
struct SpliceFold {
  std::size_t picked = 0;                 // the candidate: epoch − 1; EM: restart
  std::vector<AnyModel> models;           // by label
  std::vector<std::uint32_t> rows;        // scored
  std::vector<std::uint32_t> decisions;   // the label each was given
  std::vector<std::uint32_t> normalised;  // … by the normalised likelihood
};

/// The folds of a cell, given which row is in which: rows of fold f are scored by models that, in
/// the clean protocol, depend on the other rows only.
[[nodiscard]] std::vector<SpliceFold> run_splice_folds(const SequenceSet& data,
                                                       const std::vector<std::uint32_t>& fold_of,
                                                       const SpliceCell& cell, int threads);

}  // namespace hqmm::detail

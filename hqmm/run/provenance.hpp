// How a model was made, for its file. All faces of the library write it through here, so
// that the same data, options and seed give the same bytes from any of them.
#pragma once

#include <string>

#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm::detail {

/// The scores of a trained model on the data it was trained and selected on.
struct TrainScores {
  Score train;
  Score validation;
};

// JSON text, as ModelFile and ClassifierFile hold it.

/// `warm_start`: "em", "model" or nothing.
[[nodiscard]] std::string train_provenance(const TrainOptions& options,
                                           const std::string& warm_start, const SequenceSet& train,
                                           const SequenceSet& validation, const TrainResult& result,
                                           const TrainScores& scores);

/// Of one model of a grid.
[[nodiscard]] std::string select_provenance(const TrainOptions& options, const SequenceSet& train,
                                            const SequenceSet& validation,
                                            const TrainResult& result, double validation_bits);

/// `selected`: which of the settings was taken and how all of them did.
[[nodiscard]] std::string classifier_provenance(const SequenceSet& data,
                                                const std::vector<ClassifierSetting>& settings,
                                                const FoldOutcome& selected);

}  // namespace hqmm::detail

// What a model file says of its own making. Every face of the library writes it through here, so
// that the same data, options and seed give the same bytes from any of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm {

/// The hash of a data set as it is written everywhere.
[[nodiscard]] std::string hash_text(const SequenceSet& set);

/// The figures of a score, as `score --json` and `train --json` print them.
[[nodiscard]] nlohmann::ordered_json score_json(const Score& score);

/// What a trained model is worth on the data it was trained and selected on.
struct TrainScores {
  Score train;
  Score validation;
};
[[nodiscard]] TrainScores score_trained(const AnyModel& model, const SequenceSet& train,
                                        const SequenceSet& validation, const TrainOptions& options);

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

}  // namespace hqmm

// Training options, epoch records and summaries as JSON: what config.json and history.jsonl hold.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/learn/stationarity.hpp"
#include "hqmm/learn/trainer.hpp"

namespace hqmm::detail {

[[nodiscard]] nlohmann::ordered_json to_json(const TrainOptions& options);
/// Throws kBadData (without a file) naming the key that is missing or of the wrong kind.
[[nodiscard]] TrainOptions train_options_from_json(const nlohmann::json& json);

/// What a classifier was learned with: no path, no thread count.
[[nodiscard]] nlohmann::ordered_json to_json(const ClassifierOptions& options);

[[nodiscard]] nlohmann::ordered_json to_json(const Figures& figures);
[[nodiscard]] nlohmann::ordered_json to_json(const EpochRecord& record);
[[nodiscard]] nlohmann::ordered_json to_json(const RestartSummary& summary);
[[nodiscard]] RestartSummary restart_summary_from_json(const nlohmann::json& json);

[[nodiscard]] nlohmann::ordered_json to_json(const StationarityReport& report);

}  // namespace hqmm::detail

#include "hqmm/run/provenance.hpp"
#include "hqmm/engine/device.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hqmm/core/simd.hpp"
#include "hqmm/data/hash_text.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/run/train_config.hpp"
#include "hqmm/score/score_json.hpp"
#include "hqmm/version.hpp"

namespace hqmm::detail {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered made_by(const char* command, DeviceKind device) {
  Ordered out;
  out["command"] = command;
  out["version"] = HQMM_VERSION;
  out["simd"] = simd_target();
  if (const std::string name = device_name(device); !name.empty()) out["device"] = name;
  return out;
}

Ordered hashes_of(const SequenceSet& train, const SequenceSet& validation) {
  return {{"train_hash", hash_text(train)}, {"validation_hash", hash_text(validation)}};
}

}  // namespace

std::string train_provenance(const TrainOptions& options, const std::string& warm_start,
                             const SequenceSet& train, const SequenceSet& validation,
                             const TrainResult& result, const TrainScores& scores) {
  Ordered out = made_by("train", options.device);
  out["options"] = to_json(options);
  if (!warm_start.empty()) out["warm_start"] = warm_start;
  out["seed"] = options.seed;
  out["data"] = hashes_of(train, validation);
  out["status"] = name_of(result.status);
  out["best_epoch"] = result.best_epoch;
  out["best_restart"] = result.best_restart;
  out["train"] = score_json(scores.train);
  out["validation"] = score_json(scores.validation);
  return json_text(out);
}

std::string select_provenance(const TrainOptions& options, const SequenceSet& train,
                              const SequenceSet& validation, const TrainResult& result,
                              double validation_bits) {
  Ordered out = made_by("select", options.device);
  out["options"] = to_json(options);
  out["seed"] = options.seed;
  out["data"] = hashes_of(train, validation);
  out["best_epoch"] = result.best_epoch;
  out["validation_bits_per_symbol"] = number(validation_bits);
  return json_text(out);
}

std::string classifier_provenance(const SequenceSet& data,
                                  const std::vector<ClassifierSetting>& settings,
                                  const FoldOutcome& selected) {
  const ClassifierOptions& options = settings[selected.setting].options;
  Ordered out = made_by("classify fit", options.train.device);
  out["options"] = to_json(options);
  out["seed"] = options.train.seed;
  std::size_t shortest = data.longest();
  for (std::size_t i = 0; i < data.size(); ++i) shortest = std::min(shortest, data[i].size());
  out["data"] = {{"hash", hash_text(data)},
                 {"sequences", data.size()},
                 {"shortest", shortest},
                 {"longest", data.longest()}};
  out["selection"] = Ordered::array();
  for (std::size_t s = 0; s < selected.inner.size(); ++s) {
    out["selection"].push_back({{"setting", settings[s].text},
                                {"mean_class_error", selected.inner[s].mean_class_error},
                                {"log_loss", number(selected.inner[s].log_loss)}});
  }
  return json_text(out);
}

}  // namespace hqmm::detail

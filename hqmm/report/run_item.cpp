// A run folder: its options, and its history thinned to what a screen can show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/report/history.hpp"
#include "hqmm/report/items.hpp"
#include "hqmm/run/run_directory.hpp"
#include "hqmm/run/run_lock.hpp"
#include "hqmm/run/train_config.hpp"

namespace hqmm::detail::report {
namespace {

Json restart_json(std::size_t restart, const std::vector<Epoch>& epochs) {
  Json out{{"restart", restart}};
  const auto column = [&](const char* name, double Epoch::*member) {
    Json values = Json::array();
    for (const Epoch& one : epochs) values.push_back(number(one.*member));
    out[name] = std::move(values);
  };
  Json numbers = Json::array();
  for (const Epoch& one : epochs) numbers.push_back(one.epoch);
  out["epoch"] = std::move(numbers);
  column("seconds", &Epoch::seconds);
  column("train_bits", &Epoch::train_bits);
  column("validation_bits", &Epoch::validation_bits);
  column("train_da", &Epoch::train_da);
  column("validation_da", &Epoch::validation_da);
  column("feasibility_residual", &Epoch::residual);
  column("gradient_nuclear_norm", &Epoch::gradient);
  column("step_size", &Epoch::step);
  const bool raw = std::any_of(epochs.begin(), epochs.end(), [](const Epoch& one) {
    return std::isfinite(one.raw_validation_bits);
  });
  out["raw_validation_bits"] = nullptr;
  if (raw) column("raw_validation_bits", &Epoch::raw_validation_bits);
  return out;
}

/// A file of the run that may not be there yet.
nlohmann::json read_json_of(const RunDirectory& run, const char* name) {
  const std::string file = run.file(name);
  if (!std::filesystem::exists(file)) return nullptr;
  nlohmann::json json = parse_json_or_discard(read_all(file));
  if (!json.is_object()) throw fail(ErrorCode::kBadData, {file, {}, {}, {}, {}}, "is damaged");
  return json;
}

std::string method_of(const TrainOptions& options) {
  const std::string name(name_of(options.learner));
  const bool literal =
      options.learner == LearnerKind::kNsRis && options.retraction == RetractionKind::kLiteral;
  return literal ? name + "-literal" : name;
}

std::string status_of(const nlohmann::json& summary, const std::string& path) {
  if (!summary.is_null()) return summary.value("status", "");
  return is_training(path) ? "training now" : "stopped before its end";
}

Json facts_of(const nlohmann::json& config, const TrainOptions& options, const History& history,
              const std::string& status) {
  Facts facts;
  facts.add("learner", fmt::format("{}{}", name_of(options.learner),
                                   options.learner == LearnerKind::kNsRis
                                       ? fmt::format(" ({})", name_of(options.retraction))
                                       : ""));
  facts.add("size", options.learner == LearnerKind::kEm
                        ? fmt::format("n = {}", options.latent_dim)
                        : fmt::format("n = {}, w = {}, {}, emission on {}s", options.latent_dim,
                                      options.kraus_rank, name_of(options.field),
                                      name_of(options.emission)));
  facts.add("seed", std::to_string(options.seed));
  facts.add("training data", config.value("train", ""));
  const std::string validation = config.value("validation", "");
  facts.add("validation data", validation.empty()
                                   ? fmt::format("a share of {} of the training data",
                                                 config.value("validation_share", 0.0))
                                   : validation);
  facts.add(
      "epochs",
      options.restarts > 1
          ? fmt::format("{} in all, of {} starts with {} each, {:.1f} s", history.epochs,
                        options.restarts, options.epochs, history.seconds)
          : fmt::format("{} of {}, {:.1f} s", history.epochs, options.epochs, history.seconds));
  facts.add("status", status);
  return facts.json();
}

Json other_than_default(const TrainOptions& options) {
  const Json defaults = to_json(default_options(options.learner));
  const Json all = to_json(options);
  Json out = Json::object();
  for (const auto& [key, value] : all.items())
    if (!defaults.contains(key) || value != defaults.at(key)) out[key] = value;
  return out;
}

/// The run's own model, or where -o put it.
std::optional<std::string> model_of(const RunDirectory& run, const nlohmann::json& config) {
  for (const std::string& path : {run.file("model.h5"), config.value("out", std::string())})
    if (!path.empty() && std::filesystem::is_regular_file(path)) return path;
  return {};
}

}  // namespace

Json run_item(const std::string& path, const ReportOptions& options,
              std::optional<NamedModel>& model) {
  const RunDirectory run = RunDirectory::open(path);
  const nlohmann::json config = parse_json(run.config());
  TrainOptions told;
  try {
    told = train_options_from_json(config.at("options"));
  } catch (const nlohmann::json::exception&) {
    throw fail(ErrorCode::kBadData, {run.file("config.json"), {}, {}, {}, {}},
               "does not describe a training run");
  } catch (const Error& error) {
    throw error.as(ErrorCode::kBadData).at({run.file("config.json"), {}, {}, {}, {}});
  }
  const History history = read_history(run.file("history.jsonl"));
  const nlohmann::json summary = read_json_of(run, "summary.json");
  const std::string name = short_name(path);
  const std::string status = status_of(summary, path);
  Json out{{"kind", "run"}, {"name", name}, {"method", method_of(told)}, {"status", status}};
  out["unfinished"] = summary.is_null();
  out["seconds"] = history.seconds;
  out["epochs_done"] = history.epochs;
  out["options"] = to_json(told);
  out["other_than_default"] = other_than_default(told);
  out["facts"] = facts_of(config, told, history, status);
  Json restarts = Json::array();
  std::size_t shown = 0;
  for (const auto& [restart, epochs] : thinned(history, options.most_epochs)) {
    shown += epochs.size();
    restarts.push_back(restart_json(restart, epochs));
  }
  out["epochs_shown"] = shown;
  out["restarts"] = std::move(restarts);
  out["best"] = nullptr;
  if (history.best)
    out["best"] = {{"restart", history.best_restart},
                   {"epoch", history.best->epoch},
                   {"validation_bits", number(history.best->validation_bits)},
                   {"validation_da", number(history.best->validation_da)}};
  out["truth"] = nullptr;
  out["stationarity"] = read_json_of(run, "stationarity.json");
  out["model"] = nullptr;
  if (const auto file = model_of(run, config); file && !options.live) {
    ModelFile read = read_model(*file);
    out["model"] = model_item(name, read);
    model = NamedModel{name, method_of(told), std::move(read.model)};
  }
  // For the true model's score, which needs the same sequences.
  out["validation_hash"] = config.value("validation_hash", "");
  return out;
}

}  // namespace hqmm::detail::report

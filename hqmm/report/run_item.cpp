// A run folder: its options, and its history thinned to what a screen can show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/report/items.hpp"
#include "hqmm/run/run_directory.hpp"
#include "hqmm/run/run_lock.hpp"
#include "hqmm/run/train_config.hpp"

namespace hqmm::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Epoch {
  std::size_t epoch = 0;
  double seconds = kNone;
  double train_bits = kNone, validation_bits = kNone, raw_validation_bits = kNone;
  double train_da = kNone, validation_da = kNone;
  double residual = kNone, gradient = kNone, step = kNone;
};

struct History {
  std::map<std::size_t, std::vector<Epoch>> restarts;
  std::size_t epochs = 0;  // lines
  std::size_t best_restart = 0;
  std::optional<Epoch> best;
  double seconds = 0.0;
};

double number_or_none(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : kNone;
}

double bits(const nlohmann::json& figures) {
  const double symbols = number_or_none(figures, "symbols");
  return -number_or_none(figures, "log_likelihood") / (symbols * std::numbers::ln2);
}

Epoch epoch_of(const nlohmann::json& record) {
  Epoch out;
  out.epoch = record.at("epoch").get<std::size_t>();
  out.seconds = number_or_none(record, "seconds");
  out.residual = number_or_none(record, "feasibility_residual");
  out.gradient = number_or_none(record, "gradient_nuclear_norm");
  out.step = number_or_none(record, "step_size");
  if (const auto& train = record.at("train"); train.is_object()) {
    out.train_bits = bits(train);
    out.train_da = number_or_none(train, "da");
  }
  const auto& validation = record.at("validation");
  out.validation_bits = bits(validation);
  out.validation_da = number_or_none(validation, "da");
  if (const auto raw = validation.find("raw"); raw != validation.end() && raw->is_object()) {
    nlohmann::json figures = *raw;
    figures["symbols"] = validation.at("symbols");
    out.raw_validation_bits = bits(figures);
  }
  return out;
}

/// A line that a kill cut short, or that is being written now, is left out.
History read_history(const std::string& file) {
  History out;
  if (!std::filesystem::exists(file)) return out;
  const std::string text = read_all(file);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const auto record = parse_json_or_discard(std::string_view(text).substr(from, end - from));
    from = end + 1;
    if (!record.is_object()) continue;
    try {
      const auto restart = record.at("restart").get<std::size_t>();
      const Epoch epoch = epoch_of(record);
      out.restarts[restart].push_back(epoch);
      if (epoch.epoch > 0) ++out.epochs;
      if (std::isfinite(epoch.seconds)) out.seconds = epoch.seconds;
      if (record.at("best").get<bool>()) {
        out.best = epoch;
        out.best_restart = restart;
      }
    } catch (const nlohmann::json::exception&) {
      throw fail(ErrorCode::kBadData, {file, {}, {}, {}, {}}, "is damaged");
    }
  }
  return out;
}

/// The ends, and of each stretch between them the lowest and the highest validation; and `keep`.
std::vector<Epoch> thinned(const std::vector<Epoch>& all, std::size_t most,
                           std::optional<std::size_t> keep) {
  if (all.size() <= most) return all;
  std::vector<bool> taken(all.size(), false);
  taken.front() = taken.back() = true;
  const std::size_t stretches = std::max<std::size_t>(1, (most - 2) / 2);
  for (std::size_t k = 0; k < stretches; ++k) {
    const auto begin = static_cast<std::ptrdiff_t>(all.size() * k / stretches);
    const auto end = static_cast<std::ptrdiff_t>(all.size() * (k + 1) / stretches);
    const auto by_bits = [](const Epoch& a, const Epoch& b) {
      return a.validation_bits < b.validation_bits;
    };
    const auto [low, high] = std::minmax_element(all.begin() + begin, all.begin() + end, by_bits);
    taken[static_cast<std::size_t>(low - all.begin())] = true;
    taken[static_cast<std::size_t>(high - all.begin())] = true;
  }
  std::vector<Epoch> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (taken[i] || (keep && all[i].epoch == *keep)) out.push_back(all[i]);
  return out;
}

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
  // Many restarts share the room of four.
  const std::size_t most = std::max<std::size_t>(
      50, options.most_epochs * 4 / std::max<std::size_t>(4, history.restarts.size()));
  for (const auto& [restart, epochs] : history.restarts) {
    const bool won = history.best && restart == history.best_restart;
    const auto kept =
        thinned(epochs, most, won ? std::optional(history.best->epoch) : std::nullopt);
    shown += kept.size();
    restarts.push_back(restart_json(restart, kept));
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
  if (const auto file = model_of(run, config)) {
    ModelFile read = read_model(*file);
    out["model"] = model_item(name, read);
    model = NamedModel{name, method_of(told), std::move(read.model)};
  }
  // For the true model's score, which needs the same sequences.
  out["validation_hash"] = config.value("validation_hash", "");
  return out;
}

}  // namespace hqmm::report

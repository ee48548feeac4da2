#include "hqmm/run/train_config.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/learn/option_table.hpp"

namespace hqmm::detail {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// JSON's own conversions would turn 2.5 into 2 and −1 into a huge count.
template <typename T>
bool is_of_kind(const nlohmann::json& json) {
  if constexpr (std::is_same_v<T, bool>) return json.is_boolean();
  if constexpr (std::is_unsigned_v<T>) return json.is_number_unsigned();
  if constexpr (std::is_integral_v<T>) return json.is_number_integer();
  if constexpr (std::is_floating_point_v<T>) return json.is_number();
  return json.is_string();
}

template <typename T>
void get(const nlohmann::json& json, const char* key, T& value) {
  if (!json.is_object() || !json.contains(key) || !is_of_kind<T>(json.at(key))) {
    throw fail(ErrorCode::kBadData, "'{}' is missing or not of the expected kind", key);
  }
  json.at(key).get_to(value);
}

template <typename Parse>
auto get_name(const nlohmann::json& json, const char* key, Parse parse) {
  std::string text;
  get(json, key, text);
  try {
    return parse(text);
  } catch (const Error& error) {
    throw fail(ErrorCode::kBadData, "'{}': {}", key, error.marked());
  }
}

/// Whether an option of this type is written like that: 2.0 is not a count.
bool is_written_so(OptionType type, const nlohmann::json& json) {
  switch (type) {
    case OptionType::kSwitch:
      return json.is_boolean();
    case OptionType::kCountOrAuto:
      return json.is_number_integer() || json == "auto";
    case OptionType::kCount:
    case OptionType::kBytes:
      return json.is_number_integer();
    case OptionType::kNumber:
      return json.is_number();
    case OptionType::kWord:
    case OptionType::kText:
      break;
  }
  return json.is_string();
}

OptionValue option_value(const nlohmann::json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

OrderedJson as_json(const OptionValue& value) {
  return std::visit([](const auto& held) { return OrderedJson(held); }, value);
}

}  // namespace

OrderedJson to_json(const TrainOptions& options) {
  OrderedJson out;
  for (const auto& row : train_option_table())
    if (!row.passing) out[std::string(row.id)] = as_json(row.get(options));
  return out;
}

TrainOptions train_options_from_json(const nlohmann::json& json) {
  TrainOptions out;
  // Runs of before there were structured models: HQMMs emitted on edges, whatever was noted for EM.
  const auto is_new = [](std::string_view id) {
    return id == "field" || id == "emission_step" || id == "halving";
  };
  bool before_structure = json.is_object();
  for (const auto& row : train_option_table())
    if (is_new(row.id) && json.contains(row.id)) before_structure = false;
  for (const auto& row : train_option_table()) {
    if (row.passing || (before_structure && is_new(row.id))) continue;
    const auto found = json.is_object() ? json.find(row.id) : json.end();
    if (found == json.end() && row.id == "device") continue;  // before there was a choice
    if (found == json.end() || !is_written_so(row.type, *found))
      throw fail(ErrorCode::kBadData, "'{}' is missing or not of the expected kind", row.id);
    try {
      set_option(row, out, option_value(*found));
    } catch (const Error&) {  // the key, not what a face calls the option
      throw fail(ErrorCode::kBadData, "'{}': expected {}, found {}", row.id, expected_text(row),
                 printable(found->dump()));
    }
  }
  if (before_structure && out.learner != LearnerKind::kEm) out.emission = EmissionKind::kEdge;
  return out;
}

OrderedJson to_json(const ClassifierOptions& options) {
  OrderedJson out;
  for (const auto& row : classifier_option_table()) {
    if (row.passing) continue;
    out[std::string(row.id)] = as_json(row.get(options));
    if (row.id == "positions" && options.positions.kind == PositionPlan::Kind::kMap)
      out["position_map"] = options.positions.map;  // its file may be gone tomorrow
  }
  return out;
}

OrderedJson to_json(const Figures& figures) {
  OrderedJson out;
  out["symbols"] = figures.symbols;
  out["log_likelihood"] = number(figures.log_likelihood);
  out["da"] = number(figures.da);
  if (figures.raw_log_likelihood) {
    out["raw"] = {{"log_likelihood", number(*figures.raw_log_likelihood)},
                  {"da", number(figures.raw_da)}};
  }
  return out;
}

OrderedJson to_json(const EpochRecord& record) {
  OrderedJson out;
  out["restart"] = record.restart;
  out["epoch"] = record.epoch;
  out["train"] = record.train ? to_json(*record.train) : OrderedJson(nullptr);
  out["validation"] = to_json(record.validation);
  out["feasibility_residual"] = number(record.feasibility_residual);
  out["gradient_nuclear_norm"] = number(record.gradient_nuclear_norm);
  out["step_size"] = record.step_size;
  out["halved_steps"] = record.halved_steps;
  out["seconds"] = record.seconds;
  out["best"] = record.best;
  return out;
}

OrderedJson to_json(const RestartSummary& summary) {
  OrderedJson out;
  out["restart"] = summary.restart;
  out["status"] = name_of(summary.status);
  out["epochs_run"] = summary.epochs_run;
  out["best_epoch"] = summary.best_epoch;
  out["best_validation_log_likelihood"] = number(summary.best_validation);
  if (!summary.message.empty()) out["message"] = summary.message;
  return out;
}

RestartSummary restart_summary_from_json(const nlohmann::json& json) {
  RestartSummary out;
  get(json, "restart", out.restart);
  out.status = get_name(json, "status", parse<TrainStatus>);
  get(json, "epochs_run", out.epochs_run);
  get(json, "best_epoch", out.best_epoch);
  out.best_validation = -std::numeric_limits<double>::infinity();
  if (!json.at("best_validation_log_likelihood").is_null()) {
    get(json, "best_validation_log_likelihood", out.best_validation);
  }
  if (json.contains("message")) get(json, "message", out.message);
  return out;
}

OrderedJson to_json(const StationarityReport& r) {
  OrderedJson out;
  out["steps"] = r.steps;
  out["samples"] = r.samples;
  out["step_size"] = r.step_size;
  out["momentum"] = r.momentum;
  out["batch_size"] = r.batch_size;
  out["latent_dim"] = r.latent_dim;
  out["epsilon"] = r.epsilon;
  out["rho_mean"] = r.rho_mean;
  out["rho_mean_square"] = r.rho_mean_square;
  out["sigma"] = r.sigma;
  out["gradient_bound"] = r.gradient_bound;
  out["lipschitz"] = r.lipschitz;
  out["descent"] = r.descent;
  out["momentum_mismatch"] = r.momentum_mismatch;
  out["largest_feasibility_residual"] = r.largest_residual;
  out["terms"] = {{"descent", number(r.descent_term())},
                  {"smoothness", number(r.smoothness_term())},
                  {"retraction", number(r.retraction_term())},
                  {"tracking", number(r.tracking_term())}};
  out["bound"] = number(r.bound());
  out["measured"] = number(r.measured);
  out["holds"] = r.measured <= r.bound();
  out["assumptions"] = {{"constant_step_size", true},
                        {"on_manifold", r.on_manifold()},
                        {"direction_error_below_one", r.direction_accurate()}};
  return out;
}

}  // namespace hqmm::detail

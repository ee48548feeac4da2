#include "hqmm/run/train_config.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "hqmm/core/error.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/io/json_number.hpp"

namespace hqmm {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson optional_count(const std::optional<std::size_t>& value) {
  return value ? OrderedJson(*value) : OrderedJson("auto");
}

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

void get_count(const nlohmann::json& json, const char* key, std::optional<std::size_t>& value) {
  if (json.is_object() && json.contains(key) && json.at(key) == "auto") {
    value.reset();
    return;
  }
  std::size_t count = 0;
  get(json, key, count);
  value = count;
}

template <typename Parse>
auto get_name(const nlohmann::json& json, const char* key, Parse parse) {
  std::string text;
  get(json, key, text);
  try {
    return parse(text);
  } catch (const Error& error) {
    throw fail(ErrorCode::kBadData, "'{}': {}", key, error.message());
  }
}

}  // namespace

OrderedJson to_json(const TrainOptions& o) {
  OrderedJson out;
  out["learner"] = name_of(o.learner);
  out["retraction"] = name_of(o.retraction);
  out["latent_dim"] = o.latent_dim;
  out["kraus_rank"] = o.kraus_rank;
  out["initial_state"] = name_of(o.initial_state);
  out["epochs"] = o.epochs;
  out["batch_size"] = o.batch_size;
  out["step_size"] = o.step_size;
  out["step_decay"] = o.step_decay;
  out["schedule"] = name_of(o.schedule);
  out["momentum"] = o.momentum;
  out["ns_steps"] = o.ns_steps;
  out["average"] = o.average;
  out["engine"] = engine_name(o.engine);
  out["chunk_length"] = optional_count(o.chunk_length);
  out["burn_in"] = optional_count(o.burn_in);
  out["validation_burn_in"] = optional_count(o.validation_burn_in);
  out["gradient_through_burn_in"] = o.gradient_through_burn_in;
  out["givens_pairs"] = o.givens_pairs;
  out["givens_evaluations"] = o.givens_evaluations;
  out["emission"] = name_of(o.emission);
  out["tolerance"] = o.tolerance;
  out["restarts"] = o.restarts;
  out["patience"] = o.patience;
  out["time_limit"] = o.time_limit;
  out["warm_noise"] = o.warm_noise;
  out["seed"] = o.seed;
  return out;  // not the threads: they change nothing
}

TrainOptions train_options_from_json(const nlohmann::json& json) {
  TrainOptions o;
  o.learner = get_name(json, "learner", parse_learner);
  o.retraction = get_name(json, "retraction", parse_retraction);
  get(json, "latent_dim", o.latent_dim);
  get(json, "kraus_rank", o.kraus_rank);
  o.initial_state = get_name(json, "initial_state", parse_initial_state);
  get(json, "epochs", o.epochs);
  get(json, "batch_size", o.batch_size);
  get(json, "step_size", o.step_size);
  get(json, "step_decay", o.step_decay);
  o.schedule = get_name(json, "schedule", parse_schedule);
  get(json, "momentum", o.momentum);
  get(json, "ns_steps", o.ns_steps);
  get(json, "average", o.average);
  o.engine = get_name(json, "engine", engine_named);
  get_count(json, "chunk_length", o.chunk_length);
  get_count(json, "burn_in", o.burn_in);
  get_count(json, "validation_burn_in", o.validation_burn_in);
  get(json, "gradient_through_burn_in", o.gradient_through_burn_in);
  get(json, "givens_pairs", o.givens_pairs);
  get(json, "givens_evaluations", o.givens_evaluations);
  o.emission = get_name(json, "emission", parse_emission);
  get(json, "tolerance", o.tolerance);
  get(json, "restarts", o.restarts);
  get(json, "patience", o.patience);
  get(json, "time_limit", o.time_limit);
  get(json, "warm_noise", o.warm_noise);
  get(json, "seed", o.seed);
  return o;
}

OrderedJson to_json(const ClassifierOptions& options) {
  OrderedJson out;
  out["objective"] = name_of(options.objective);
  const bool mapped = options.positions.kind == PositionPlan::Kind::kMap;
  out["positions"] = mapped ? "map" : options.positions.text();
  if (mapped) out["position_map"] = options.positions.map;  // its file may be gone tomorrow
  out["anchor"] = options.positions.from_end ? "end" : "start";
  out["learner"] = name_of(options.train.learner);
  out["latent_dim"] = options.train.latent_dim;
  out["kraus_rank"] = options.train.kraus_rank;
  out["epochs"] = options.train.epochs;
  out["batch_size"] = options.train.batch_size;
  out["step_size"] = options.train.step_size;
  out["schedule"] = name_of(options.train.schedule);
  out["momentum"] = options.train.momentum;
  out["generative_epochs"] = options.generative_epochs;
  out["smoothing"] = options.smoothing;
  out["dropout"] = options.dropout;
  out["second_moment"] = options.second_moment;
  out["start_noise"] = options.start_noise;
  out["pseudo_count"] = options.pseudo_count;
  out["prior"] = options.prior == PriorKind::kUniform     ? "uniform"
                 : options.prior == PriorKind::kEmpirical ? "empirical"
                                                          : "given";
  out["members"] = options.members;
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
  out.status = get_name(json, "status", parse_status);
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

}  // namespace hqmm

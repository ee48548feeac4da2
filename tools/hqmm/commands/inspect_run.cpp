// hqmm inspect RUN: what a run directory holds, without the data it was trained on.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "commands/inspect.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/model/kraus.hpp"
#include "hqmm/run/run_directory.hpp"
#include "hqmm/run/run_lock.hpp"
#include "hqmm/run/train_config.hpp"
#include "support/command.hpp"
#include "support/output.hpp"
#include "support/training_end.hpp"

namespace hqmm::cli {
namespace {

struct RunFindings {
  std::string path;
  nlohmann::json config;
  TrainOptions options;
  std::size_t epochs_done = 0;  // of the restart that has done most
  std::size_t restarts_begun = 0;
  double seconds = 0.0;
  std::uint64_t halved_steps = 0;
  nlohmann::json best;          // history line of the best epoch; null before the first
  nlohmann::json summary;       // null until training has ended
  nlohmann::json stationarity;  // null when it was not measured
};

Error damaged(const std::string& file) {
  return fail(ErrorCode::kBadData, {file, {}, {}, {}, {}}, "is damaged");
}

nlohmann::json read_json(const RunDirectory& run, const char* name) {
  const std::string file = run.file(name);
  if (!std::filesystem::exists(file)) return nullptr;
  nlohmann::json json = parse_json_or_discard(read_all(file));
  if (!json.is_object()) throw damaged(file);
  return json;
}

/// Lines that a kill cut short are left out, as they are when the run resumes.
void read_history(const RunDirectory& run, RunFindings& out) {
  const std::string file = run.file("history.jsonl");
  if (!std::filesystem::exists(file)) return;
  const std::string text = read_all(file);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const auto record = parse_json_or_discard(std::string_view(text).substr(from, end - from));
    from = end + 1;
    if (!record.is_object()) continue;
    out.epochs_done = std::max(out.epochs_done, record.at("epoch").get<std::size_t>());
    out.restarts_begun = std::max(out.restarts_begun, record.at("restart").get<std::size_t>() + 1);
    out.seconds = record.at("seconds").get<double>();
    out.halved_steps += record.at("halved_steps").get<std::uint64_t>();
    if (record.at("best").get<bool>()) out.best = record;
  }
}

RunFindings look_at_run(const std::string& path) {
  const RunDirectory run = RunDirectory::open(path);
  RunFindings out;
  out.path = path;
  out.config = parse_json(run.config());
  try {
    out.options = train_options_from_json(out.config.at("options"));
  } catch (const nlohmann::json::exception&) {
    throw fail(ErrorCode::kBadData, {run.file("config.json"), {}, {}, {}, {}},
               "does not describe a training run");
  } catch (const Error& error) {
    throw error.as(ErrorCode::kBadData).at({run.file("config.json"), {}, {}, {}, {}});
  }
  try {
    read_history(run, out);
  } catch (const nlohmann::json::exception&) {
    throw damaged(run.file("history.jsonl"));
  }
  out.summary = read_json(run, "summary.json");
  out.stationarity = read_json(run, "stationarity.json");
  return out;
}

/// The options that are not the learner's defaults; seed and sizes are said elsewhere.
Json other_options(const TrainOptions& options) {
  const Json defaults = to_json(default_options(options.learner));
  Json out = Json::object();
  const Json all = to_json(options);
  for (const auto& [key, value] : all.items()) {
    const bool said = key == "learner" || key == "retraction" || key == "latent_dim" ||
                      key == "kraus_rank" || key == "seed";
    if (!said && value != defaults.at(key)) out[key] = value;
  }
  return out;
}

/// Where the run began with an -o, the model is there until a resume without one puts it here.
std::string model_path(const RunFindings& found) {
  const std::string here = (std::filesystem::path(found.path) / "model.h5").string();
  const std::string out = found.config.at("out").get<std::string>();
  return out.empty() || std::filesystem::exists(here) ? here : out;
}

Json run_json(const RunFindings& found) {
  Json out;
  out["run"] = found.path;
  out["version"] = found.config.at("version");
  out["simd"] = found.config.at("simd");
  out["learner"] = name_of(found.options.learner);
  out["options"] = to_json(found.options);
  out["other_than_default"] = other_options(found.options);
  for (const char* key :
       {"train", "validation", "validation_share", "train_hash", "validation_hash"})
    out["data"][key] = found.config.at(key);
  out["warm_start"] = found.config.at("warm_start");
  out["model"] = model_path(found);
  out["epochs_done"] = found.epochs_done;
  out["restarts_begun"] = found.restarts_begun;
  out["seconds"] = found.seconds;
  out["halved_steps"] = found.halved_steps;
  out["best"] = found.best;
  out["status"] = found.summary.is_null() ? Json(nullptr) : Json(found.summary.at("status"));
  out["training_now"] = is_training(found.path);
  out["summary"] = found.summary;
  out["stationarity"] = found.stationarity;
  return out;
}

void row(std::string& out, const char* name, const std::string& value) {
  out += fmt::format("{:<22}{}\n", name, printable(value, value.size()));  // one line
}

std::string figure_text(const nlohmann::json& value, const char* none = "–") {
  return value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : std::string(none);
}

std::string what_it_is(const RunFindings& found) {
  const TrainOptions& o = found.options;
  std::string out = fmt::format("{}: a training run\n", found.path);
  std::string learner(name_of(o.learner));
  if (o.learner == LearnerKind::kNsRis) learner += fmt::format(" ({})", name_of(o.retraction));
  learner += fmt::format(", n = {}", o.latent_dim);
  if (o.learner != LearnerKind::kEm) learner += fmt::format(", w = {}", o.kraus_rank);
  row(out, "learner", fmt::format("{}, seed {}", learner, o.seed));
  std::string other;
  const Json options = other_options(o);
  for (const auto& [key, value] : options.items()) {
    other += fmt::format("{}{} {}", other.empty() ? "" : ", ", key,
                         value.is_string() ? value.get<std::string>() : value.dump());
  }
  row(out, "options", other.empty() ? "the defaults" : other);
  row(out, "training data", found.config.at("train").get<std::string>());
  const auto validation = found.config.at("validation").get<std::string>();
  row(out, "validation data",
      validation.empty() ? fmt::format("a share of {} of the training data",
                                       found.config.at("validation_share").get<double>())
                         : validation);
  if (const auto warm = found.config.at("warm_start").get<std::string>(); !warm.empty())
    row(out, "warm start", warm);
  return out;
}

std::string how_it_went(const RunFindings& found) {
  std::string out;
  const TrainOptions& o = found.options;
  row(out, "epochs",
      fmt::format("{} of {}{}, {:.1f} s", found.epochs_done, o.epochs,
                  o.restarts > 1 ? fmt::format(" of {} restarts", o.restarts) : "", found.seconds));
  if (!found.best.is_null()) {
    const auto& figures = found.best.at("validation");
    std::string best = fmt::format(
        "epoch {}{}, validation DA {}", found.best.at("epoch").dump(),
        o.restarts > 1 ? fmt::format(" of restart {}", found.best.at("restart").get<int>() + 1)
                       : "",
        figure_text(figures.at("da")));
    if (figures.contains("raw"))
      best +=
          fmt::format(" (raw {}: not of a probability)", figure_text(figures.at("raw").at("da")));
    row(out, "best", best);
    const double residual = found.best.at("feasibility_residual").is_number()
                                ? found.best.at("feasibility_residual").get<double>()
                                : std::numeric_limits<double>::infinity();
    row(out, "feasibility residual",
        fmt::format("{:.3g}{}", residual,
                    residual <= kFeasibleTolerance ? "" : "  INFEASIBLE: not trace preserving"));
  }
  if (found.halved_steps > 0) row(out, "halved steps", fmt::format("{}", found.halved_steps));
  row(out, "status",
      found.summary.is_null()
          ? is_training(found.path)
                ? "training now"
                : fmt::format("stopped before its end (resume with 'hqmm train --resume {}')",
                              found.path)
          : training_end(found.summary.at("status").get<std::string>(),
                         found.summary.at("epochs_run").get<std::size_t>(),
                         found.summary.at("seconds").get<double>()));
  if (!found.summary.is_null() && found.summary.at("restarts").size() > 1) {
    for (const auto& one : found.summary.at("restarts")) {
      row(out, fmt::format("  restart {}", one.at("restart").get<int>() + 1).c_str(),
          fmt::format("{}; the best was epoch {}, with a validation log-likelihood of {}",
                      training_end(one.at("status").get<std::string>(),
                                   one.at("epochs_run").get<std::size_t>()),
                      one.at("best_epoch").dump(),
                      figure_text(one.at("best_validation_log_likelihood"))));
    }
  }
  row(out, "model", model_path(found));
  return out;
}

/// fmt pads by code points, so the symbols line up.
std::string quantity(const char* symbol, const nlohmann::json& value, const char* meaning,
                     const char* none = "–") {
  return fmt::format("  {:<8}{:>12}  {}\n", symbol, figure_text(value, none), meaning);
}

std::string bound_text(const nlohmann::json& s) {
  const auto& terms = s.at("terms");
  const auto& assumed = s.at("assumptions");
  std::string out =
      "\nthe paper's bound on the mean nuclear norm of the gradient, measured on this run\n";
  out += quantity("K", s.at("steps"), "steps");
  out += quantity("", s.at("samples"), "steps at which the full gradient was taken");
  out += quantity("η", s.at("step_size"), "step size");
  out += quantity("β", s.at("momentum"), "momentum");
  out += quantity("b", s.at("batch_size"), "sequences per step");
  out += quantity("n", s.at("latent_dim"), "latent dimension");
  out += quantity("ε", s.at("epsilon"), "largest distance of the direction from the polar factor");
  out += quantity("ρ̄", s.at("rho_mean"), "mean distance the retraction moves Γ");
  out += quantity("q̄", s.at("rho_mean_square"), "mean square of that distance");
  out += quantity("σ", s.at("sigma"), "deviation of one sequence's gradient from the full one");
  out += quantity("G₁", s.at("gradient_bound"), "largest nuclear norm of the gradient seen");
  out += quantity("L", s.at("lipschitz"), "largest Lipschitz quotient of the gradient seen");
  out += quantity("D", s.at("descent"), "how far the loss fell");
  out += quantity("‖M₁−g₀‖₁", s.at("momentum_mismatch"), "of the first momentum and gradient");
  out += "right side, term by term\n";
  out += quantity("descent", terms.at("descent"), "    D/(η(1−ε)K)", "∞");
  out += quantity("smooth", terms.at("smoothness"), "    L(1+ε)²η/(1−ε)", "∞");
  out += quantity("retract", terms.at("retraction"), "    (2G₁ρ̄ + Lq̄)/(η(1−ε))", "∞");
  out += quantity("track", terms.at("tracking"),
                  "    2𝒯/(1−ε), 𝒯 of the noise and lag of the momentum", "∞");
  out +=
      fmt::format("inequality            {} ≤ {}: {}\n", figure_text(s.at("measured")),
                  figure_text(s.at("bound"), "∞"), s.at("holds").get<bool>() ? "holds" : "FAILS");
  out += "assumptions\n";
  const auto assumption = [&](const char* key, const char* text, const std::string& violated) {
    out += fmt::format("  {:<20}{}\n", text,
                       assumed.at(key).get<bool>() ? "met" : "VIOLATED: " + violated);
  };
  assumption("on_manifold", "Γ_{k+1} ∈ St",
             fmt::format("Γ_{{k+1}} leaves the manifold, ‖Γ†Γ − I‖ up to {}; "
                         "the theorem does not apply to this run",
                         figure_text(s.at("largest_feasibility_residual"))));
  assumption("direction_error_below_one", "ε < 1", "the bound is infinite");
  assumption("constant_step_size", "constant η", "the step size changed");
  return out;
}

std::string run_text(const RunFindings& found) {
  std::string out = what_it_is(found) + how_it_went(found);
  if (!found.stationarity.is_null()) out += bound_text(found.stationarity);
  return out;
}

}  // namespace

void inspect_run(const std::string& path, const CommonOptions& common) {
  const RunFindings found = look_at_run(path);
  std::string text;
  try {
    text = common.json ? dump(run_json(found)) : run_text(found);
  } catch (const nlohmann::json::exception&) {  // a key that is not there
    throw fail(ErrorCode::kBadData, {path, {}, {}, {}, {}},
               "a file of this run is damaged: config.json, history.jsonl, summary.json or "
               "stationarity.json lacks what it should hold");
  }
  Output output(readers_of(common), common.out);
  output.write(text);
  output.finish();
}

}  // namespace hqmm::cli

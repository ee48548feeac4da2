// Cells and results of a reproduction as files: JSON for every cell, CSV and JSON for all of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/run_cell.hpp"
#include "hqmm/reproduction/splice_protocol.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "hqmm/version.hpp"
#include "reproduce/paper_figures.hpp"
#include "reproduce/reproduce.hpp"

namespace hqmm::cli {
namespace {

Json cell_json(const Cell& cell) {
  Json out;
  out["study"] = name_of(cell.study);
  out["method"] = name_of(cell.method);
  out["n"] = cell.latent_dim;
  out["w"] = cell.kraus_rank;
  out["ns_steps"] = cell.ns_steps;
  if (cell.study == Study::kSplice) out["protocol"] = cell.clean ? "clean" : "peers";
  out["seed"] = cell.seed;
  return out;
}

Cell cell_from_json(const nlohmann::json& json) {
  Cell cell;
  cell.study = parse_study(json.at("study").get<std::string>());
  cell.method = parse_method(json.at("method").get<std::string>());
  json.at("n").get_to(cell.latent_dim);
  json.at("w").get_to(cell.kraus_rank);
  json.at("ns_steps").get_to(cell.ns_steps);
  cell.clean = json.value("protocol", "clean") == "clean";
  json.at("seed").get_to(cell.seed);
  return cell;
}

Json split_json(const SplitAccuracy& split) {
  return {{"da", number(split.da)}, {"raw_da", number(split.raw_da)}};
}

SplitAccuracy split_from_json(const nlohmann::json& json) {
  SplitAccuracy out;
  json.at("da").get_to(out.da);
  if (!json.at("raw_da").is_null()) out.raw_da = json.at("raw_da").get<double>();
  return out;
}

Json outcome_json(const SyntheticOutcome& outcome) {
  Json out;
  out["train"] = split_json(outcome.train);
  out["validation"] = split_json(outcome.validation);
  out["test"] = split_json(outcome.test);
  out["last_epoch_validation"] = split_json(outcome.last_validation);
  out["test_da_by_sequence"] = outcome.test_da;
  out["feasibility_residual"] = outcome.residual;
  out["smallest_singular_value"] = outcome.smallest_singular;
  out["largest_singular_value"] = outcome.largest_singular;
  out["epochs"] = outcome.epochs;
  out["best_epoch"] = outcome.best_epoch;
  out["status"] = outcome.status;
  out["seconds"] = outcome.seconds;
  return out;
}

Json outcome_json(const SpliceOutcome& outcome) {
  Json out;
  out["mean_class_error"] = outcome.mean_class_error;
  out["class_errors"] = outcome.class_errors;
  out["fold_errors"] = outcome.fold_errors;
  out["normalised_mean_class_error"] = outcome.normalised_mean_class_error;
  out["normalised_class_errors"] = outcome.normalised_class_errors;
  out["seconds"] = outcome.seconds;
  return out;
}

SyntheticOutcome synthetic_from_json(const nlohmann::json& json) {
  SyntheticOutcome out;
  out.train = split_from_json(json.at("train"));
  out.validation = split_from_json(json.at("validation"));
  out.test = split_from_json(json.at("test"));
  out.last_validation = split_from_json(json.at("last_epoch_validation"));
  json.at("test_da_by_sequence").get_to(out.test_da);
  json.at("feasibility_residual").get_to(out.residual);
  json.at("smallest_singular_value").get_to(out.smallest_singular);
  json.at("largest_singular_value").get_to(out.largest_singular);
  json.at("epochs").get_to(out.epochs);
  json.at("best_epoch").get_to(out.best_epoch);
  json.at("status").get_to(out.status);
  json.at("seconds").get_to(out.seconds);
  return out;
}

SpliceOutcome splice_from_json(const nlohmann::json& json) {
  SpliceOutcome out;
  json.at("mean_class_error").get_to(out.mean_class_error);
  json.at("class_errors").get_to(out.class_errors);
  json.at("fold_errors").get_to(out.fold_errors);
  json.at("normalised_mean_class_error").get_to(out.normalised_mean_class_error);
  json.at("normalised_class_errors").get_to(out.normalised_class_errors);
  json.at("seconds").get_to(out.seconds);
  return out;
}

std::string field(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// What a row of either file begins with.
std::string cell_fields(const Cell& cell) {
  const char* protocol = cell.study != Study::kSplice ? "" : cell.clean ? "clean" : "peers";
  return fmt::format("{},{},{},{},{},{},{}", name_of(cell.study), name_of(cell.method), protocol,
                     cell.latent_dim,
                     cell.kraus_rank > 0 ? std::to_string(cell.kraus_rank) : std::string(),
                     cell.ns_steps, cell.seed);
}
constexpr const char* kCellColumns = "study,method,protocol,n,w,ns_steps,seed";

std::string synthetic_fields(const SyntheticOutcome& o) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{}", o.train.da, field(o.train.raw_da),
                     o.validation.da, field(o.validation.raw_da), o.test.da, field(o.test.raw_da),
                     field(spread(o.test_da).deviation), o.epochs, o.best_epoch, o.status);
}

Json spread_json(const Spread& spread) {
  return {{"mean", number(spread.mean)},
          {"standard_deviation", number(spread.deviation)},
          {"standard_error", number(spread.standard_error)}};
}

Json group_json(const Group& group) {
  Json out = cell_json(group.cell);
  out.erase("seed");
  out["seeds"] = group.seeds;
  if (group.cell.study == Study::kSplice) {
    out["mean_class_error"] = spread_json(group.error);
    out["normalised_mean_class_error"] = spread_json(group.normalised_error);
    out["over_folds"] = spread_json(spread(group.fold_errors));
    out["class_errors"] = group.class_errors;
  } else {
    out["train"] = spread_json(group.train);
    out["validation"] = spread_json(group.validation);
    out["test"] = spread_json(group.test);
    out["raw_test"] = group.raw.count > 0 ? spread_json(group.raw) : Json(nullptr);
    out["stopped_at_time_limit"] = group.time_bounded;
  }
  out["seconds"] = spread_json(group.seconds);
  return out;
}

Json comparison_json(const Comparison& one) {
  Json out;
  out["a"] = cell_json(one.a);
  out["b"] = cell_json(one.b);
  for (const char* side : {"a", "b"}) out[side].erase("seed");
  out["pairs"] = one.test.pairs;
  out["difference"] = number(one.test.difference);
  out["standard_error"] = number(one.test.standard_error);
  out["t"] = number(one.test.t);
  out["p"] = number(one.test.p);
  out["p_holm"] = number(one.corrected_p);
  return out;
}

Json provenance(const Reproduction& all) {
  Json out;
  out["command"] = all.options->command();
  out["version"] = HQMM_VERSION;
  out["seed"] = all.options->common.seed;
  out["seeds"] = all.options->quick ? 1 : all.options->seeds;
  out["data"] = all.data->source;
  for (const auto& [study, hash] : all.data->hashes)
    out["data_hash"][std::string(name_of(study))] = hash;
  out["simd"] = simd_target();
  out["machine"] = {{"processor", processor_name()}, {"cores", resolve_threads(0)}};
  if (all.splice_missing)
    out["skipped"] = {{"splice", "splice.data was neither in --data nor in $HQMM_DATA"}};
  return out;
}

/// What the paper printed for cells of ours, to stand beside them; n = w = 0 where it names no
/// size.
Json printed_json() {
  Json out = Json::array();
  const auto add = [&](Study study, Method method, int n, int w, const char* quantity,
                       double value) {
    out.push_back({{"study", name_of(study)},
                   {"method", name_of(method)},
                   {"n", n},
                   {"w", w},
                   {"quantity", quantity},
                   {"value", value}});
  };
  add(Study::kSyntheticHmm, Method::kNsRisLiteral, 0, 0, "test", paper::kHmmBest);
  add(Study::kSyntheticHmm, Method::kCosm, 0, 0, "test", paper::kHmmBestCosm);
  add(Study::kSyntheticHqmm, Method::kNsRisLiteral, 2, 1, "test", paper::kHqmm);
  add(Study::kSyntheticHqmm, Method::kCosm, 2, 1, "test", paper::kHqmmCosm);
  add(Study::kSyntheticHqmm, Method::kNsRisLiteral, 2, 1, "seconds", paper::kHqmmSeconds);
  add(Study::kSyntheticHqmm, Method::kCosm, 2, 1, "seconds", paper::kHqmmCosmSeconds);
  const char* error = "mean_class_error";
  for (const paper::SpliceError& one : paper::kSplice)
    add(Study::kSplice, Method::kEm, one.n, 0, error, one.em);
  for (const paper::ClassErrors& one : paper::kClassErrors) {
    const auto mean = [](const auto& errors) { return (errors[0] + errors[1] + errors[2]) / 3.0; };
    add(Study::kSplice, Method::kCosm, one.n, one.w, error, mean(one.cosm));
    add(Study::kSplice, Method::kNsRisLiteral, one.n, one.w, error, mean(one.ns_ris));
    const std::array<const char*, 3> names{"class_error_ei", "class_error_ie", "class_error_n"};
    for (std::size_t c = 0; c < names.size(); ++c) {
      add(Study::kSplice, Method::kCosm, one.n, one.w, names[c], one.cosm[c]);
      add(Study::kSplice, Method::kNsRisLiteral, one.n, one.w, names[c], one.ns_ris[c]);
    }
  }
  return out;
}

}  // namespace

Json to_json(const CellResult& result) {
  Json out = cell_json(result.cell);
  out["outcome"] =
      std::visit([](const auto& outcome) { return outcome_json(outcome); }, result.outcome);
  return out;
}

CellResult cell_result_from_json(const nlohmann::json& json) {
  CellResult out;
  out.cell = cell_from_json(json);
  if (out.cell.study == Study::kSplice) {
    out.outcome = splice_from_json(json.at("outcome"));
  } else {
    out.outcome = synthetic_from_json(json.at("outcome"));
  }
  return out;
}

Json made_with(const ReproduceOptions& options, const Cell& cell, const ReproductionData& data) {
  Json out;
  out["version"] = HQMM_VERSION;
  out["simd"] = simd_target();
  out["data_hash"] = data.hashes.at(cell.study);
  if (cell.method == Method::kGivens) out["time_limit"] = options.time_limit;
  return out;
}

bool Reproduction::has(Study study) const {
  return std::find(studies.begin(), studies.end(), study) != studies.end();
}

std::string results_csv(const Reproduction& all) {
  std::string out = fmt::format(
      "{},train_da,train_da_raw,validation_da,validation_da_raw,test_da,test_da_raw,"
      "test_da_std_over_sequences,epochs,best_epoch,status,true_model_test_da,mean_class_error,"
      "error_ei,error_ie,error_n,normalised_mean_class_error,data_hash\n",
      kCellColumns);
  for (const CellResult& one : all.results) {
    out += cell_fields(one.cell) + ",";
    if (const auto* synthetic = std::get_if<SyntheticOutcome>(&one.outcome)) {
      out += fmt::format("{},{},,,,,,", synthetic_fields(*synthetic),
                         all.truths.at(one.cell.study).test.da);
    } else {
      const auto& splice = std::get<SpliceOutcome>(one.outcome);
      out += fmt::format(",,,,,,,,,,,{},", splice.mean_class_error);
      for (std::size_t c = 0; c < 3; ++c)
        out += c < splice.class_errors.size() ? fmt::format("{},", splice.class_errors[c]) : ",";
      out += fmt::format("{},", splice.normalised_mean_class_error);
    }
    out += all.data->hashes.at(one.cell.study) + "\n";
  }
  return out;
}

std::string seconds_csv(const Reproduction& all) {
  std::string out = fmt::format("{},seconds\n", kCellColumns);
  for (const CellResult& one : all.results)
    out += fmt::format("{},{:.3f}\n", cell_fields(one.cell), seconds_of(one.outcome));
  return out;
}

Json results_json(const Reproduction& all) {
  Json out;
  out["provenance"] = provenance(all);
  for (const auto& [study, truth] : all.truths) {
    out["true_models"][std::string(name_of(study))] = {{"train_da", truth.train.da},
                                                       {"validation_da", truth.validation.da},
                                                       {"test_da", truth.test.da}};
  }
  out["summary"] = Json::array();
  for (const Group& group : all.groups) out["summary"].push_back(group_json(group));
  out["paired_tests"] = Json::array();
  for (const Comparison& one : all.comparisons) out["paired_tests"].push_back(comparison_json(one));
  out["paper"] = printed_json();
  out["above_true_model"] = Json::array();
  for (const AboveTruth& one : all.above) out["above_true_model"].push_back(cell_json(one.cell));
  out["cells"] = Json::array();
  for (const CellResult& one : all.results) out["cells"].push_back(to_json(one));
  return out;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos)
      return printable(line.substr(colon + 2), 80);
  }
  return "unknown";
}

}  // namespace hqmm::cli

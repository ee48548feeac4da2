#include "hqmm/run/fold_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/sha256.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/classifier_bytes.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/model/log_posteriors.hpp"

namespace hqmm::detail {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson posteriors_json(const Posteriors& posteriors) {
  OrderedJson out = OrderedJson::array();
  for (std::size_t i = 0; i < posteriors.rows(); ++i)
    for (const double log : posteriors.row(i)) out.push_back(number(log));
  return out;
}

/// JSON has no −∞: null stands for it.
Posteriors posteriors_from_json(const nlohmann::json& json, std::size_t rows, std::size_t classes) {
  if (!json.is_array() || json.size() != rows * classes)
    throw fail(ErrorCode::kBadData, "posteriors of another number of rows");
  Posteriors out(rows, classes);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < classes; ++c) {
      const nlohmann::json& log = json[i * classes + c];
      out.row(i)[c] = log.is_null() ? -std::numeric_limits<double>::infinity() : log.get<double>();
    }
  }
  return out;
}

std::string member_name(std::size_t member) { return fmt::format("member{}", member); }

}  // namespace

FoldCells::FoldCells(const RunDirectory& run, CellFolder::OnDamage on_damage)
    : folder_(run.file("cells"), std::move(on_damage)), run_(run.fingerprint()) {
  look_for_cells();
}

void FoldCells::look_for_cells() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.file(""), ignored)) {
    if (entry.path().extension() != ".json") continue;
    const auto cell = parse_json_or_discard(read_all(entry.path().string()));
    if (!cell.is_object() || !cell.contains("seconds") || !cell["seconds"].is_number()) continue;
    ++found_;
    seconds_before_ = std::max(seconds_before_, cell["seconds"].get<double>());
  }
}

double FoldCells::seconds() const {
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
  return seconds_before_ + gone.count();
}

std::optional<FoldCell> FoldCells::find(const std::string& name) const {
  FoldCell out;
  const bool found = folder_.find(name, [&](const nlohmann::json& cell) {
    if (cell.at("run") != run_) throw fail(ErrorCode::kBadData, "a cell of another run");
    out.posteriors =
        posteriors_from_json(cell.at("log_posteriors"), cell.at("rows"), cell.at("classes"));
    if (cell.at("classifier").is_null()) return;
    const std::string file = folder_.file(name + ".h5");
    const std::string bytes = read_all(file);
    if (cell.at("classifier") != sha256(bytes))
      throw fail(ErrorCode::kBadData, Where{.file = file}, "is damaged");
    out.classifier = parse_classifier(bytes, file).classifier;
  });
  return found ? std::optional(std::move(out)) : std::nullopt;
}

void FoldCells::keep(const std::string& name, const FoldCell& cell) const {
  folder_.make();
  OrderedJson json;
  json["run"] = run_;
  json["seconds"] = seconds();
  json["rows"] = cell.posteriors.rows();
  json["classes"] = cell.posteriors.classes();
  json["log_posteriors"] = posteriors_json(cell.posteriors);
  json["classifier"] = nullptr;
  if (cell.classifier) {
    const std::string bytes = serialize_classifier({*cell.classifier, "{}"});
    folder_.write(name + ".h5", bytes);
    json["classifier"] = sha256(bytes);
  }
  folder_.keep(name, std::move(json));
}

CrossValidationHooks FoldCells::with_cells(CrossValidationHooks hooks) {
  hooks.find_cell = [this](const std::string& name) { return find(name); };
  hooks.keep_cell = [this](const std::string& name, const FoldCell& cell) { keep(name, cell); };
  return hooks;
}

ClassifierHooks FoldCells::with_members(ClassifierHooks hooks) {
  hooks.find_member = [this](std::size_t member) -> std::optional<Classifier> {
    std::optional<FoldCell> found = find(member_name(member));
    return found ? std::move(found->classifier) : std::nullopt;
  };
  hooks.keep_member = [this](std::size_t member, const Classifier& classifier) {
    keep(member_name(member), {{}, classifier});
  };
  return hooks;
}

}  // namespace hqmm::detail

#include "hqmm/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/hash_text.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/classifier_bytes.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/report/items.hpp"
#include "hqmm/report/page.hpp"
#include "hqmm/run/run_directory.hpp"
#include "hqmm/version.hpp"

namespace hqmm::detail {
namespace report {

Json Facts::json() const {
  Json out = Json::array();
  for (const auto& [name, value] : pairs_) out.push_back({name, value});
  return out;
}

std::string short_name(const std::string& path) {
  std::filesystem::path given(path);
  if (!given.has_filename()) given = given.parent_path();
  const std::string name = given.filename().string();
  return name.empty() || name == "." || name == ".." ? path : name;
}

namespace {

bool has(const nlohmann::json& json, const char* key, nlohmann::json::value_t type) {
  const auto found = json.find(key);
  return found != json.end() && found->type() == type;
}

/// A model file in JSON says so itself.
bool is_json_object(const std::string& bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string::npos && bytes[first] == '{';
}

/// Two things of one name get a number after it.
class Names {
 public:
  std::string operator()(std::string name) {
    const int before = seen_[name]++;
    return before == 0 ? name : fmt::format("{} ({})", name, before + 1);
  }

 private:
  std::map<std::string, int> seen_;
};

struct Builder {
  const ReportOptions& options;
  Json items = Json::array();
  std::vector<NamedModel> models;
  Names names;

  [[nodiscard]] std::string name_of(const std::string& path, std::size_t index) {
    const bool given = index < options.names.size() && !options.names[index].empty();
    return names(given ? options.names[index] : short_name(path));
  }

  void add(const std::string& path, std::size_t index) {
    namespace fs = std::filesystem;
    if (fs::is_directory(path)) {
      add_folder(path, index);
      return;
    }
    const std::string bytes = read_all(path);
    if (is_classifier(bytes, path)) {
      items.push_back(classifier_item(name_of(path, index), parse_classifier(bytes, path)));
    } else if (is_json_object(bytes) &&
               !parse_json(bytes, {path, {}, {}, {}, {}}).contains("format")) {
      Json item = json_item(path, bytes);
      item["name"] = name_of(path, index);
      items.push_back(std::move(item));
    } else {
      ModelFile file = parse_model(bytes, path);
      const std::string name = name_of(path, index);
      items.push_back(model_item(name, file));
      models.push_back(
          {name, kind_of(file.model) == "hmm" ? "em" : "ns-ris", std::move(file.model)});
    }
  }

  void add_folder(const std::string& path, std::size_t index) {
    const auto results = std::filesystem::path(path) / "results.json";
    if (!is_run_directory(path) && std::filesystem::exists(results)) {
      Json item = json_item(results.string(), read_all(results.string()));
      item["name"] = name_of(path, index);
      items.push_back(std::move(item));
      return;
    }
    std::optional<NamedModel> model;
    Json item = run_item(path, options, model);
    const std::string name = name_of(path, index);
    item["name"] = name;
    if (item["model"].is_object()) item["model"]["name"] = name;
    items.push_back(std::move(item));
    if (model) {
      model->name = name;
      models.push_back(std::move(*model));
    }
  }
};

/// The true model's score beside the curves of the runs that were validated on these sequences.
void mark_truth(Json& items, const Json& score, const std::string& hash) {
  for (Json& item : items) {
    if (item.value("kind", "") != "run" || item.value("validation_hash", "") != hash) continue;
    item["truth"] = {{"bits_per_symbol", score.at("bits_per_symbol")}, {"da", score.at("da")}};
  }
}

}  // namespace

Json json_item(const std::string& path, const std::string& bytes) {
  const nlohmann::json json = parse_json(bytes, {path, {}, {}, {}, {}});
  using Type = nlohmann::json::value_t;
  Json out{{"kind", nullptr}, {"name", short_name(path)}};
  const auto keep = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      if (json.contains(key)) out["results"][key] = json.at(key);
  };
  if (has(json, "confusion", Type::array) && has(json, "folds", Type::array) &&
      has(json, "calibration", Type::object)) {
    out["kind"] = "cross-validation";
    keep({"classes", "folds", "mean_class_error", "mean_class_error_standard_error", "class_error",
          "class_error_standard_error", "confusion", "calibration", "baselines", "provenance"});
  } else if (has(json, "summary", Type::array) && has(json, "cells", Type::array)) {
    out["kind"] = "reproduction";
    keep({"provenance", "true_models", "summary", "paired_tests", "paper"});
  } else if (has(json, "tables", Type::object)) {
    out["kind"] = "study";
    out["tables"] = json.at("tables");
  } else {
    throw fail(ErrorCode::kBadData, {path, {}, {}, {}, {}},
               "is JSON, but neither a model nor the results of a reproduction, "
               "a study or a cross-validation");
  }
  return out;
}

}  // namespace report

std::string report_document(const std::vector<std::string>& paths, const ReportOptions& options) {
  using report::Json;
  if (paths.empty()) throw fail(ErrorCode::kUsage, "nothing to report on");
  report::Builder builder{options, Json::array(), {}, {}};
  for (std::size_t i = 0; i < paths.size(); ++i) builder.add(paths[i], i);
  Json scores = nullptr;
  if (options.data) {
    if (!options.truth.empty())
      builder.models.push_back({"true model", "truth", read_model(options.truth).model});
    scores = report::scores(*options.data, builder.models, options.threads);
    if (!options.truth.empty())
      report::mark_truth(builder.items, scores.at("rows").back(), hash_text(options.data->set));
  }
  const std::string first = builder.items.front().value("name", "");
  const std::string title = !options.title.empty() ? options.title
                            : paths.size() == 1
                                ? first
                                : fmt::format("{} and {} more", first, paths.size() - 1);
  const Json document{{"version", HQMM_VERSION},
                      {"title", title},
                      {"live", options.live},
                      {"items", std::move(builder.items)},
                      {"scores", std::move(scores)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool has_report_page() { return !report::kPage.empty(); }

std::string report_page(const std::string& document) {
  if (!has_report_page())
    throw fail(ErrorCode::kUsage,
               "this build of hqmm cannot write the page: build it again with npm installed");
  constexpr std::string_view kPlace = "/* document */";
  const std::size_t place = report::kPage.find(kPlace);
  std::string out(report::kPage.substr(0, place));
  out.reserve(report::kPage.size() + document.size() + document.size() / 8);
  // Inside a script no tag may end it, and none may begin a comment.
  for (const char c : document) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  out += report::kPage.substr(place + kPlace.size());
  return out;
}

}  // namespace hqmm::detail

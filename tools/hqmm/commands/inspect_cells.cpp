// hqmm inspect RUN, of a selection or of a classifier's run: what it is, and how much of it is
// done.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "commands/inspect.hpp"
#include "hqmm/core/error.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/run/run_directory.hpp"
#include "hqmm/run/run_lock.hpp"
#include "support/command.hpp"
#include "support/output.hpp"

namespace hqmm::cli {
namespace {

/// A model of a selection has a folder of its own, a part of a classifier's run a file.
std::size_t count_cells(const RunDirectory& run) {
  std::size_t out = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(run.file("cells"), ignored))
    out += entry.is_directory(ignored) || entry.path().extension() == ".json";
  return out;
}

Json cells_json(const RunDirectory& run, const std::string& path, const nlohmann::json& config) {
  Json out;
  out["run"] = path;
  for (const char* key : {"command", "version", "simd"}) out[key] = config.at(key);
  out["data"] = config.at("command") == "select" ? config.at("train") : config.at("data");
  out["cells"] = count_cells(run);
  if (config.contains("cells")) out["cells_in_all"] = config.at("cells").size();
  out["running_now"] = is_training(path);
  return out;
}

std::string cells_text(const Json& found) {
  const auto command = found.at("command").get<std::string>();
  const bool selection = found.contains("cells_in_all");
  const auto path = found.at("run").get<std::string>();
  std::string out = fmt::format("{}: a run of 'hqmm {}'\n", path, printable(command));
  const auto row = [&](const char* name, const std::string& value) {
    out += fmt::format("{:<22}{}\n", name, printable(value, 4096));
  };
  const Json& data = found.at("data");
  row("data", data.is_string() ? data.get<std::string>() : data.dump());
  row(selection ? "models begun" : "parts done",
      selection ? fmt::format("{} of {}", found.at("cells").get<std::size_t>(),
                              found.at("cells_in_all").get<std::size_t>())
                : found.at("cells").dump());
  row("status", found.at("running_now").get<bool>()
                    ? "running now"
                    : fmt::format("'hqmm {} --resume {}' does what is missing", command, path));
  if (selection) row("each model", fmt::format("hqmm inspect {}/cells/NAME", path));
  return out;
}

}  // namespace

bool inspect_cells(const std::string& path, const CommonOptions& common) {
  const RunDirectory run = RunDirectory::open(path);
  const nlohmann::json config = parse_json(run.config());
  if (!config.contains("command") || config.at("command") == "train") return false;
  std::string text;
  try {
    const Json found = cells_json(run, path, config);
    text = common.json ? dump(found) : cells_text(found);
  } catch (const nlohmann::json::exception&) {
    throw fail(ErrorCode::kBadData, {run.file("config.json"), {}, {}, {}, {}},
               "does not describe a run");
  }
  Output output(readers_of(common), common.out);
  output.write(text);
  output.finish();
  return true;
}

}  // namespace hqmm::cli

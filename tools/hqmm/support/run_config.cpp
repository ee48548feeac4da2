#include "support/run_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "hqmm/core/error.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/run/run_directory.hpp"

namespace hqmm::cli {
namespace {

constexpr const char* kRuns = "Runs and stopping";

}  // namespace

std::string absolute_path(const std::string& path) {
  return path.empty() || path == "-" ? path : std::filesystem::absolute(path).string();
}

std::string utf8_path(const std::string& path) {
  if (is_utf8(path)) return path;
  throw fail(ErrorCode::kUsage, "--run cannot keep a path that is not UTF-8: {}",
             printable(path, 200));
}

Json paths_json(const Paths& paths) {
  if (paths.size() > 1) {
    Json out = Json::array();
    for (const std::string& path : paths) out.push_back(utf8_path(absolute_path(path)));
    return out;
  }
  return paths.empty() ? "" : utf8_path(absolute_path(paths.front()));
}

Paths paths_from_json(const nlohmann::json& json) {
  if (json.is_array()) return json.get<Paths>();
  auto path = json.get<std::string>();
  return path.empty() ? Paths{} : Paths{std::move(path)};
}

void read_config(const RunDirectory& run, const std::string& what,
                 const std::function<void(const nlohmann::json&)>& take) {
  const Where where{run.file("config.json"), {}, {}, {}, {}};
  const nlohmann::json config = parse_json(run.config());
  try {
    take(config);
  } catch (const nlohmann::json::exception&) {
    throw fail(ErrorCode::kBadData, where, "does not describe {}", what);
  } catch (const Error& error) {
    throw error.as(ErrorCode::kBadData).at(where);
  }
}

void require_only(const Command& command, const std::set<std::string>& allowed) {
  for (const Option option : command.options()) {
    const std::string name = option.name();
    if (!option.given() || name == "--resume" || allowed.contains(name)) continue;
    throw fail(ErrorCode::kUsage,
               "--resume continues with the run's own data and options: {} cannot be given", name);
  }
}

void require_no_stdin(const Paths& paths) {
  if (std::count(paths.begin(), paths.end(), "-") == 0) return;
  throw fail(ErrorCode::kUsage, "--run needs data in a file: a resumed run must read it again");
}

void require_unchanged(const std::string& path, const std::string& hash,
                       const std::string& expected) {
  if (expected.empty() || hash == expected) return;
  throw fail(ErrorCode::kBadData, {path, {}, {}, {}, {}},
             "the data has changed since the run began: its hash is {}, was {}", hash, expected);
}

void warn_of_other_instructions(const std::string& began) {
  if (began.empty() || began == simd_target()) return;
  warn(fmt::format(
      "the run began on {} and continues on {}: its results agree to rounding, but not byte for "
      "byte, with those of an uninterrupted run (HQMM_SIMD={} selects the first if the processor "
      "has it)",
      began, simd_target(), began));
}

std::string how_to_go_on(const std::string& command, const std::string& run,
                         const std::string& out) {
  return fmt::format("resume with 'hqmm {} --resume {}{}'", command, run,
                     out.empty() ? "" : " -o " + out);
}

void tell_where_the_result_goes(const CommonOptions& common, const std::string& what,
                                const std::string& here, const std::string& began_with) {
  if (began_with.empty() || !common.out.empty()) return;
  const auto place = std::filesystem::absolute(here).lexically_normal();
  if (place == std::filesystem::path(began_with).lexically_normal()) return;
  narrate(common, fmt::format("the {} is now written to {}; the run began with -o {}", what, here,
                              printable(began_with, 4096)));
}

void add_run_folder(Command command, std::string& run, const std::string& help) {
  command.add_option("--run", run, help).group(kRuns).type_name("DIR");
}

void add_resume_folder(Command command, std::string& resume, const std::string& help) {
  command.add_option("--resume", resume, help).group(kRuns).type_name("DIR");
}

}  // namespace hqmm::cli

// What the run directories of all commands have in common: how a path is kept in config.json, which
// flags a resumed run may have, and whether data and processor are those it began with.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/internals.hpp"

namespace hqmm::detail {
class RunDirectory;
}  // namespace hqmm::detail

namespace hqmm::cli {

/// "-" and an empty path are unchanged.
[[nodiscard]] std::string absolute_path(const std::string& path);
/// Paths go into config.json, which holds UTF-8 only. Throws kUsage.
[[nodiscard]] std::string utf8_path(const std::string& path);
/// Absolute: one path as it is, several as a list.
[[nodiscard]] Json paths_json(const Paths& paths);
/// Throws nlohmann::json::exception.
[[nodiscard]] Paths paths_from_json(const nlohmann::json& json);

/// Hands config.json to `take`. Throws kBadData, "does not describe WHAT", for what it throws.
void read_config(const RunDirectory& run, const std::string& what,
                 const std::function<void(const nlohmann::json&)>& take);

/// Throws kUsage for a flag that was given and is not one of `allowed`: a resumed run has its own.
void require_only(const Command& command, const std::set<std::string>& allowed);
/// A resumed run reads its data again. Throws kUsage.
void require_no_stdin(const Paths& paths);
/// Throws kBadData.
void require_unchanged(const std::string& path, const std::string& hash,
                       const std::string& expected);
void warn_of_other_instructions(const std::string& began);

/// " -o FILE" where it was given: a run does not go by the path that its config.json names.
[[nodiscard]] std::string how_to_go_on(const std::string& command, const std::string& run,
                                       const std::string& out);
/// For a run that began with -o and is resumed without: its result goes into its own folder.
void tell_where_the_result_goes(const CommonOptions& common, const std::string& what,
                                const std::string& here, const std::string& began_with);

/// The flags --run and --resume.
void add_run_folder(Command command, std::string& run, const std::string& help);
void add_resume_folder(Command command, std::string& resume, const std::string& help);

}  // namespace hqmm::cli

#include "support/own_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include "hqmm/core/fail.hpp"

namespace hqmm::cli {
namespace {

namespace fs = std::filesystem;

/// Two paths with the same identity are the same file. One that is not there yet is known by its
/// folder and its name in it.
using Identity = std::tuple<std::uint64_t, std::uint64_t, std::string>;

/// Where a path leads that nothing is at, perhaps by links that point nowhere.
fs::path end_of_links(fs::path path) {
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code failure;
    if (!fs::is_symlink(fs::symlink_status(path, failure))) break;
    const fs::path target = fs::read_symlink(path, failure);
    if (failure) break;
    path = path.parent_path() / target;  // an absolute target stands alone
  }
  return path;
}

Identity identity_of_new_file(const fs::path& path) {
  const fs::path end = end_of_links(path);
  const fs::path folder = end.has_parent_path() ? end.parent_path() : fs::path(".");
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0)
    return {status.st_dev, status.st_ino, end.filename().string()};
  std::error_code ignored;
  return {0, 0, fs::weakly_canonical(fs::absolute(end, ignored), ignored).string()};
}

/// None of what is not a regular file and is not about to become one.
std::optional<Identity> identity_of(const std::string& path, bool output) {
  if (path.empty() || (output && path == "-")) return {};
  if (output && (path.starts_with("/dev/") || path.starts_with("/proc/"))) return {};
  struct stat status {};
  const bool there =
      path == "-" ? ::fstat(STDIN_FILENO, &status) == 0 : ::stat(path.c_str(), &status) == 0;
  if (!there) return path == "-" ? std::nullopt : std::optional(identity_of_new_file(path));
  if (!S_ISREG(status.st_mode)) return {};
  return Identity{status.st_dev, status.st_ino, ""};
}

std::string shown(const std::string& path) {
  return path == "-" ? "stdin" : printable(path, path.size());
}

}  // namespace

void require_other_files(const std::vector<NamedFile>& outputs,
                         const std::vector<NamedFile>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    const auto identity = identity_of(output.path, true);
    if (!identity) continue;
    for (const NamedFile& input : inputs) {
      if (identity_of(input.path, false) != identity) continue;
      throw fail(ErrorCode::kUsage, "{} {} would overwrite {} ({}): name another file", output.name,
                 shown(output.path), input.name, shown(input.path));
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (identity_of(outputs[k].path, true) != identity) continue;
      throw fail(ErrorCode::kUsage, "{} and {} are the same file, {}: name another one",
                 outputs[k].name, output.name, shown(output.path));
    }
  }
}

std::vector<NamedFile> files_of_run(const std::string& folder) {
  std::vector<NamedFile> out;
  if (folder.empty()) return out;
  for (const char* name : {"config.json", "history.jsonl", "checkpoint.h5", "checkpoint-before.h5",
                           "warm_start.h5", "stationarity.json", "summary.json", ".lock"})
    out.push_back({std::string("the run's ") + name, (fs::path(folder) / name).string()});
  return out;
}

}  // namespace hqmm::cli

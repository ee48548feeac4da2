#include "support/data_files.hpp"

#include <algorithm>

#include "hqmm/core/fail.hpp"
#include "support/ranks.hpp"

namespace hqmm::cli {

std::string shown(const Paths& paths) {
  constexpr std::size_t kAllShown = 3;
  if (paths.empty()) return {};
  if (paths.size() > kAllShown)
    return fmt::format("{} and {} more files", paths.front(), paths.size() - 1);
  std::string out;
  for (const std::string& path : paths) out += (out.empty() ? "" : ", ") + path;
  return out;
}

bool is_fasta_path(const std::string& path) {
  return path.ends_with(".fa") || path.ends_with(".fasta") || path.ends_with(".fna") ||
         path.ends_with(".faa");
}

void add_named(std::vector<NamedFile>& to, const std::string& name, const Paths& paths) {
  for (const std::string& path : paths) to.push_back({name, path});
}

void require_one_stdin(std::initializer_list<Paths> inputs) {
  std::ptrdiff_t count = 0;
  for (const Paths& paths : inputs) count += std::count(paths.begin(), paths.end(), "-");
  if (count > 1) throw fail(ErrorCode::kUsage, "only one input can come from stdin");
  if (count > 0 && works_with_others())
    throw fail(ErrorCode::kUsage,
               "ranks cannot share stdin: give a file that all of them can read");
}

}  // namespace hqmm::cli

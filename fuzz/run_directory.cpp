// What a run directory holds beside its checkpoint: config.json, history.jsonl, summary.json and
// stationarity.json, in this order, with a line "%%" between them. `hqmm inspect` reads them all.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "commands/inspect.hpp"
#include "hqmm/core/error.hpp"
#include "target.hpp"

namespace hqmm::fuzz {
namespace {

namespace fs = std::filesystem;

/// A folder that goes when the process ends well.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "hqmm-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) bug("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_files(const fs::path& folder, std::string_view bytes) {
  constexpr std::string_view kBetween = "\n%%\n";
  for (const char* name : {"config.json", "history.jsonl", "summary.json", "stationarity.json"}) {
    const std::size_t end = bytes.find(kBetween);
    std::error_code ignored;
    fs::remove(folder / name, ignored);
    if (!bytes.empty()) std::ofstream(folder / name, std::ios::binary) << bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + kBetween.size());
  }
}

}  // namespace

void run_directory(std::string_view bytes) {
  if (bytes.empty()) return;
  static const Folder folder;
  write_files(folder.path(), bytes);
  for (const bool json : {false, true}) {
    cli::CommonOptions common;
    common.json = json;
    read_or_refuse([&] { cli::inspect_run(folder.path().string(), common); });
  }
}

}  // namespace hqmm::fuzz

// hqmm data: fetches a published data set and lets nothing through but exactly that file.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/sha256.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/fetch.hpp"
#include "support/command.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/progress_line.hpp"

namespace hqmm::cli {
namespace {

constexpr const char* kSpliceSha256 =
    "ebbae10c85d3c285e2a2489a37e42bc2ee8d91d15005e391a9962fa3389a114f";
constexpr const char* kSpliceAddress =
    "https://archive.ics.uci.edu/ml/machine-learning-databases/molecular-biology/"
    "splice-junction-gene-sequences/splice.data";
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20U;  // splice.data has 319,000

struct FetchFlags {
  CommonOptions common;
  std::string which;
  std::string from = kSpliceAddress;
  std::string sha256 = kSpliceSha256;
};

ValueCheck hash_digits() {
  const auto fault = [](std::string text) -> std::string {
    for (char& c : text) {
      if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    }
    const bool good =
        text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
    return good ? "" : fmt::format("expected 64 hexadecimal digits, found '{}'", printable(text));
  };
  return {fault, ""};
}

/// -o, or its place in $HQMM_DATA, or the working folder.
std::string target_path(const FetchFlags& options) {
  if (!options.common.out.empty()) return options.common.out;
  const char* folder = std::getenv("HQMM_DATA");
  if (folder == nullptr || *folder == '\0') return "splice.data";
  return (std::filesystem::path(folder) / "splice.data").string();
}

/// $HQMM_DATA is made when it is not there.
void make_data_folder(const FetchFlags& options, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!options.common.out.empty() || folder.empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw fail(ErrorCode::kCannotWrite, Where{.file = folder.string()},
               "the folder cannot be made: {}", failure.message());
  }
}

/// The file that --from names: a path, or an address that begins with file://.
std::string source_path(const std::string& from) {
  constexpr std::string_view kFile = "file://";
  return from.starts_with(kFile) ? from.substr(kFile.size()) : from;
}

std::string fetch_with_progress(const FetchFlags& options) {
  FetchOptions how;
  how.most_bytes = kMostBytes;
  ProgressLine line(options.common);
  if (line.visible()) {
    how.on_progress = [&line](std::uint64_t done, std::uint64_t total) {
      line.show(fmt::format("fetching: {} KiB{}", done / 1024,
                            total > 0 ? fmt::format(" of {}", total / 1024) : ""));
    };
  }
  return fetch(options.from, how);
}

void run_data(const FetchFlags& options) {
  const std::string path = target_path(options);
  require_other_files({{options.common.out.empty() ? "the file to write," : "-o", path}},
                      {{"--from", source_path(options.from)}});
  const std::string bytes = fetch_with_progress(options);
  const std::string found = sha256(bytes);
  if (found != options.sha256) {
    throw fail(ErrorCode::kBadData, Where{.file = options.from},
               "this is not the published splice.data, nothing was written: "
               "its SHA-256 is {} ({} bytes), expected {}",
               found, bytes.size(), options.sha256);
  }
  make_data_folder(options, path);
  write_file(path, bytes);
  if (options.common.json) {
    Json report;
    report["data"] = options.which;
    report["path"] = path;
    report["from"] = options.from;
    report["bytes"] = bytes.size();
    report["sha256"] = found;
    Output output(Readers::kPrograms);
    output.write(dump(report));
    output.finish();
  }
  narrate(options.common, fmt::format("splice.data: {} bytes, SHA-256 as published → {}",
                                      bytes.size(), printable(path, path.size())));
}

}  // namespace

void add_data(Command program) {
  auto options = std::make_shared<FetchFlags>();
  Command command =
      program.add_subcommand("data", "Fetch a published data set, checked by its SHA-256")
          .group("Data");
  command.add_option("NAME", options->which, "splice: the UCI splice-junction sequences")
      .required()
      .check(one_of({"splice"}))
      .type_name("");
  command
      .add_option("--from", options->from,
                  "Where to fetch it from: an http, https or file address, or a path (packed or "
                  "not)")
      .capture_default_str()
      .type_name("URL|FILE");
  command.add_option("--sha256", options->sha256, "").check(hash_digits()).group("");  // for tests
  add_common(command, options->common,
             "File to write; by default splice.data in $HQMM_DATA, or in this folder if that is "
             "unset");
  command.footer(
      "Examples:\n  hqmm data splice                            from the UCI repository\n"
      "  hqmm data splice --from splice.data.gz -o splice.data");
  command.callback([options] { run_data(*options); });
}

}  // namespace hqmm::cli

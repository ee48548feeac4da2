#include "hqmm/run/run_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/descriptor.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/run/checkpoint_file.hpp"
#include "hqmm/run/train_config.hpp"

namespace hqmm::detail {
namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kHistory = "history.jsonl";
constexpr const char* kCheckpoint = "checkpoint.h5";
constexpr const char* kBefore = "checkpoint-before.h5";
constexpr std::array kOthers = {kHistory,        kCheckpoint,         kBefore,
                                "warm_start.h5", "stationarity.json", "summary.json"};

bool is_link(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored));
}

Error history_error(const std::string& name, int reason) {
  return fail(ErrorCode::kCannotWrite, Where{.file = name}, "cannot be written: {}",
              std::strerror(reason));
}

}  // namespace

bool is_run_directory(const std::string& path) {
  std::error_code ignored;  // a path that cannot be looked at holds no run
  return std::filesystem::exists(std::filesystem::path(path) / kConfig, ignored);
}

std::string fingerprint_of(const nlohmann::json& json) {
  std::uint64_t state = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : json.dump())
    state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return fmt::format("{:016x}", state);
}

void require_no_link(const std::string& path) {
  if (!is_link(path)) return;
  throw fail(ErrorCode::kUsage, Where{.file = path},
             "is a link, but a run writes only into its own folder: put the file itself there");
}

bool make_run_folder(const std::string& path) {
  std::error_code failure;
  const bool made = std::filesystem::create_directories(path, failure);
  if (!failure) return made;
  throw fail(ErrorCode::kCannotWrite, Where{.file = path}, "the folder cannot be made: {}",
             failure.message());
}

RunDirectory RunDirectory::create(const std::string& path, const std::string& config) {
  if (is_run_directory(path)) {
    throw fail(ErrorCode::kUsage, Where{.file = path}, "holds a run already")
        .in(Situation::kRunExists);
  }
  make_run_folder(path);
  RunDirectory run(path);
  run.config_ = config;
  run.require_own_files();
  for (const char* name : kOthers) {
    std::error_code ignored;
    if (std::filesystem::exists(run.file(name), ignored)) {
      throw fail(ErrorCode::kUsage, Where{.file = path},
                 "holds a {} that belongs to something else: name another folder", name);
    }
  }
  write_file(run.file(kConfig), nlohmann::ordered_json::parse(config).dump(2) + "\n");
  return run;
}

RunDirectory RunDirectory::open(const std::string& path) {
  if (!is_run_directory(path)) {
    throw fail(ErrorCode::kNoInput, Where{.file = path},
               "is not a run directory (no config.json in it)");
  }
  RunDirectory run(path);
  const std::string name = run.file(kConfig);
  run.config_ = read_all(name);
  const auto parsed = parse_json_or_discard(run.config_);
  if (!parsed.is_object())
    throw fail(ErrorCode::kBadData, Where{.file = name}, "is not valid JSON");
  return run;
}

std::string RunDirectory::file(const std::string& name) const {
  return (std::filesystem::path(path_) / name).string();
}

std::string RunDirectory::fingerprint() const { return fingerprint_of(parse_json(config_)); }

void RunDirectory::require_own_files() const {
  std::vector<std::string> names(kOthers.begin(), kOthers.end());
  names.insert(names.end(), {kConfig, "model.h5", "classifier.h5", "cells"});
  for (const std::string& name : names) require_no_link(file(name));
}

void RunDirectory::append(const EpochRecord& record) const {
  const std::string name = file(kHistory);
  const std::string line = to_json(record).dump() + "\n";
  const Descriptor out(
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666));
  struct stat before {};
  if (!out.is_open() || ::fstat(out.get(), &before) != 0) throw history_error(name, errno);
  const int reason = write_all(out.get(), line);
  if (reason == 0) return;
  // Half a line would spoil the next one. Where it cannot be cut off it is dropped by the resume.
  (void)!::ftruncate(out.get(), before.st_size);
  throw history_error(name, reason);
}

void RunDirectory::save(const Checkpoint& checkpoint) const {
  const std::string bytes = serialize_checkpoint(checkpoint, fingerprint());
  // Until the new one has its name there is the one before.
  std::error_code failure;
  std::filesystem::rename(file(kCheckpoint), file(kBefore), failure);
  try {
    write_file(file(kCheckpoint), bytes);
  } catch (const Error&) {
    if (!failure) std::filesystem::rename(file(kBefore), file(kCheckpoint), failure);
    throw;
  }
}

std::optional<Checkpoint> RunDirectory::checkpoint(
    const std::function<void(const std::string&)>& on_note) {
  std::error_code ignored;
  const bool newest = std::filesystem::exists(file(kCheckpoint), ignored);
  if (!newest && !std::filesystem::exists(file(kBefore), ignored)) {
    std::filesystem::remove(file(kHistory), ignored);  // it will be written again from the start
    return {};
  }
  Checkpoint found = newest ? newest_checkpoint(on_note) : read_checkpoint(kBefore);
  keep_history_up_to(found);
  return found;
}

Checkpoint RunDirectory::read_checkpoint(const char* name) const {
  return parse_checkpoint(read_all(file(name)), file(name), fingerprint());
}

Checkpoint RunDirectory::newest_checkpoint(
    const std::function<void(const std::string&)>& on_note) const {
  try {
    return read_checkpoint(kCheckpoint);
  } catch (const Error& error) {
    std::error_code ignored;
    if (error.code() != ErrorCode::kBadData || !std::filesystem::exists(file(kBefore), ignored))
      throw;
    std::optional<Checkpoint> before;
    try {
      before = read_checkpoint(kBefore);
    } catch (const Error&) {
      throw error;  // neither will do: the newest is the one to speak of
    }
    if (on_note) on_note(fmt::format("{}: continuing from the checkpoint before it", error.what()));
    std::filesystem::remove(file(kCheckpoint), ignored);  // or it would take that one's place
    return std::move(*before);
  }
}

void RunDirectory::remove_checkpoints() const {
  std::error_code ignored;
  for (const char* name : {kCheckpoint, kBefore}) std::filesystem::remove(file(name), ignored);
}

void RunDirectory::keep_history_up_to(const Checkpoint& checkpoint) const {
  std::map<std::size_t, std::size_t> epochs;  // of each restart that has begun
  for (const RestartState& state : checkpoint.live)
    epochs[state.summary.restart] = state.summary.epochs_run;
  for (const RestartSummary& one : checkpoint.finished) epochs[one.restart] = one.epochs_run;
  const std::string name = file(kHistory);
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) return;
  const std::string text = read_all(name);
  std::string kept;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    if (end == std::string::npos) break;  // a line that a kill cut short
    const std::string line = text.substr(from, end + 1 - from);
    const auto record = parse_json_or_discard(line);
    from = end + 1;
    if (!record.is_object() || !record.contains("restart") || !record.contains("epoch")) continue;
    if (!record["restart"].is_number_unsigned()) continue;
    const auto found = epochs.find(record["restart"].get<std::size_t>());
    if (found != epochs.end() && record["epoch"] <= found->second) kept += line;
  }
  write_file(name, kept);
}

}  // namespace hqmm::detail

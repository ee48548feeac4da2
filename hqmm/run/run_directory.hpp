// A run directory: config.json (what to do, written first), history.jsonl (a line per epoch),
// checkpoint.h5 (all that is needed to resume) and whatever a run adds.
//
// The checkpoint before the last is kept as well, in checkpoint-before.h5: a run whose last one is
// damaged continues from there.
//
// Every file but the history is replaced whole. The history is appended to; when a run resumes from
// a checkpoint, lines beyond it are dropped and written again.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "hqmm/learn/trainer.hpp"

namespace hqmm::detail {

class RunDirectory {
 public:
  /// A new run with this JSON as its configuration. Throws kUsage when the folder holds one
  /// already, kCannotWrite when it cannot be made.
  static RunDirectory create(const std::string& path, const std::string& config);
  /// A run to resume. Throws kNoInput when there is none.
  static RunDirectory open(const std::string& path);

  /// What config.json holds: JSON, always an object.
  [[nodiscard]] const std::string& config() const noexcept { return config_; }
  [[nodiscard]] std::string file(const std::string& name) const;
  /// Of config.json: what is kept beside it says which run it belongs to.
  [[nodiscard]] std::string fingerprint() const;

  /// Throws kUsage when a file of the run is a link: a folder from someone else must not choose
  /// what is overwritten outside of it.
  void require_own_files() const;

  /// Writes the whole line or nothing.
  void append(const EpochRecord& record) const;
  void save(const Checkpoint& checkpoint) const;
  /// The last checkpoint, if there is one yet, or where that is damaged the one before, which is
  /// noted; drops the history beyond it. Throws kBadData when both are damaged or of another run.
  [[nodiscard]] std::optional<Checkpoint> checkpoint(
      const std::function<void(const std::string&)>& on_note = {});
  /// The next resume begins at the beginning.
  void remove_checkpoints() const;

 private:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}
  void keep_history_up_to(const Checkpoint& checkpoint) const;
  [[nodiscard]] Checkpoint read_checkpoint(const char* name) const;
  [[nodiscard]] Checkpoint newest_checkpoint(
      const std::function<void(const std::string&)>& on_note) const;

  std::string path_;
  std::string config_;
};

/// A hash of the values, however they are written.
[[nodiscard]] std::string fingerprint_of(const nlohmann::json& json);

/// Throws kUsage for a link, as require_own_files() does.
void require_no_link(const std::string& path);

/// Makes the folder of a run, and those above it. False when it was there. Throws kCannotWrite.
bool make_run_folder(const std::string& path);

/// A folder that holds a config.json.
[[nodiscard]] bool is_run_directory(const std::string& path);

}  // namespace hqmm::detail

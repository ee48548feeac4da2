// The file that an atomic write fills beside its target, .hqmm-PID-COUNT.tmp, and what a kill
// leaves of such files.
//
// A writer holds flock() on its file from the first moment to the last. A process that gets the
// lock therefore knows that the writer has ended, even on another host or in another container.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hqmm/core/error.hpp"
#include "hqmm/io/descriptor.hpp"

namespace hqmm::detail {

/// "cannot be written: No space left on device", with errno as the reason.
[[nodiscard]] Error cannot_write(const std::string& path, int reason);

/// A new file, removed again unless it takes the target's place. Errors are kCannotWrite and name
/// `target` as the user does.
class TemporaryFile {
 public:
  /// `replaced`: the file whose permissions it gets; without one those that the umask grants.
  TemporaryFile(const std::filesystem::path& folder, std::string target,
                const struct stat* replaced);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view bytes);
  /// Everything is on the disk: nothing more can be written.
  void seal();
  void move_to(const std::filesystem::path& target);
  /// Where it is; empty once it has moved.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  /// False: the name is taken, or a cleaner was faster.
  bool try_name(const std::filesystem::path& path, mode_t mode);
  void check(int reason) const;

  std::string target_;
  std::filesystem::path path_;
  Descriptor file_;
  std::optional<mode_t> mode_;  // of the file it replaces
};

/// Removes the temporary files in a folder that no living process writes. Where the file system has
/// no flock() they stay. Never throws: what cannot be removed stays too.
void remove_leftovers(const std::filesystem::path& folder);

}  // namespace hqmm::detail

// What a command gives to the user: text on stdout or in a file, JSON as text.
#pragma once

#include <exception>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "support/internals.hpp"

namespace hqmm::cli {

struct CommonOptions;

/// The reader of our stdout has gone, as `head` does. Programs end quietly then.
class ClosedPipe : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stdout is a closed pipe"; }
};

/// What people read is made harmless for their terminal. What programs read is left as it is,
/// unless it goes to a terminal.
enum class Readers { kPeople, kPrograms };
/// JSON and TSV are for programs, what is written otherwise for people.
[[nodiscard]] Readers readers_of(const CommonOptions& common);

/// Text for the user: on stdout, or in a file that appears whole when finish() is called. Throws
/// kCannotWrite, and ClosedPipe.
class Output {
 public:
  explicit Output(Readers readers, const std::string& path = {});
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  void write(std::string_view text);
  void flush();
  void finish();

 private:
  struct File;
  void write_bytes(std::string_view bytes);

  std::unique_ptr<File> file_;  // none: stdout
  bool escape_;
};

/// Waits until the descriptor has bytes or has ended (true), or the time is over or a signal comes
/// (false); without a descriptor (-1) for the time only. Throws ClosedPipe as soon as nobody reads
/// our stdout.
[[nodiscard]] bool wait_for_bytes(int descriptor, int milliseconds);

/// Throws kCannotWrite. Found out before hours of training, not after.
void require_writable_place(const std::string& path);

[[nodiscard]] std::string dump(const nlohmann::ordered_json& json);
/// The same in one line, without its end.
[[nodiscard]] std::string dump_line(const nlohmann::ordered_json& json);

}  // namespace hqmm::cli

// Errors: anything an input, an option or the outside world can cause is an Error with a code, one
// line of text and the place it came from. A bug is an assertion, never an Error.
//
// The code *is* the exit status of the command line; there is no second table. A message names the
// options it is about by their ids; what people call them depends on where they gave them.
// core/fail.hpp is how the library makes errors.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "hqmm/core/export.hpp"

namespace HQMM_API hqmm {

enum class ErrorCode : int {
  kUsage = 2,         // wrong option or argument
  kDiverged = 3,      // training diverged; what was best is saved
  kBadData = 65,      // an input's content is wrong
  kNoInput = 66,      // an input is missing or unreadable
  kInternal = 70,     // a bug of ours
  kCannotWrite = 73,  // an output cannot be written
  kInterrupted = 130  // Ctrl-C or SIGTERM; checkpoint saved
};

/// Where in an input an error lies: Where{.file = path, .line = 3}. Unset fields are not printed; a
/// column only after its line.
struct Where {
  std::string file{};                     // as the user named it; "-" prints as "stdin"
  std::optional<std::uint64_t> line{};    // 1-based
  std::optional<std::uint64_t> column{};  // 1-based, in bytes
  std::optional<std::uint64_t> byte{};    // 0-based offset, for binary formats
  std::string item{};                     // dataset, attribute, variable, record…

  /// "data.txt:3:17", "model.h5: dataset 'kraus'", "x.npy: byte 10"; without a file "line 3:17".
  [[nodiscard]] std::string text() const;
};

/// What an option is called where people meet it; the value is empty when none is named.
using OptionNames = std::function<std::string(std::string_view id, std::string_view value)>;
/// Situations that a face of the library may have advice on.
enum class Situation {
  kPlain,
  kClassifierFile,  // a model was expected in where().file
  kRunExists,       // a new run was to be kept in where().file
};

/// A plain value: any number of threads may read it at a time.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string marked, Where where = {});

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const Where& where() const noexcept { return where_; }
  [[nodiscard]] Situation situation() const noexcept { return situation_; }
  /// One line: the place, then the message.
  [[nodiscard]] const char* what() const noexcept override { return line_.c_str(); }
  /// The same line in the words of a face.
  [[nodiscard]] std::string text(const OptionNames& names) const;
  /// The message with the marks of its options: what another message is made of.
  [[nodiscard]] const std::string& marked() const noexcept { return marked_; }

  /// The same error at another place; with another code.
  [[nodiscard]] Error at(Where where) const;
  [[nodiscard]] Error as(ErrorCode code) const;
  [[nodiscard]] Error in(Situation situation) const;

 private:
  ErrorCode code_;
  Situation situation_ = Situation::kPlain;
  std::string marked_;
  std::string message_;
  Where where_;
  std::string line_;
};

}  // namespace hqmm

// Input: a ByteSource whose first bytes can be looked at before they are read (to tell the format
// and to guess an alphabet), and the lines of one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/byte_source.hpp"

namespace hqmm::detail {

class Input {
 public:
  static constexpr std::size_t kHeadSize = 256 * 1024;

  /// Opens the path and waits for its head.
  explicit Input(const std::string& path, std::optional<double> max_ratio = {},
                 std::shared_ptr<MemoryBudget> budget = nullptr);

  [[nodiscard]] const std::string& name() const noexcept { return source_.name(); }
  /// The first kHeadSize bytes, or everything when there is less.
  [[nodiscard]] std::string_view head() const noexcept { return head_; }
  /// Whether head() is the whole input.
  [[nodiscard]] bool head_is_all() const noexcept { return head_.size() < kHeadSize; }

  /// The next block of bytes, from the first on; empty at the end. Valid until the next call.
  std::string_view next_block();
  /// Everything that next_block() has not given yet, for formats with random access.
  std::string rest();

  /// An empty set for what is read, within the budget.
  [[nodiscard]] SequenceSet new_set(Alphabet alphabet = {}) const;

  [[nodiscard]] Where at(std::uint64_t line, std::uint64_t column) const {
    return Where{.file = name(), .line = line, .column = column};
  }

 private:
  ByteSource source_;
  std::shared_ptr<MemoryBudget> budget_;
  std::string head_;
  bool head_given_ = false;
  std::vector<char> buffer_;
};

/// The lines of an input, without "\n" or "\r\n" and without a byte-order mark.
class LineReader {
 public:
  explicit LineReader(Input& input) : input_(&input) {}
  /// False at the end.
  bool next(std::string& line);
  /// 1-based number of the line last read.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

 private:
  Input* input_;
  std::string_view block_;
  std::uint64_t number_ = 0;
};

/// The lines of a head, without a byte-order mark. The last one may have been cut by the head's
/// end; it is there when it is the only one, or when cut lines are wanted.
enum class CutLine { kLeaveOut, kKeep };
[[nodiscard]] std::vector<std::string_view> head_lines(const Input& input, CutLine cut);

/// Throws kBadData for a name or class that cannot be one: longer than 64 KiB.
void require_name_length(std::string_view name, const Where& where);

/// Without blanks and tabs at either end.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// What an HDF5 file begins with.
inline constexpr std::string_view kHdf5Magic = "\x89HDF\r\n\x1A\n";
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace hqmm::detail

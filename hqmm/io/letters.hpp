// Letters: what one byte of an unseparated sequence ("ACGT") means, as a table, and which
// biological alphabet a file's letters look like. Shared by every format that holds letters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

class LetterTable {
 public:
  // Codes that are not symbols. A single-letter alphabet has fewer than 224 symbols, so they are
  // free.
  static constexpr std::uint8_t kMissingCode = SymbolBlock::kMissingByte;
  static constexpr std::uint8_t kSkip = 0xFE;  // blank or tab
  static constexpr std::uint8_t kStop = 0xFD;  // anything that needs a decision: see judge()

  /// For alphabets with single_letters(). Ambiguity codes are missing symbols or sets in the table
  /// itself when that is the policy, and stop otherwise.
  LetterTable(const Alphabet& alphabet, Ambiguous ambiguous);

  [[nodiscard]] std::uint8_t operator[](char letter) const noexcept {
    return codes_[static_cast<unsigned char>(letter)];
  }
  /// Appends the letters of text to the open sequence up to the first that stops; how many bytes
  /// that took. The inner loop of every reader of letters.
  std::size_t append_run(std::string_view text, SymbolBlock& block) const;

 private:
  std::array<std::uint8_t, 256> codes_{};
};

/// The error for a byte that no letter of the alphabet is: says what it is and what was expected.
[[nodiscard]] Error bad_letter(char letter, const Alphabet& alphabet, Where where);
/// The error for an ambiguity code under Ambiguous::kError.
[[nodiscard]] Error ambiguous_letter(char letter, const Alphabet& alphabet, Where where);
/// Throws kBadData when a format of letters is read with an alphabet of numbers or long tokens.
void require_letters(const Alphabet& alphabet, std::string_view format, const std::string& file);

/// Counts letters to distinguish DNA, RNA and protein.
class LetterCensus {
 public:
  static constexpr std::size_t kEnough = 64 * 1024;

  void add(std::string_view text);
  [[nodiscard]] bool enough() const noexcept { return letters_ >= kEnough; }
  [[nodiscard]] std::size_t letters() const noexcept { return letters_; }
  /// At least 90 % of ACGTUN.
  [[nodiscard]] bool nucleotides() const noexcept { return 10 * acgtun_ >= 9 * letters_; }
  /// dna or rna when nucleotides(), else protein.
  [[nodiscard]] Alphabet guess() const;

 private:
  std::size_t letters_ = 0, acgtun_ = 0, t_ = 0, u_ = 0;
};

/// A sequence set without the sequences named (ascending): those an ambiguity code has ruled out.
[[nodiscard]] SequenceSet without(SequenceSet set, const std::vector<std::uint32_t>& dropped);

}  // namespace hqmm::detail

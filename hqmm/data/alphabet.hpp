// Alphabet: the symbols of a data set, in order, and how each is written.
//
// The token "?" is the missing symbol in every alphabet and never a member of an alphabet.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/core/types.hpp"

namespace HQMM_API hqmm {

/// A plain value: any number of threads may read it at a time.
class Alphabet {
 public:
  enum class Kind { kIntegers, kDna, kRna, kProtein, kTokens };

  Alphabet() : Alphabet(integers(0)) {}
  /// Symbols written 0 .. size−1.
  static Alphabet integers(std::size_t size);
  static Alphabet dna();      // A C G T   (U reads as T)
  static Alphabet rna();      // A C G U   (T reads as U)
  static Alphabet protein();  // the 20 amino acids, ordered by letter
  /// Distinct non-empty tokens without blanks, commas or '#'; throws kUsage naming the bad one.
  static Alphabet tokens(std::vector<std::string> tokens);
  /// "dna", "rna", "protein", a count ("6") or a comma list ("a,b,c").
  static Alphabet parse(std::string_view text);
  /// The alphabet with these tokens: recognises the built-in ones.
  static Alphabet from_tokens(std::vector<std::string> tokens);

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// A set is written by its letter.
  [[nodiscard]] std::string token(Symbol symbol) const;
  [[nodiscard]] std::vector<std::string> all_tokens() const;
  /// The symbol a token stands for; kMissing for "?"; nothing when it is not of this alphabet.
  [[nodiscard]] std::optional<Symbol> find(std::string_view token) const;
  /// Every token is one byte long, so sequences may be written without separators ("ACGT").
  [[nodiscard]] bool single_letters() const noexcept { return single_letters_; }
  /// The symbol of one byte, in single-letter alphabets.
  [[nodiscard]] std::optional<Symbol> find_letter(char letter) const noexcept;
  /// A letter that stands for several symbols of a biological alphabet (N, R, Y, X, B, …), or a
  /// gap.
  [[nodiscard]] bool is_ambiguity_code(char letter) const noexcept;
  /// The number of the symbols that an ambiguity code of either case stands for (R, Y, …, see
  /// symbol_sets.hpp); nothing for N, X and gaps, which can be any symbol.
  [[nodiscard]] std::optional<Symbol> set_of(char letter) const noexcept;
  /// One of this alphabet's symbols or sets, or missing.
  [[nodiscard]] bool knows(Symbol symbol) const noexcept;
  /// For messages: "integers 0..5", "dna (A C G T)", "tokens a b c".
  [[nodiscard]] std::string description() const;

  friend bool operator==(const Alphabet& a, const Alphabet& b) {
    return a.size_ == b.size_ && a.tokens_ == b.tokens_;
  }

 private:
  Alphabet(Kind kind, std::size_t size, std::vector<std::string> tokens);
  void map_letter(char letter, Symbol symbol);
  [[nodiscard]] std::string_view set_letters() const noexcept;

  Kind kind_ = Kind::kIntegers;
  std::size_t size_ = 0;
  std::vector<std::string> tokens_;  // empty for integers
  std::map<std::string, Symbol, std::less<>> index_;
  bool single_letters_ = false;
  std::array<Symbol, 256> letters_{};  // kNoLetter where there is none
};

}  // namespace hqmm

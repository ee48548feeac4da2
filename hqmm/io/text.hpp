// The text format: one sequence per line, symbols separated by blanks, tabs or commas, '?' missing,
// '#' to the end of the line a comment.
//
// TextDecoder is fed with bytes as they come, in pieces of any size, and never holds more text than
// one token. Reading a file, reading the sequence field of a labelled line and following a live
// stream are the same code.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/input.hpp"
#include "hqmm/io/letters.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

/// With a single-letter alphabet every byte is a symbol and "ACGT" equals "A C G T";
/// otherwise a symbol is complete when the blank, comma or newline after it arrives. Without an
/// alphabet symbols are integers. Errors are kBadData with line and column; everything before
/// them has been decoded.
class TextDecoder {
  struct IgnoreUnknown {
    void operator()(std::string_view /*token*/) const {}
  };

 public:
  TextDecoder(std::string file, std::optional<Alphabet> alphabet,
              Ambiguous ambiguous = Ambiguous::kAsMissing);

  /// From now on a token that is not a symbol of the alphabet is not an error: it becomes a missing
  /// symbol, and streams can tell it from one.
  void keep_unknown() { keeps_unknown_ = true; }

  /// Appends the symbols and closes the sequences that these bytes complete.
  void feed(std::string_view bytes, SequenceSet& out);
  /// The end of the input: completes the last token and the last line.
  void finish(SequenceSet& out);

  /// The same as events, in order, for streams: on_symbol(Symbol), on_end_of_sequence(), and
  /// on_unknown(token) in place of a symbol for what keep_unknown() lets through. When the bytes
  /// hold an error, the events before it come first. (A stream cannot take symbols back:
  /// under Ambiguous::kDrop only the rest of the sequence is left out.)
  template <typename OnSymbol, typename OnEnd, typename OnUnknown = IgnoreUnknown>
  void feed(std::string_view bytes, OnSymbol on_symbol, OnEnd on_end_of_sequence,
            OnUnknown on_unknown = {}) {
    replay([&](SequenceSet& found) { feed(bytes, found); }, on_symbol, on_end_of_sequence,
           on_unknown);
  }
  template <typename OnSymbol, typename OnEnd, typename OnUnknown = IgnoreUnknown>
  void finish(OnSymbol on_symbol, OnEnd on_end_of_sequence, OnUnknown on_unknown = {}) {
    replay([&](SequenceSet& found) { finish(found); }, on_symbol, on_end_of_sequence, on_unknown);
  }

  /// Appends the symbols of a piece of a line to the open sequence, which stays open. False when an
  /// ambiguity code rules the sequence out (Ambiguous::kDrop).
  bool decode_field(std::string_view field, std::uint64_t line, std::uint64_t column,
                    SequenceSet& out);

  /// The alphabet given, or the integers up to the largest one seen.
  [[nodiscard]] Alphabet alphabet() const;
  /// Indices of the sequences that an ambiguity code rules out.
  [[nodiscard]] const std::vector<std::uint32_t>& dropped() const noexcept { return dropped_; }

 private:
  struct Unknown {
    std::size_t at;  // among the symbols that are decoded in one go
    std::string token;
  };

  template <typename Decode, typename OnSymbol, typename OnEnd, typename OnUnknown>
  void replay(Decode decode, OnSymbol& on_symbol, OnEnd& on_end, OnUnknown& on_unknown) {
    SequenceSet found;
    unknown_.clear();
    std::exception_ptr failure;
    try {
      decode(found);
    } catch (const Error&) {
      failure = std::current_exception();
    }
    std::size_t sequence = 0;
    auto unknown = unknown_.begin();
    for (std::size_t i = 0; i <= found.symbols().size(); ++i) {
      for (; sequence < found.size() && found.offsets()[sequence + 1] == i; ++sequence) on_end();
      if (i == found.symbols().size()) break;
      if (unknown != unknown_.end() && unknown->at == i) {
        on_unknown(std::string_view(unknown++->token));
      } else {
        on_symbol(found.symbols()[i]);
      }
    }
    if (failure) std::rethrow_exception(failure);
  }

  const char* fast_run(const char* p, const char* end, SequenceSet& out);
  const char* digit_run(const char* p, const char* end, SequenceSet& out);
  void step(char byte, SequenceSet& out);
  void take_letter(char letter, SequenceSet& out);
  void take_token_byte(char byte);
  void end_token(SequenceSet& out);
  void end_line(SequenceSet& out);
  void begin_symbol();
  [[nodiscard]] bool comma_out_of_place() const noexcept {
    return commas_ > 1 || (commas_ == 1 && !line_has_symbols_);
  }
  void take_unknown(std::string token, SequenceSet& out);
  [[nodiscard]] std::optional<Symbol> symbol_of_token();
  [[nodiscard]] std::optional<Symbol> integer_symbol();
  [[nodiscard]] Error bad_token() const;
  [[nodiscard]] Where here() const { return at(position_); }
  [[nodiscard]] Where at(std::uint64_t position) const;

  std::string file_;
  std::optional<Alphabet> alphabet_;
  Ambiguous ambiguous_;
  std::optional<LetterTable> letters_;  // for single-letter alphabets
  unsigned digit_limit_ = 10;           // single digits below it are symbols
  std::size_t token_limit_ = 0;         // a longer token is an error before it is complete
  std::optional<Symbol> largest_;       // integer seen, without an alphabet

  std::uint64_t position_ = 0;  // of the byte being looked at
  std::uint64_t line_ = 1;
  std::uint64_t line_start_ = 0;  // position of the line's first byte
  std::string token_;
  std::uint64_t token_start_ = 0;
  std::uint64_t commas_ = 0;  // since the last symbol of the line
  bool line_has_symbols_ = false;
  bool in_comment_ = false;
  bool carriage_return_ = false;  // the last byte was one
  bool dropping_ = false;         // the rest of the sequence is left out
  std::vector<std::uint32_t> dropped_;
  bool keeps_unknown_ = false;
  std::vector<Unknown> unknown_;
};

/// The text format from wherever the input stands.
[[nodiscard]] SequenceSet read_text(Input& input, const ReadOptions& options);

}  // namespace hqmm::detail

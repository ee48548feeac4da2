// Writing FASTA.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr std::size_t kLineWidth = 60;

/// The letter of a missing symbol: what any tool takes for "any of them".
char letter_of_missing(const Alphabet& alphabet) {
  switch (alphabet.kind()) {
    case Alphabet::Kind::kDna:
    case Alphabet::Kind::kRna:
      return 'N';
    case Alphabet::Kind::kProtein:
      return 'X';
    default:
      return '?';
  }
}

std::string letters_for_fasta(const Alphabet& alphabet) {
  if (!alphabet.single_letters()) {
    throw fail(ErrorCode::kUsage, "FASTA holds letters, but the alphabet is {}",
               alphabet.description());
  }
  std::string out;
  for (const std::string& token : alphabet.all_tokens()) out += token;
  // A line that begins so is a record's name, or a comment.
  if (const std::size_t at = out.find_first_of(">;"); at != std::string::npos) {
    throw fail(ErrorCode::kUsage, "FASTA cannot hold the symbol '{}'", out[at]);
  }
  return out;
}

/// Names end at the first blank.
std::string one_word(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte == 0x7F;
      },
      '_');
  return name;
}

std::string words(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return text;
}

}  // namespace

std::string to_fasta(const SequenceSet& set, std::size_t first_number) {
  const std::string letters = letters_for_fasta(set.alphabet());
  const char missing = letter_of_missing(set.alphabet());
  std::string out;
  out.reserve(set.symbol_count() + set.symbol_count() / kLineWidth + 16 * set.size());
  for (std::size_t i = 0; i < set.size(); ++i) {
    const bool has_name = set.named() && !set.name(i).empty();
    out += '>';
    out += has_name ? one_word(set.name(i)) : fmt::format("sequence{}", first_number + i);
    if (set.labelled() && set.label(i) != SequenceSet::kNoLabel)
      out += " class=" + words(set.classes()[set.label(i)]);
    const SequenceView sequence = set[i];
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      if (t % kLineWidth == 0) out += '\n';
      const Symbol symbol = sequence[t];
      if (symbol < letters.size()) {
        out += letters[symbol];
      } else {
        out += symbol == kMissing ? missing : set.alphabet().token(symbol).front();
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace hqmm

#include "hqmm/io/letters.hpp"

#include <cctype>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {

LetterTable::LetterTable(const Alphabet& alphabet, Ambiguous ambiguous) {
  for (int byte = 0; byte < 256; ++byte) {
    const char letter = static_cast<char>(byte);
    auto& code = codes_[static_cast<std::size_t>(byte)];
    code = kStop;
    if (letter == ' ' || letter == '\t') {
      code = kSkip;
    } else if (const auto symbol = alphabet.find_letter(letter)) {
      code = static_cast<std::uint8_t>(*symbol);  // kMissing becomes kMissingCode
    } else if (ambiguous == Ambiguous::kAsSet && alphabet.set_of(letter)) {
      code = static_cast<std::uint8_t>(*alphabet.set_of(letter));
    } else if ((ambiguous == Ambiguous::kAsMissing || ambiguous == Ambiguous::kAsSet) &&
               alphabet.is_ambiguity_code(letter)) {
      code = kMissingCode;
    }
  }
}

std::size_t LetterTable::append_run(std::string_view text, SymbolBlock& block) const {
  std::uint8_t* const to = block.reserve_bytes(text.size());
  std::size_t written = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const std::uint8_t code = (*this)[text[i]];
    if (code == kStop) break;
    to[written] = code;
    written += code != kSkip;
  }
  block.commit(written);
  return i;
}

Error bad_letter(char letter, const Alphabet& alphabet, Where where) {
  const auto byte = static_cast<unsigned char>(letter);
  if (byte < 0x20 || byte >= 0x7F) {
    return fail(ErrorCode::kBadData, std::move(where),
                "byte 0x{:02x} is not a symbol of the alphabet {}: is this a text file?", byte,
                alphabet.description());
  }
  return fail(ErrorCode::kBadData, std::move(where), "'{}' is not a symbol of the alphabet {}{}",
              letter, alphabet.description(),
              std::isdigit(byte) != 0 ? "; numbers need an alphabet of integers" : "");
}

Error ambiguous_letter(char letter, const Alphabet& alphabet, Where where) {
  return fail(ErrorCode::kBadData, std::move(where),
              "'{}' is an ambiguity code of the alphabet {}; {}, set or drop accepts it", letter,
              alphabet.description(), option("ambiguous", "missing"));
}

void require_letters(const Alphabet& alphabet, std::string_view format, const std::string& file) {
  if (alphabet.single_letters()) return;
  throw fail(ErrorCode::kBadData, Where{.file = file}, "{} holds letters, but the alphabet is {}",
             format, alphabet.description());
}

void LetterCensus::add(std::string_view text) {
  for (const char c : text) {
    const int letter = std::toupper(static_cast<unsigned char>(c));
    if (std::isalpha(letter) == 0) continue;
    ++letters_;
    t_ += letter == 'T';
    u_ += letter == 'U';
    acgtun_ += std::string_view("ACGTUN").find(static_cast<char>(letter)) != std::string_view::npos;
  }
}

Alphabet LetterCensus::guess() const {
  if (!nucleotides()) return Alphabet::protein();
  return u_ > 0 && t_ == 0 ? Alphabet::rna() : Alphabet::dna();
}

SequenceSet without(SequenceSet set, const std::vector<std::uint32_t>& dropped) {
  if (dropped.empty()) return set;
  std::vector<std::uint32_t> kept;
  kept.reserve(set.size() - dropped.size());
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    if (next < dropped.size() && dropped[next] == i) {
      ++next;
    } else {
      kept.push_back(i);
    }
  }
  return set.subset(kept);
}

}  // namespace hqmm::detail

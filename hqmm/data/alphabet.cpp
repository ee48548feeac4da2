#include "hqmm/data/alphabet.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/symbol_sets.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr Symbol kNoLetter = 0xFFFE;
constexpr std::string_view kDnaLetters = "ACGT";
constexpr std::string_view kRnaLetters = "ACGU";
constexpr std::string_view kProteinLetters = "ACDEFGHIKLMNPQRSTVWY";

std::vector<std::string> split_letters(std::string_view letters) {
  std::vector<std::string> out;
  for (const char c : letters) out.emplace_back(1, c);
  return out;
}

void require_size(std::size_t size) {
  if (size > kMaxAlphabet) {
    throw fail(ErrorCode::kUsage,
               "an alphabet of {} symbols is too large: at most {} are supported", size,
               kMaxAlphabet);
  }
}

}  // namespace

Alphabet::Alphabet(Kind kind, std::size_t size, std::vector<std::string> tokens)
    : kind_(kind), size_(size), tokens_(std::move(tokens)) {
  letters_.fill(kNoLetter);
  letters_[static_cast<unsigned char>('?')] = kMissing;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    index_.emplace(tokens_[i], static_cast<Symbol>(i));
  }
  single_letters_ = !tokens_.empty() && std::all_of(tokens_.begin(), tokens_.end(),
                                                    [](const auto& t) { return t.size() == 1; });
  if (single_letters_) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      letters_[static_cast<unsigned char>(tokens_[i][0])] = static_cast<Symbol>(i);
    }
  }
}

void Alphabet::map_letter(char letter, Symbol symbol) {
  letters_[static_cast<unsigned char>(letter)] = symbol;
  index_.emplace(std::string(1, letter), symbol);
}

Alphabet Alphabet::integers(std::size_t size) {
  require_size(size);
  return {Kind::kIntegers, size, {}};
}

Alphabet Alphabet::dna() {
  Alphabet out(Kind::kDna, kDnaLetters.size(), split_letters(kDnaLetters));
  for (const char c : kDnaLetters)
    out.map_letter(static_cast<char>(std::tolower(c)), out.letters_[c]);
  for (const char u : {'U', 'u'}) out.map_letter(u, out.letters_['T']);
  return out;
}

Alphabet Alphabet::rna() {
  Alphabet out(Kind::kRna, kRnaLetters.size(), split_letters(kRnaLetters));
  for (const char c : kRnaLetters)
    out.map_letter(static_cast<char>(std::tolower(c)), out.letters_[c]);
  for (const char t : {'T', 't'}) out.map_letter(t, out.letters_['U']);
  return out;
}

Alphabet Alphabet::protein() {
  Alphabet out(Kind::kProtein, kProteinLetters.size(), split_letters(kProteinLetters));
  for (const char c : kProteinLetters) {
    out.map_letter(static_cast<char>(std::tolower(c)), out.letters_[c]);
  }
  return out;
}

Alphabet Alphabet::tokens(std::vector<std::string> tokens) {
  require_size(tokens.size());
  std::map<std::string_view, std::size_t> seen;
  for (const std::string& token : tokens) {
    const bool writable = !token.empty() && token != "?" &&
                          std::none_of(token.begin(), token.end(), [](unsigned char c) {
                            return c <= ' ' || c == ',' || c == '#' || c == 0x7F;
                          });
    if (!writable) {
      throw fail(ErrorCode::kUsage,
                 "'{}' cannot be an alphabet token: tokens are not empty, "
                 "not '?', and hold no blank, comma or '#'",
                 printable(token));
    }
    if (++seen[token] > 1) {
      throw fail(ErrorCode::kUsage, "the alphabet names '{}' twice", printable(token));
    }
  }
  const std::size_t size = tokens.size();
  return {Kind::kTokens, size, std::move(tokens)};
}

Alphabet Alphabet::parse(std::string_view text) {
  if (text == "dna") return dna();
  if (text == "rna") return rna();
  if (text == "protein") return protein();
  std::size_t count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure == std::errc() && end == text.data() + text.size()) {
    if (count == 0) throw fail(ErrorCode::kUsage, "an alphabet needs at least one symbol");
    return integers(count);
  }
  if (text.find(',') == std::string_view::npos) {
    throw fail(ErrorCode::kUsage,
               "'{}' is not an alphabet: give dna, rna, protein, "
               "a number of symbols (6) or a list (a,b,c)",
               printable(text));
  }
  std::vector<std::string> list;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    list.emplace_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return from_tokens(std::move(list));
}

Alphabet Alphabet::from_tokens(std::vector<std::string> tokens) {
  for (const Alphabet& known : {dna(), rna(), protein()}) {
    if (known.tokens_ == tokens) return known;
  }
  Alphabet numbers = integers(tokens.size());
  if (numbers.all_tokens() == tokens) return numbers;
  return Alphabet::tokens(std::move(tokens));
}

std::string Alphabet::token(Symbol symbol) const {
  if (symbol == kMissing) return "?";
  if (symbol >= size_ && symbol - size_ < set_letters().size())
    return {set_letters()[symbol - size_]};
  return tokens_.empty() ? std::to_string(symbol) : tokens_.at(symbol);
}

std::vector<std::string> Alphabet::all_tokens() const {
  if (!tokens_.empty()) return tokens_;
  std::vector<std::string> out;
  out.reserve(size_);
  for (std::size_t i = 0; i < size_; ++i) out.push_back(std::to_string(i));
  return out;
}

std::optional<Symbol> Alphabet::find(std::string_view token) const {
  if (token == "?") return kMissing;
  if (kind_ == Kind::kIntegers) {
    std::size_t value = 0;
    const auto [end, failure] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (failure != std::errc() || end != token.data() + token.size() || value >= size_) return {};
    return static_cast<Symbol>(value);
  }
  const auto found = index_.find(token);
  if (found == index_.end()) return {};
  return found->second;
}

std::optional<Symbol> Alphabet::find_letter(char letter) const noexcept {
  const Symbol symbol = letters_[static_cast<unsigned char>(letter)];
  if (symbol == kNoLetter) return {};
  return symbol;
}

bool Alphabet::is_ambiguity_code(char letter) const noexcept {
  const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  switch (kind_) {
    case Kind::kDna:
    case Kind::kRna:
      return std::string_view("RYSWKMBDHVNX-.").find(upper) != std::string_view::npos;
    case Kind::kProtein:
      return std::string_view("BJOUXZ*-.").find(upper) != std::string_view::npos;
    default:
      return false;
  }
}

std::string_view Alphabet::set_letters() const noexcept {
  const bool biological = kind_ == Kind::kDna || kind_ == Kind::kRna || kind_ == Kind::kProtein;
  return biological ? detail::set_letters(size_) : std::string_view();
}

std::optional<Symbol> Alphabet::set_of(char letter) const noexcept {
  const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  const std::size_t found = set_letters().find(upper);
  if (found == std::string_view::npos) return {};
  return static_cast<Symbol>(size_ + found);
}

bool Alphabet::knows(Symbol symbol) const noexcept {
  return symbol < size_ + set_letters().size() || symbol == kMissing;
}

std::string Alphabet::description() const {
  if (kind_ == Kind::kIntegers) {
    return size_ == 0 ? "integers" : fmt::format("integers 0..{}", size_ - 1);
  }
  std::string list;
  const std::size_t shown = std::min<std::size_t>(tokens_.size(), 24);
  for (std::size_t i = 0; i < shown; ++i) list += (i ? " " : "") + printable(tokens_[i]);
  if (shown < tokens_.size()) list += fmt::format(" … {} in all", tokens_.size());
  switch (kind_) {
    case Kind::kDna:
      return "dna (" + list + ")";
    case Kind::kRna:
      return "rna (" + list + ")";
    case Kind::kProtein:
      return "protein (" + list + ")";
    default:
      return "tokens " + list;
  }
}

}  // namespace hqmm

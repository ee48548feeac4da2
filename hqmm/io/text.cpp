#include "hqmm/io/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/tokens.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kLongestInteger = 64;  // digits; leading zeros are allowed
constexpr std::uint64_t kLargestSymbol = kMaxAlphabet - 1;

bool is_separator(char c) { return c == ' ' || c == '\t' || c == ','; }

}  // namespace

TextDecoder::TextDecoder(std::string file, std::optional<Alphabet> alphabet, Ambiguous ambiguous)
    : file_(std::move(file)), alphabet_(std::move(alphabet)), ambiguous_(ambiguous) {
  token_limit_ = kLongestInteger;
  if (!alphabet_) return;
  if (alphabet_->single_letters()) {
    letters_.emplace(*alphabet_, ambiguous_);
  } else if (alphabet_->kind() == Alphabet::Kind::kIntegers) {
    digit_limit_ = static_cast<unsigned>(std::min<std::size_t>(alphabet_->size(), 10));
  } else {
    digit_limit_ = 0;  // digits may be tokens with a meaning of their own
    for (const std::string& token : alphabet_->all_tokens()) {
      token_limit_ = std::max(token_limit_, token.size());
    }
  }
}

void TextDecoder::feed(std::string_view bytes, SequenceSet& out) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  while (p != end) {
    const char* const before = p;
    if (in_comment_) {
      const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
      p = newline != nullptr ? static_cast<const char*>(newline) : end;
      in_comment_ = newline == nullptr;
    } else {
      p = fast_run(p, end, out);
    }
    position_ += static_cast<std::uint64_t>(p - before);
    if (p == end) break;
    step(*p++, out);
    ++position_;
  }
}

void TextDecoder::finish(SequenceSet& out) {
  end_token(out);
  end_line(out);
}

bool TextDecoder::decode_field(std::string_view field, std::uint64_t line, std::uint64_t column,
                               SequenceSet& out) {
  line_ = line;
  line_start_ = 0;
  position_ = column - 1;
  commas_ = 0;
  line_has_symbols_ = in_comment_ = carriage_return_ = dropping_ = false;
  feed(field, out);
  end_token(out);
  return !dropping_;
}

Alphabet TextDecoder::alphabet() const {
  if (alphabet_) return *alphabet_;
  return Alphabet::integers(largest_ ? std::size_t{*largest_} + 1 : 0);
}

/// Takes as many bytes as the tight loops can; the byte after them goes through step().
const char* TextDecoder::fast_run(const char* p, const char* end, SequenceSet& out) {
  if (carriage_return_ || dropping_ || comma_out_of_place() || !token_.empty()) return p;
  if (!letters_) return out.symbols().wide() ? p : digit_run(p, end, out);
  const std::size_t before = out.symbols().size();
  p += letters_->append_run({p, static_cast<std::size_t>(end - p)}, out.open_block());
  if (out.symbols().size() > before) {
    line_has_symbols_ = true;
    commas_ = 0;
  }
  return p;
}

/// "3 1 4 1 5 …": single digits, each with its separator, straight into the block.
const char* TextDecoder::digit_run(const char* p, const char* end, SequenceSet& out) {
  const char* const begin = p;
  SymbolBlock& block = out.open_block();
  std::uint8_t* const to = block.reserve_bytes(static_cast<std::size_t>(end - p) / 2);
  std::size_t count = 0;
  unsigned largest = 0;
  while (end - p >= 2) {
    const unsigned digit = static_cast<unsigned char>(*p) - unsigned{'0'};
    if (digit >= digit_limit_ || !is_separator(p[1])) break;
    to[count++] = static_cast<std::uint8_t>(digit);
    largest = std::max(largest, digit);
    p += 2;
  }
  if (p == begin) return p;
  block.commit(count);
  largest_ = std::max(largest_.value_or(0), static_cast<Symbol>(largest));
  line_has_symbols_ = true;
  commas_ = p[-1] == ',' ? 1 : 0;
  return p;
}

void TextDecoder::step(char byte, SequenceSet& out) {
  if (carriage_return_ && byte != '\n') {
    throw fail(ErrorCode::kBadData, here(), "there is a carriage return inside the line");
  }
  carriage_return_ = false;
  const auto code = static_cast<unsigned char>(byte);
  switch (byte) {
    case ',':
    case ' ':
    case '\t':
      end_token(out);
      commas_ += byte == ',';
      return;
    case '\n':
      end_token(out);
      end_line(out);
      return;
    case '\r':
      end_token(out);
      carriage_return_ = true;
      return;
    case '#':
      end_token(out);
      in_comment_ = true;
      return;
    default:
      break;
  }
  if (code < 0x20 || code == 0x7F) {
    throw fail(ErrorCode::kBadData, here(), "byte 0x{:02x} is not text: is this a binary file?",
               code);
  }
  if (letters_) {
    take_letter(byte, out);
  } else {
    take_token_byte(byte);
  }
}

/// Every symbol passes here or through fast_run: commas may separate symbols but not stand in for
/// one.
void TextDecoder::begin_symbol() {
  if (comma_out_of_place()) {
    throw fail(ErrorCode::kBadData, here(),
               "there is nothing between two commas; write ? for a missing symbol");
  }
  commas_ = 0;
  line_has_symbols_ = true;
}

void TextDecoder::take_letter(char letter, SequenceSet& out) {
  if (line_ == 1 && position_ < kByteOrderMark.size() && letter == kByteOrderMark[position_]) {
    line_start_ = position_ + 1;
    return;
  }
  begin_symbol();
  const std::uint8_t code = (*letters_)[letter];
  if (code != LetterTable::kStop) {
    if (!dropping_) out.push_back(code == LetterTable::kMissingCode ? kMissing : Symbol{code});
  } else if (!alphabet_->is_ambiguity_code(letter) && keeps_unknown_) {
    if (!dropping_) take_unknown(std::string(1, letter), out);
  } else if (!alphabet_->is_ambiguity_code(letter)) {
    throw bad_letter(letter, *alphabet_, here());
  } else if (ambiguous_ == Ambiguous::kError) {
    throw ambiguous_letter(letter, *alphabet_, here());
  } else {
    dropping_ = true;
  }
}

void TextDecoder::take_token_byte(char byte) {
  if (token_.empty()) {
    begin_symbol();
    token_start_ = position_;
  }
  if (token_.size() <= token_limit_) token_ += byte;
  if (token_start_ == 0 && line_ == 1 && token_ == kByteOrderMark) {
    token_.clear();
    line_start_ = kByteOrderMark.size();
    line_has_symbols_ = false;
  }
  if (token_.size() > token_limit_ && !keeps_unknown_) throw bad_token();
}

void TextDecoder::end_token(SequenceSet& out) {
  if (token_.empty()) return;
  if (const auto symbol = symbol_of_token()) {
    out.push_back(*symbol);
  } else if (keeps_unknown_) {
    take_unknown(token_, out);
  } else {
    throw bad_token();
  }
  token_.clear();
}

void TextDecoder::take_unknown(std::string token, SequenceSet& out) {
  unknown_.push_back({out.symbols().size(), std::move(token)});
  out.push_back(kMissing);
}

std::optional<Symbol> TextDecoder::symbol_of_token() {
  const bool named = alphabet_ && alphabet_->kind() != Alphabet::Kind::kIntegers;
  return named ? alphabet_->find(token_) : integer_symbol();
}

std::optional<Symbol> TextDecoder::integer_symbol() {
  if (token_ == "?") return kMissing;
  std::uint64_t value = 0;
  const char* const end = token_.data() + token_.size();
  const auto [stop, failure] = std::from_chars(token_.data(), end, value);
  if (failure != std::errc() || stop != end || value > kLargestSymbol) return {};
  if (alphabet_ && value >= alphabet_->size()) return {};
  const auto symbol = static_cast<Symbol>(value);
  largest_ = std::max(largest_.value_or(0), symbol);
  return symbol;
}

/// Says what is wrong with the token: the cases a user meets get a sentence each.
Error TextDecoder::bad_token() const {
  const std::string shown = printable(token_);
  const Where where = at(token_start_);
  const bool numbers = !alphabet_ || alphabet_->kind() == Alphabet::Kind::kIntegers;
  if (!numbers) {
    return fail(ErrorCode::kBadData, where, "'{}' is not a symbol of the alphabet {}", shown,
                alphabet_->description());
  }
  if (is_integer(token_) && !token_.starts_with('+')) {
    if (token_.starts_with('-')) {
      return fail(ErrorCode::kBadData, where, "symbol {} is negative; symbols start at 0", shown);
    }
    if (alphabet_) {
      return fail(ErrorCode::kBadData, where, "symbol {} is outside the alphabet ({})", shown,
                  alphabet_->description());
    }
    return fail(ErrorCode::kBadData, where, "symbol {} is too large: at most {} is supported",
                shown, kLargestSymbol);
  }
  if (alphabet_) {
    return fail(ErrorCode::kBadData, where, "expected a symbol of the alphabet ({}), found '{}'",
                alphabet_->description(), shown);
  }
  return fail(ErrorCode::kBadData, where,
              "expected an integer, found '{}'; name the symbols with {} or {}", shown,
              option("alphabet", "a,b,c"), option("alphabet", "dna"));
}

void TextDecoder::end_line(SequenceSet& out) {
  if (line_has_symbols_) {
    out.end_sequence();
    if (dropping_) dropped_.push_back(static_cast<std::uint32_t>(out.size() - 1));
  } else if (commas_ > 0) {
    throw fail(ErrorCode::kBadData, here(), "the line holds commas but no symbol");
  }
  ++line_;
  line_start_ = position_ + 1;
  commas_ = 0;
  line_has_symbols_ = in_comment_ = carriage_return_ = dropping_ = false;
}

Where TextDecoder::at(std::uint64_t position) const {
  return Where{.file = file_, .line = line_, .column = position - line_start_ + 1};
}

SequenceSet read_text(Input& input, const ReadOptions& options) {
  TextDecoder decoder(input.name(), options.alphabet, options.ambiguous);
  SequenceSet set = input.new_set();
  for (auto block = input.next_block(); !block.empty(); block = input.next_block()) {
    decoder.feed(block, set);
  }
  decoder.finish(set);
  set.set_alphabet(decoder.alphabet());
  return without(std::move(set), decoder.dropped());
}

namespace {

void require_writable_classes(const SequenceSet& set) {
  for (const std::string& name : set.classes()) {
    const bool same = !name.empty() && trimmed(name) == name &&
                      name.find_first_of("\t\r\n") == std::string::npos &&
                      !name.starts_with(kByteOrderMark);
    if (same) continue;
    throw fail(ErrorCode::kBadData,
               "the class '{}' cannot be written as text: a class must not be empty, begin or "
               "end with a blank, or hold a tab or a line break",
               printable(name));
  }
}

/// A byte-order mark is dropped by readers; of an alphabet of single bytes any part of it is.
void require_writable_start(const std::string& text, const Alphabet& alphabet) {
  const std::string_view mark =
      alphabet.single_letters() ? kByteOrderMark.substr(0, 1) : kByteOrderMark;
  if (!text.starts_with(mark)) return;
  throw fail(ErrorCode::kBadData,
             "the sequences cannot be written as text: "
             "their first symbol would be read as a byte-order mark");
}

}  // namespace

}  // namespace hqmm::detail

namespace hqmm {
using namespace detail;

std::string to_text(const SequenceSet& set) {
  const Alphabet& alphabet = set.alphabet();
  require_writable_classes(set);
  const std::vector<std::string> tokens = alphabet.all_tokens();
  std::string out;
  out.reserve(2 * set.symbol_count());
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set.labelled() && set.label(i) != SequenceSet::kNoLabel) {
      out += set.classes()[set.label(i)] + '\t';
    }
    const SequenceView sequence = set[i];
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      if (t > 0) out += ' ';
      const Symbol symbol = sequence[t];
      out += symbol < tokens.size() ? tokens[symbol] : alphabet.token(symbol);
    }
    out += '\n';
  }
  require_writable_start(out, alphabet);
  return out;
}

}  // namespace hqmm

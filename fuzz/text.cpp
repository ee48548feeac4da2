// The line formats, with every alphabet and option; gzip as well. What was read is written and read
// again or refused, and text that comes in pieces is read as if it came at once.
#include "hqmm/io/text.hpp"

#include <array>

#include "hqmm/io/sequences.hpp"
#include "target.hpp"

namespace hqmm::fuzz {
namespace {

ReadOptions text_options(std::string_view bytes) {
  constexpr std::array kFormats{Format::kAuto, Format::kText, Format::kLabelled,
                                Format::kUci,  Format::kCsv,  Format::kTsv};
  constexpr std::array kAlphabets{"", "dna", "6", "low,mid,high", "protein"};
  constexpr std::array kAmbiguous{Ambiguous::kAsMissing, Ambiguous::kDrop, Ambiguous::kError};
  constexpr std::array kColumns{"", "class", "0"};
  ReadOptions out;
  std::size_t rest = choice(bytes, 256);
  const auto one_of = [&rest](const auto& values) {
    const auto& value = values[rest % values.size()];
    rest /= values.size();
    return value;
  };
  out.format = one_of(kFormats);
  const std::string alphabet = one_of(kAlphabets);
  if (!alphabet.empty()) out.alphabet = Alphabet::parse(alphabet);
  out.ambiguous = one_of(kAmbiguous);
  out.label_column = one_of(kColumns);
  return out;
}

void require_same(const SequenceSet& a, const SequenceSet& b, const char* what) {
  if (to_text(a) != to_text(b)) bug(what);
}

void read_again(const SequenceSet& set) {
  const ReadOptions options{.format = set.labelled() ? Format::kLabelled : Format::kText,
                            .alphabet = set.alphabet()};
  std::string written;
  if (!read_or_refuse([&] { written = to_text(set); })) return;  // a class that text cannot hold
  require_same(set, read_sequences(path_of(written), options), "what was written reads otherwise");
}

void read_in_pieces(std::string_view bytes, const ReadOptions& options) {
  const auto decode = [&](std::size_t piece) {
    TextDecoder decoder("stdin", options.alphabet, options.ambiguous);
    SequenceSet out;
    read_or_refuse([&] {
      for (std::size_t at = 0; at < bytes.size(); at += piece)
        decoder.feed(bytes.substr(at, piece), out);
      decoder.finish(out);
      out.set_alphabet(decoder.alphabet());
    });
    return out.hash();  // of what came before an error, too
  };
  if (decode(bytes.size() + 1) != decode(3)) bug("pieces read otherwise than the whole");
}

}  // namespace

void text(std::string_view bytes) {
  const ReadOptions options = text_options(bytes);
  SequenceSet set;
  if (read_or_refuse([&] { set = read_sequences(path_of(bytes), options); })) read_again(set);
  if (options.format == Format::kText) read_in_pieces(bytes, options);
}

}  // namespace hqmm::fuzz

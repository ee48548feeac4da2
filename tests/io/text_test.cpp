#include "hqmm/io/text.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/io/sequences.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::expect_error;
using testing::symbols_of;
using testing::TemporaryFolder;

/// The format, read the slow and obvious way: one line, one token at a time.
std::vector<std::vector<Symbol>> naive(const std::string& text) {
  std::vector<std::vector<Symbol>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    for (char& c : line) c = c == ',' || c == '\r' ? ' ' : c;
    std::istringstream tokens(line);
    std::vector<Symbol> sequence;
    for (std::string token; tokens >> token;) {
      sequence.push_back(token == "?" ? kMissing : static_cast<Symbol>(std::stoul(token)));
    }
    if (!sequence.empty()) out.push_back(sequence);
  }
  return out;
}

std::string random_text(std::uint64_t largest, RandomStream& random) {
  std::string out;
  for (std::uint64_t line = random.below(20); line > 0; --line) {
    for (std::uint64_t t = random.below(40); t > 0; --t) {
      out += random.below(12) == 0 ? "?" : std::to_string(random.below(largest + 1));
      out += std::array{" ", ",", "\t", "  ", " , "}[random.below(5)];
    }
    out += std::array{"\n", "\r\n", "# 9,,9 \n", "\n\n"}[random.below(4)];
  }
  return out;
}

SequenceSet decode(const std::string& text, const std::vector<std::size_t>& cuts,
                   std::optional<Alphabet> alphabet = {}) {
  TextDecoder decoder("t", std::move(alphabet));
  SequenceSet set;
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    decoder.feed(std::string_view(text).substr(from, cut - from), set);
    from = cut;
  }
  decoder.feed(std::string_view(text).substr(from), set);
  decoder.finish(set);
  set.set_alphabet(decoder.alphabet());
  return set;
}

TEST(TextDecoder, EqualsTheNaiveReaderHoweverTheBytesAreCut) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    RandomStream random(1, Purpose::kTest, i);
    const std::string text = random_text(std::array{1, 9, 12, 254, 255, 65534}[i % 6], random);
    std::vector<std::size_t> cuts;
    for (int k = 0; k < 6; ++k) cuts.push_back(random.below(text.size() + 1));
    std::sort(cuts.begin(), cuts.end());
    ASSERT_EQ(symbols_of(decode(text, cuts)), naive(text)) << text;
    std::vector<std::size_t> everywhere(text.size());
    for (std::size_t k = 0; k < text.size(); ++k) everywhere[k] = k;
    ASSERT_EQ(symbols_of(decode(text, everywhere)), naive(text)) << text;
  }
}

TEST(TextDecoder, ReadsLettersWithAndWithoutSeparators) {
  const auto set = decode("ACGT\nA C,G\tT\nacgtuN-?\n", {2, 9}, Alphabet::dna());
  const std::vector<std::vector<Symbol>> expected{
      {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3, 3, kMissing, kMissing, kMissing}};
  EXPECT_EQ(symbols_of(set), expected);
  EXPECT_EQ(symbols_of(decode("xy\ny x\n", {}, Alphabet::parse("x,y"))),
            (std::vector<std::vector<Symbol>>{{0, 1}, {1, 0}}));
}

TEST(TextDecoder, GuessesTheSizeOfTheAlphabet) {
  EXPECT_EQ(decode("0 1 5", {}).alphabet(), Alphabet::integers(6));
  EXPECT_EQ(decode("0 12 5 ", {}).alphabet(), Alphabet::integers(13));
  EXPECT_EQ(decode("0 1", {}, Alphabet::integers(6)).alphabet(), Alphabet::integers(6));
}

TEST(TextDecoder, GivesEachSymbolAsSoonAsItsDelimiterArrives) {
  TextDecoder decoder("-", Alphabet::integers(6));
  std::string events;
  const auto symbol = [&](Symbol s) { events += s == kMissing ? "?" : std::to_string(s); };
  const auto end = [&] { events += "|"; };
  const auto feed = [&](std::string_view bytes) {
    events.clear();
    decoder.feed(bytes, symbol, end);
    return events;
  };
  EXPECT_EQ(feed("3"), "");
  EXPECT_EQ(feed(" "), "3");
  EXPECT_EQ(feed("1 ?"), "1");
  EXPECT_EQ(feed("\n"), "?|");
  EXPECT_EQ(feed("\n# comment\n"), "");
  EXPECT_EQ(feed("0 1\n2 3\n4"), "01|23|");
  events.clear();
  decoder.finish(symbol, end);
  EXPECT_EQ(events, "4|");
}

TEST(TextDecoder, GivesWhatCameBeforeAnError) {
  TextDecoder decoder("-", Alphabet::integers(3));
  std::string events;
  expect_error(
      ErrorCode::kBadData, "stdin:2:3: symbol 7 is outside the alphabet (integers 0..2)", [&] {
        decoder.feed(
            "0 1\n2 7 1\n", [&](Symbol s) { events += std::to_string(s); }, [&] { events += "|"; });
      });
  EXPECT_EQ(events, "01|2");
}

/// What a decoder that keeps unknown tokens makes of text that comes in pieces of one byte.
std::string events_with_unknown(const std::string& alphabet, const std::string& text) {
  TextDecoder decoder("x", Alphabet::parse(alphabet));
  decoder.keep_unknown();
  std::string events;
  const auto symbol = [&](Symbol s) { events += s == kMissing ? "?" : std::to_string(s); };
  const auto end = [&] { events += "|"; };
  const auto unknown = [&](std::string_view token) { events += "<" + std::string(token) + ">"; };
  for (const char byte : text) decoder.feed(std::string_view(&byte, 1), symbol, end, unknown);
  decoder.finish(symbol, end, unknown);
  std::string whole;
  std::swap(events, whole);
  TextDecoder again("x", Alphabet::parse(alphabet));
  again.keep_unknown();
  again.feed(text, symbol, end, unknown);
  again.finish(symbol, end, unknown);
  EXPECT_EQ(events, whole);
  return whole;
}

TEST(TextDecoder, KeepsUnknownTokensApartFromMissingSymbols) {
  EXPECT_EQ(events_with_unknown("open,read", "open exec ? read\nexec\n"), "0<exec>?1|<exec>|");
  EXPECT_EQ(events_with_unknown("4", "0 4 -1 x 3 ? 99999999999"), "0<4><-1><x>3?<99999999999>|");
  EXPECT_EQ(events_with_unknown("dna", "AC!GN\n"), "01<!>2?|");
  // no more than a little of an endless one is held, and the rest of it is read over
  EXPECT_EQ(events_with_unknown("open,read", "read " + std::string(1000, 'x') + " open"),
            "1<" + std::string(65, 'x') + ">0|");
  testing::expect_error(ErrorCode::kBadData, "is not text",
                        [] { events_with_unknown("open,read", "open \x01"); });
}

TEST(TextDecoder, NeverHoldsMoreThanAToken) {
  TextDecoder decoder("t", std::nullopt);
  SequenceSet set;
  expect_error(ErrorCode::kBadData, "t:1:1", [&] {
    for (int i = 0; i < 1000; ++i) decoder.feed("xxxxxxxxxx", set);
  });
}

TEST(TextDecoder, LeavesOutSequencesWithAmbiguityCodes) {
  const TemporaryFolder folder;
  ReadOptions options{.alphabet = Alphabet::dna(), .ambiguous = Ambiguous::kDrop};
  const std::string path = folder.write("x.txt", "ACGT\nACNT\nN\nGG\n");
  EXPECT_EQ(symbols_of(read_sequences(path, options)),
            (std::vector<std::vector<Symbol>>{{0, 1, 2, 3}, {2, 2}}));
  options.ambiguous = Ambiguous::kError;
  expect_error(ErrorCode::kBadData, "x.txt:2:3: 'N' is an ambiguity code",
               [&] { (void)read_sequences(path, options); });
  expect_error(ErrorCode::kBadData, "x.txt:1:1: 'A' is not a symbol of the alphabet tokens x y",
               [&] { (void)read_sequences(path, {.alphabet = Alphabet::parse("x,y")}); });
}

TEST(TextFormat, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  for (std::uint64_t i = 0; i < 40; ++i) {
    RandomStream random(2, Purpose::kTest, i);
    const Alphabet alphabet = std::array{Alphabet::integers(7), Alphabet::integers(400),
                                         Alphabet::dna(), Alphabet::parse("low,mid,high")}[i % 4];
    SequenceSet set(alphabet);
    for (std::uint64_t n = 1 + random.below(5); n > 0; --n) {
      // Two symbols at least: "0<TAB>1" alone may as well be a sequence of two.
      for (std::uint64_t t = 2 + random.below(30); t > 0; --t) {
        const auto symbol = static_cast<Symbol>(random.below(alphabet.size()));
        set.push_back(random.below(9) == 0 ? kMissing : symbol);
      }
      if (i % 2 == 0) {
        set.end_sequence();
      } else {
        set.end_sequence_labelled(std::to_string(random.below(3)));
      }
    }
    const std::string path = folder.write("x.txt", to_text(set));
    const SequenceSet back = read_sequences(path, {.alphabet = alphabet});
    ASSERT_EQ(symbols_of(back), symbols_of(set)) << to_text(set);
    ASSERT_EQ(testing::labels_of(back), testing::labels_of(set)) << to_text(set);
    ASSERT_EQ(back.hash(), set.hash());
  }
}

TEST(TextFormat, ReadsAcrossBlocks) {
  const TemporaryFolder folder;
  std::string text;
  SequenceSet expected(Alphabet::integers(10));
  RandomStream random(3, Purpose::kTest);
  while (text.size() < 3 * Input::kHeadSize) {
    const auto symbol = static_cast<Symbol>(random.below(10));
    const bool last = random.below(1000) == 0;
    text += std::to_string(symbol) + (last ? "\n" : " ");
    expected.push_back(symbol);
    if (last) expected.end_sequence();
  }
  text += "0\n";
  expected.push_back(0);
  expected.end_sequence();
  EXPECT_EQ(read_sequences(folder.write("x.txt", text)).hash(), expected.hash());
}

/// Whatever the classes are called, the text is read back as it was or is not written.
TEST(ToText, ClassesAreReadBackOrRefused) {
  const std::string bytes("a#>@;,?\" \t\n\r\0\x01\x7F\xC3\xA9\xEF\xBB\xBF", 21);
  const TemporaryFolder folder;
  std::size_t written = 0, refused = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    RandomStream random(41, Purpose::kTest, i);
    SequenceSet set(Alphabet::integers(3));
    for (int k = 0; k < 3; ++k) {
      for (int t = 0; t < 3; ++t) set.push_back(static_cast<Symbol>((k + t) % 3));
      std::string name;
      for (std::uint64_t c = random.below(4); c > 0; --c) name += bytes[random.below(bytes.size())];
      set.end_sequence_labelled(name);
    }
    std::string text;
    try {
      text = to_text(set);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadData);
      ++refused;
      continue;
    }
    ++written;
    ReadOptions options;
    options.format = Format::kLabelled;
    options.alphabet = set.alphabet();
    const SequenceSet back = read_sequences(folder.write("set.txt", text), options);
    EXPECT_EQ(testing::labels_of(back), testing::labels_of(set));
    EXPECT_EQ(testing::symbols_of(back), testing::symbols_of(set));
  }
  EXPECT_GT(written, 100U);
  EXPECT_GT(refused, 100U);
}

TEST(ToText, TokensAreReadBackOrRefused) {
  const TemporaryFolder folder;
  for (const std::string token :
       {"\xEF\xBB\xBF", "\xEF\xBB\xBFx", "\xEF", "\xEF\xBB", "\xE9", "x;"}) {
    for (const std::string other : {"b", "bb"}) {
      SCOPED_TRACE(printable(token) + " " + other);
      const SequenceSet set(Alphabet::tokens({token, other}), {{0, 1, 0}, {1, 0, 0}});
      ReadOptions options;
      options.format = Format::kText;
      options.alphabet = set.alphabet();
      try {
        const SequenceSet back = read_sequences(folder.write("set.txt", to_text(set)), options);
        EXPECT_EQ(testing::symbols_of(back), testing::symbols_of(set));
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("byte-order mark"), std::string::npos)
            << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace hqmm::detail

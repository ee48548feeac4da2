// Pieces add up to what is read whole.
#include "hqmm/io/sequence_stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

struct Streamed {
  std::vector<std::string> names;
  std::vector<std::vector<Symbol>> sequences;
  std::size_t most = 0;  // symbols of a piece
};

Streamed streamed(const std::string& path, const ReadOptions& options = {}) {
  Streamed out;
  bool open = false;
  stream_sequences(path, options, [&](const SequencePiece& piece) {
    if (!open) {
      out.names.push_back(piece.name);
      out.sequences.emplace_back();
    }
    EXPECT_EQ(piece.name, out.names.back());
    const std::vector<Symbol> symbols = piece.symbols.to_vector();
    out.most = std::max(out.most, symbols.size());
    out.sequences.back().insert(out.sequences.back().end(), symbols.begin(), symbols.end());
    open = !piece.ends;
  });
  EXPECT_FALSE(open);
  return out;
}

void expect_as_whole(const std::string& path, const ReadOptions& options = {}) {
  const SequenceSet whole = read_sequences(path, options);
  const Streamed found = streamed(path, options);
  ASSERT_EQ(found.sequences.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(found.sequences[i] == whole[i].to_vector()) << "record " << i;
    EXPECT_EQ(found.names[i], whole.named() ? whole.name(i) : std::to_string(i));
  }
}

std::string letters(std::size_t count, std::size_t seed) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += "ACGTN"[(i * i + seed) % 5];
    if (i % 61 == 60) out += '\n';
  }
  return out;
}

TEST(SequenceStream, RecordsOfAnyLength) {
  const testing::TemporaryFolder folder;
  for (const std::size_t length : {10UL, 262'100UL, 262'140UL, 262'144UL, 700'000UL}) {
    const std::string path = folder.write("a.fa", ">one first\n" + letters(length, 1) +
                                                      "\n>two\nacgt\n;comment\nAC\n>three x\r\n" +
                                                      letters(300'000, 2) + "\n");
    expect_as_whole(path);
    EXPECT_LE(streamed(path).most, 300'000U);
  }
}

TEST(SequenceStream, OtherFormatsAndRules) {
  const testing::TemporaryFolder folder;
  expect_as_whole(folder.write("a.txt", "0 1 2\n2 2\n"));
  expect_as_whole(folder.write("a.fq", "@r\nACGT\n+\nIIII\n@s\nGG\n+\nII\n"));
  ReadOptions drop;
  drop.ambiguous = Ambiguous::kDrop;
  expect_as_whole(folder.write("b.fa", ">a\nACGT\n>b\nACNT\n>c\nTT\n"), drop);
}

TEST(SequenceStream, ErrorsAreThoseOfAWholeReading) {
  const testing::TemporaryFolder folder;
  testing::expect_error(ErrorCode::kBadData, "b.fa:4:3", [&] {
    ReadOptions dna;
    dna.alphabet = Alphabet::dna();
    streamed(folder.write("b.fa", ">a\nACGT\n>b\nAC1T\n"), dna);
  });
}

}  // namespace
}  // namespace hqmm::detail

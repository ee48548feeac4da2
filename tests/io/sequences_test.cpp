#include "hqmm/io/sequences.hpp"
#include "hqmm/core/error.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::corpus;
using testing::expect_error;
using testing::labels_of;
using testing::symbols_of;
using testing::TemporaryFolder;

TEST(Sequences, FormatsHaveNames) {
  for (const char* name :
       {"auto", "text", "fasta", "fastq", "uci", "labelled", "csv", "tsv", "mat", "npy", "hdf5"}) {
    EXPECT_EQ(name_of(parse<Format>(name)), name);
  }
  expect_error(ErrorCode::kUsage, "'xml' is not a format: choose one of auto, text",
               [] { (void)parse<Format>("xml"); });
}

TEST(Sequences, MissingFilesAreNoInput) {
  const TemporaryFolder folder;
  expect_error(ErrorCode::kNoInput, "no such file",
               [&] { (void)read_sequences(folder.file("missing.txt")); });
  expect_error(ErrorCode::kNoInput, "is a directory",
               [&] { (void)read_sequences(folder.path().string()); });
}

TEST(Sequences, OptionsThatCannotBeHonouredAreWrongUsage) {
  const std::string text = corpus("good/integers.txt");
  expect_error(ErrorCode::kUsage, "label column", [&] {
    (void)read_sequences(text, {.format = Format::kText, .label_column = "class"});
  });
  expect_error(ErrorCode::kUsage, "variables",
               [&] { (void)read_sequences(text, {.variables = {"trn"}}); });
}

struct Detection {
  std::string text;
  std::string alphabet;  // "" for none
  bool labelled;
  std::size_t first_length;
};

TEST(Sequences, FormatIsToldByContent) {
  const TemporaryFolder folder;
  const std::vector<Detection> cases{
      {"0\t1\t2\n", "", false, 3},        // integers separated by TABs
      {"0\t1\n1\t0\n", "", false, 2},     // two symbols each
      {"0\t1 0\n1\t0\n", "", true, 2},    // other separators after one TAB: classes 0 and 1
      {"0 1\t2 0\n", "", false, 4},       // TAB among blanks
      {"x\t0\t1\n", "", true, 2},         // x is not a symbol
      {"a\tb\tc\n", "a,b,c", false, 3},   // but a is, here
      {"x\ta\tb\n", "a,b,c", true, 2},    // and x is not
      {"A\tACGTACGT\n", "dna", true, 8},  // unseparated letters after one TAB
      {"A C G T\n", "dna", false, 4},
      {"A, C, GATTACA\n", "dna", false, 9},  // explained by the alphabet as it stands
      {"EI, x1, GATTACA\n", "dna", true, 7},
      {"EI, x1, GATTACA\n", "", true, 7},
      {"a,b,c\n", "a,b,c", false, 3},
      {"> @ >\n", ">,@", false, 3},  // tokens that look like FASTA
      {">x\nACGT\n", "", false, 4},
  };
  for (const Detection& expected : cases) {
    SCOPED_TRACE(expected.text);
    ReadOptions options;
    if (!expected.alphabet.empty()) options.alphabet = Alphabet::parse(expected.alphabet);
    const SequenceSet set = read_sequences(folder.write("x", expected.text), options);
    EXPECT_EQ(set.labelled(), expected.labelled);
    EXPECT_EQ(set[0].size(), expected.first_length);
  }
  // Three words are not a UCI row: without an alphabet they are a mistake, not a protein.
  expect_error(ErrorCode::kBadData, "expected an integer, found 'sunny'",
               [&] { (void)read_sequences(folder.write("x", "sunny,rainy,sunny\n")); });
}

TEST(Sequences, FastaRecordsHaveNamesAndAmbiguityPolicies) {
  const SequenceSet set = read_sequences(corpus("odd/comments.fasta"));
  ASSERT_TRUE(set.named());
  EXPECT_EQ(set.name(0), "one");
  EXPECT_EQ(set.name(1), "two");
  const SequenceSet kept =
      read_sequences(corpus("odd/comments.fasta"), {.ambiguous = Ambiguous::kDrop});
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept.name(0), "one");
  expect_error(ErrorCode::kBadData, "comments.fasta:9:1: 'N' is an ambiguity code", [] {
    (void)read_sequences(corpus("odd/comments.fasta"), {.ambiguous = Ambiguous::kError});
  });
  EXPECT_EQ(read_sequences(corpus("good/reads.fastq"), {.ambiguous = Ambiguous::kDrop}).size(), 1U);
  const SequenceSet rows =
      read_sequences(corpus("good/splice.data"), {.ambiguous = Ambiguous::kDrop});
  EXPECT_EQ(labels_of(rows), (std::vector<std::string>{"EI", "N"}));
}

TEST(Sequences, CodesCanBeSetsInEveryFormatOfLetters) {
  const TemporaryFolder folder;
  const ReadOptions options{.alphabet = Alphabet::dna(), .ambiguous = Ambiguous::kAsSet};
  const std::vector<Symbol> expected{0, 4, 13, 3, kMissing, kMissing};  // A R V T N -
  const std::string text = folder.write("x.txt", "aRVtN-\n");
  const std::string fasta = folder.write("x.fa", ">one\nAr\nvTn-\n");
  const std::string fastq = folder.write("x.fq", "@one\nARVTN-\n+\n!!!!!!\n");
  const std::string uci = folder.write("x.data", "EI, one, ARVTN-\n");
  const std::string table = folder.write("x.csv", "class,sequence\nEI,ARVTN-\n");
  for (const std::string& path : {text, fasta, fastq, uci}) {
    SCOPED_TRACE(path);
    const SequenceSet set = read_sequences(path, options);
    EXPECT_EQ(set[0].to_vector(), expected);
    EXPECT_TRUE(set[0].has_sets(4));
  }
  ReadOptions of_table = options;
  of_table.label_column = "class";
  EXPECT_EQ(read_sequences(table, of_table)[0].to_vector(), expected);
  const SequenceSet set = read_sequences(fasta, options);
  EXPECT_EQ(to_fasta(set), ">one\nARVTNN\n");
  EXPECT_EQ(read_sequences(folder.write("y.txt", to_text(set)), options)[0].to_vector(), expected);
  EXPECT_NE(set.hash(), read_sequences(fasta, {.alphabet = Alphabet::dna()}).hash());
}

TEST(Sequences, LongFastaRecordsCrossBlocks) {
  const TemporaryFolder folder;
  std::string text = ">long\n";
  std::size_t letters = 0;
  while (text.size() < 700'000) {
    text += "ACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGTTGC\r\n";
    letters += 63;
  }
  const SequenceSet set = read_sequences(folder.write("x.fa", text + ">next\nA"));
  ASSERT_EQ(set.size(), 2U);
  EXPECT_EQ(set[0].size(), letters);
  std::string one_line = ">x\n" + std::string(600'000, 'U') + "\n";
  EXPECT_EQ(read_sequences(folder.write("y.fa", one_line)).alphabet(), Alphabet::rna());
}

TEST(Sequences, BaseOfIntegerMatricesCanBeGiven) {
  EXPECT_EQ(symbols_of(read_sequences(corpus("good/one.mat"), {.base = 0}))[0],
            (std::vector<Symbol>{1, 2, 3, 2}));
  expect_error(ErrorCode::kBadData, "row 1, column 1: 0 is below 1",
               [] { (void)read_sequences(corpus("good/int64.npy"), {.base = 1}); });
}

TEST(Sequences, MatlabReferenceEqualsText) {
  HQMM_SHARED_OR_SKIP(mat, "data/mat/synthetic_hmm_data.mat");
  HQMM_SHARED_OR_SKIP(text, "data/synthetic-hmm/train.txt");
  const SequenceSet from_mat = read_sequences(mat, {.variables = {"data.trn_data"}});
  const SequenceSet from_text = read_sequences(text);
  EXPECT_EQ(from_mat.size(), 20U);
  EXPECT_EQ(from_mat.hash(), from_text.hash());
}

TEST(Sequences, SpliceReferenceReads) {
  HQMM_SHARED_OR_SKIP(uci, "data/splice/splice.data");
  HQMM_SHARED_OR_SKIP(mat, "data/mat/splice_data.mat");
  const SequenceSet rows = read_sequences(uci);
  EXPECT_EQ(rows.size(), 3190U);
  EXPECT_EQ(rows.classes(), (std::vector<std::string>{"EI", "IE", "N"}));
  EXPECT_EQ(rows.longest(), 60U);
  const SequenceSet matrices =
      read_sequences(mat, {.variables = {"spliceei", "spliceie", "splicen"}});
  EXPECT_EQ(matrices.size(), 3175U);
  EXPECT_EQ(matrices.classes().size(), 3U);
  // The matrices leave out the rows with ambiguity codes.
  EXPECT_EQ(read_sequences(uci, {.ambiguous = Ambiguous::kDrop}).size(), 3175U);
}

}  // namespace
}  // namespace hqmm::detail

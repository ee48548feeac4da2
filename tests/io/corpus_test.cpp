// The corpus of good, odd and bad input files, each with what must come of it.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "hqmm/core/error.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/io/unpacker.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

namespace fs = std::filesystem;
using testing::contents;
using testing::corpus;

ReadOptions with_alphabet(const std::string& text) { return {.alphabet = Alphabet::parse(text)}; }
ReadOptions with_label(const std::string& column) { return {.label_column = column}; }
ReadOptions with_format(Format format) { return {.format = format}; }
ReadOptions with_variables(std::vector<std::string> names) {
  return {.variables = std::move(names)};
}

struct Accepted {
  std::string file;
  std::string text;  // as to_text() writes it, lines joined by '|'
  ReadOptions options = {};
};

const std::string kRows = "0 1 2 1|2 2 0 1|";

const std::vector<Accepted>& accepted() {
  static const std::vector<Accepted> files{
      {"good/integers.txt", kRows},
      {"good/commas.csv_like.txt", kRows},
      {"good/tabs.txt", kRows},
      {"good/tokens.txt", "low mid high mid|high high low mid|", with_alphabet("low,mid,high")},
      {"good/letters.txt", "A C G T|A C G T|", with_alphabet("dna")},
      {"good/plain.fasta", "A C G T A C G T|G G C C|"},
      {"good/protein.fasta", "M K V L A A G I V G L L L A Q W|"},
      {"good/rna.fasta", "A C G U U G C A|"},
      {"good/reads.fastq", "A C G T|G G ? C|"},
      {"good/splice.data", "EI\tC C A G C T G C|IE\tG G ? C A G T C|N\tA C G T A C G T|"},
      {"good/promoters.data", "+\tT A C T A G C A A T|-\tC A T A T C A C C C|"},
      {"good/labelled.txt", "EI\t0 1 2 1|IE\t2 2 0 1|"},
      {"good/labelled_letters.txt", "EI\tA C G T|IE\tG G C C|"},
      {"good/label_name.csv", "EI\t0 1 2|I,E\t2 2 0|", with_label("class")},
      {"good/label_number.tsv", "EI\t0 1 2|IE\t2 2 0|", with_label("0")},
      {"good/two_members.txt.gz", kRows},
      {"good/two_members.txt.xz", kRows},
      {"good/two_members.txt.bz2", kRows},
      {"good/two_members.txt.zst", kRows},
      {"good/int64.npy", kRows},
      {"good/uint8.npy", kRows},
      {"good/big_endian.npy", kRows},
      {"good/fortran.npy", kRows},
      {"good/float.npy", kRows},
      {"good/one.mat", kRows},
      {"good/packed.mat", kRows},
      {"good/struct.mat", kRows, with_variables({"data.trn_data"})},
      {"good/classes.mat", "ei\t0 1 2 1|ei\t2 2 0 1|ie\t0 1 2 1|", with_variables({"ei", "ie"})},
      {"good/one.h5", kRows},
      {"good/groups.h5", "a\t0 1 2 1|a\t2 2 0 1|b\t0 1 2 1|",
       with_variables({"train/a", "train.b"})},
      {"odd/comments.txt", "0 1|2 2 0|"},
      {"odd/crlf.txt", kRows},
      {"odd/byte_order_mark.txt", kRows},
      {"odd/no_newline.txt", kRows},
      {"odd/missing.txt", "0 ? 2 1|? ? 0 1|"},
      {"odd/mixed_separators.txt", kRows},
      {"odd/leading_zeros.txt", kRows},
      {"odd/one_symbol.txt", "0|"},
      {"odd/wide.txt", "0 300 65534|"},
      {"odd/ragged.txt", "0|0 1 2 1 2 1|2 2|"},
      {"odd/integer_classes.txt", "0\t1 0 1|1\t0 0 1|"},
      {"odd/odd_classes.txt", "caf\xC3\xA9 \"x\", #1\t0 1 2|<&>\t2 2 0|"},
      {"odd/hash_classes.txt", "#1\t0 1 2|#2\t2 2 0|"},
      {"odd/tab_sequence.txt", "first\t0 1 2|second\t2 2 0|"},
      {"odd/comments.fasta", "A C G T A C|? ? ? A|"},
      {"odd/empty_record.fasta", "A C G T|A C G T|"},
      {"odd/empty_last.fasta", "A C G T|"},
      {"odd/multiline.fastq", "A C G T A C|A|"},
      {"odd/cells.csv", "EI\t0 ? 2|IE\t1|say \"hi\"\t2 1 0|", with_label("class")},
      {"odd/sequence_column.csv", "EI\tA C G T|IE\tG G ? C|", with_label("class")},
      {"odd/comment_before.data", "EI\tA C G T A C G T|"},
      {"odd/zero_padded.txt.gz", kRows},
      {"odd/zero_padded.txt.xz", kRows},
      {"odd/no_bzip2.txt", "BZh9 1AY BZh9|1AY|", with_alphabet("BZh9,1AY")},
      {"odd/vector.npy", "0 1 2 1|"},
      {"odd/bool.npy", "1 0|0 0|"},
      {"odd/nan.npy", "0 ? 2|1 1 0|"},
      {"odd/version2.npy", kRows},
      {"odd/zero_based.mat", kRows},
      {"odd/nan.mat", "0 ? 2|1 1 0|"},
      {"odd/version73.mat", kRows},
      {"odd/packed.h5", kRows},
      {"odd/vector.h5", "0 ? 2|"},
  };
  return files;
}

struct Rejected {
  std::string file;
  std::string says;  // part of the message, after the corpus's folder
  ReadOptions options = {};
};

const std::vector<Rejected>& rejected() {
  static const std::vector<Rejected> files{
      {"bad/empty.txt", "empty.txt: the input holds no sequences"},
      {"bad/only_comments.txt", "the input holds no sequences"},
      {"bad/word.txt",
       "word.txt:2:3: expected an integer, found 'abc'; name the symbols with alphabet"},
      {"bad/outside.txt", "outside.txt:2:3: symbol 7 is outside the alphabet (integers 0..5)",
       with_alphabet("6")},
      {"bad/outside_tabs.txt", "outside_tabs.txt:1:1: symbol 7 is outside the alphabet",
       with_alphabet("6")},
      {"bad/negative.txt", "negative.txt:2:5: symbol -1 is negative"},
      {"bad/huge.txt", "huge.txt:2:3: symbol 65535 is too large"},
      {"bad/very_huge.txt", "very_huge.txt:1:3: symbol 1234"},
      {"bad/float.txt", "float.txt:1:3: expected an integer, found '1.5'"},
      {"bad/double_comma.txt", "double_comma.txt:1:6: there is nothing between two commas"},
      {"bad/only_commas.txt", "only_commas.txt:2:3: the line holds commas but no symbol"},
      {"bad/carriage_return.txt", "carriage_return.txt:1:5: there is a carriage return"},
      {"bad/letters.txt", "letters.txt:2:3: 'J' is not a symbol of the alphabet dna (A C G T)",
       with_alphabet("dna")},
      {"bad/word.txt",
       "word.txt:1:1: '0' is not a symbol of the alphabet dna (A C G T); numbers need",
       with_alphabet("dna")},
      {"bad/letters.txt", "letters.txt:1:1: expected a symbol of the alphabet (integers 0..3)",
       with_alphabet("4")},
      {"bad/word.txt", "word.txt:1:1: '0' is not a symbol of the alphabet tokens low mid high",
       with_alphabet("low,mid,high")},
      {"bad/all_missing.txt", "every symbol is missing"},
      {"bad/nul.txt", "nul.txt:2:3: byte 0x00 is not text"},
      {"bad/escape.txt", "escape.txt:2:5: byte 0x1b is not text"},
      {"bad/junk.bin", "junk.bin:1:1: byte 0x0b is not text"},
      {"bad/utf16.txt", "utf16.txt:1:4: byte 0x00 is not text"},
      {"bad/truncated.txt.gz", "the gzip stream is truncated"},
      {"bad/flipped.txt.gz", "the gzip stream is damaged"},
      {"bad/junk_after.txt.gz", "followed by bytes that are not gzip"},
      {"bad/truncated.txt.xz", "the xz stream is truncated"},
      {"bad/flipped.txt.xz", "the xz stream is damaged"},
      {"bad/junk_after.txt.xz", "followed by bytes that are not xz"},
      {"bad/truncated.txt.bz2", "the bzip2 stream is truncated"},
      {"bad/flipped.txt.bz2", "the bzip2 stream is damaged"},
      {"bad/junk_after.txt.bz2", "followed by bytes that are not bzip2"},
      {"bad/truncated.txt.zst", "the zstd stream is truncated"},
      {"bad/flipped.txt.zst", "the zstd stream is damaged"},
      {"bad/junk_after.txt.zst", "followed by bytes that are not zstd"},
      {"bad/large_window.txt.xz", "takes more than 256 MiB of memory"},
      {"bad/large_window.txt.zst", "takes more than 256 MiB of memory"},
      {"bad/digit.fasta", "digit.fasta:3:3: '1' is not a symbol of the alphabet dna"},
      {"bad/digit.fasta", "FASTA holds letters, but the alphabet is integers 0..5",
       with_alphabet("6")},
      {"bad/no_header.fasta", "no_header.fasta:1:1: expected a record that starts with '>'",
       with_format(Format::kFasta)},
      {"bad/truncated.fastq",
       "truncated.fastq:1:1: record 'r1' is truncated: the file ends after 2 of 4"},
      {"bad/no_plus.fastq",
       "no_plus.fastq:1:1: record 'r1' is truncated: the file ends before its '+'"},
      {"bad/long_quality.fastq",
       "long_quality.fastq:4:1: record 'r1' has 4 letters but more quality"},
      {"bad/short_quality.fastq",
       "short_quality.fastq:5:1: record 'r1' has 4 letters but more quality"},
      {"bad/no_at.fastq", "no_at.fastq:5:1: expected a record that starts with '@'"},
      {"bad/empty_record.fastq", "empty_record.fastq: the input holds no sequences"},
      {"bad/blank_quality.fastq",
       "blank_quality.fastq:4:2: record 'r1': byte 0x20 is not a quality value"},
      {"bad/fields.data", "fields.data:2:1: expected CLASS, NAME, SEQUENCE; found 2 fields"},
      {"bad/no_class.data",
       "no_class.data:2:1: expected CLASS, NAME, SEQUENCE; the class is empty"},
      {"bad/no_sequence.data",
       "no_sequence.data:2:1: expected CLASS, NAME, SEQUENCE; the sequence is"},
      {"bad/digit.data", "digit.data:2:11: '4' is not a symbol"},
      {"bad/hash.data", "hash.data:2:11: '#' is not a symbol"},
      {"bad/no_tab.txt", "no_tab.txt:2:1: expected CLASS<TAB>SEQUENCE, found no TAB"},
      {"bad/no_label.txt", "no_label.txt:2:1: expected CLASS<TAB>SEQUENCE, found no class"},
      {"bad/no_sequence.txt",
       "no_sequence.txt:2:4: expected CLASS<TAB>SEQUENCE, found no sequence"},
      {"bad/labelled_word.txt", "labelled_word.txt:2:6: expected an integer, found 'x'"},
      {"bad/ragged.csv", "ragged.csv:3:1: expected 3 cells as in line 1, found 2",
       with_label("class")},
      {"bad/no_column.csv", "there is no label column 'class'; the 3 columns are: kind, a, b",
       with_label("class")},
      {"bad/no_column.csv", "there is no label column '7'; the 3 columns are", with_label("7")},
      {"bad/open_quote.csv", "open_quote.csv:2:6: the quote opened here is never closed",
       with_label("class")},
      {"bad/after_quote.csv", "after_quote.csv:2:5: expected a separator after the closing quote",
       with_label("class")},
      {"bad/word.csv", "word.csv:3:6: expected an integer, found 'x'", with_label("class")},
      {"bad/no_symbols.csv", "no_symbols.csv:3:1: the row holds no symbols", with_label("class")},
      {"bad/no_label.csv", "no_label.csv:2:1: the row has no class", with_label("class")},
      {"bad/two_in_cell.csv", "two_in_cell.csv:2:6: expected one symbol, found '1 2'",
       with_label("class")},
      {"bad/cell_over_lines.csv", "cell_over_lines.csv:3:5: expected symbols on one line",
       with_label("class")},
      {"bad/header_alone.csv", "the input holds no sequences", with_label("class")},
      {"bad/negative.npy", "row 2, column 2: -3 is negative"},
      {"bad/half.npy", "row 1, column 2: 1.5 is not a whole number"},
      {"bad/object.npy", "byte 8: elements of type '|O' are not symbols"},
      {"bad/complex.npy", "elements of type '<c16' are not symbols"},
      {"bad/records.npy", "byte 10: an array of records"},
      {"bad/three_axes.npy", "expected an array of 1 or 2 dimensions, found 3"},
      {"bad/empty_array.npy", "the input holds no sequences"},
      {"bad/too_large.npy", "row 1, column 2: 70000 is too large"},
      {"bad/truncated.npy", "byte 187: the data is truncated: 64 bytes are needed, 59 are there"},
      {"bad/header_only.npy", "byte 40: the file ends inside the header"},
      {"bad/bytes_after.npy", "byte 192: 3 bytes follow the array"},
      {"bad/overflow.npy", "the header's shape is larger than any file"},
      {"bad/no_shape.npy", "the header does not say 'shape'"},
      {"bad/bad_shape.npy", "the header's shape is malformed"},
      {"bad/half.mat", "variable 'trn': row 1, column 2: 1.5 is not a whole number"},
      {"bad/negative.mat", "variable 'trn': row 1, column 2: -2 is negative"},
      {"bad/text_only.mat", "the file holds no matrix of integers"},
      {"bad/complex.mat", "the file holds no matrix of integers"},
      {"bad/truncated.mat", "byte 128: the MATLAB file is truncated"},
      {"bad/header_only.mat", "byte 128: the MATLAB file is truncated"},
      {"bad/version4.mat", "this is not a MATLAB file of version 5 to 7",
       with_format(Format::kMat)},
      {"good/classes.mat", "the file holds 2 matrices: choose with variable NAME among ei, ie"},
      {"good/struct.mat", "there is no matrix of integers 'data.tst'; variable takes data.trn_data",
       with_variables({"data.tst"})},
      {"bad/model.h5", "this is a model file, not sequences"},
      {"bad/strings.h5", "the file holds no matrix of integers"},
      {"bad/negative.h5", "row 2, column 1: -1 is negative"},
      {"bad/unwritten.h5", "dataset 'sequences': the data was never written"},
      {"bad/truncated.h5", "the HDF5 file is truncated or damaged"},
      {"bad/short.h5", "the HDF5 file is truncated or damaged"},
      {"good/groups.h5", "choose with variable NAME among train/a, train/b"},
      {"good/one.h5", "row 1, column 3: 2 is outside the alphabet (integers 0..1), numbered 0 to 1",
       with_alphabet("2")},
  };
  return files;
}

std::string joined(const SequenceSet& set) {
  std::string text = to_text(set);
  std::replace(text.begin(), text.end(), '\n', '|');
  return text;
}

/// Of a packing that this build lacks the library for.
bool is_out_of_reach(const std::string& file) {
  return (file.ends_with(".xz") && !can_unpack("xz")) ||
         (file.ends_with(".bz2") && !can_unpack("bzip2")) ||
         (file.ends_with(".zst") && !can_unpack("zstd"));
}

TEST(Formats, AcceptsGoodAndOddFiles) {
  for (const Accepted& expected : accepted()) {
    if (is_out_of_reach(expected.file)) continue;
    SCOPED_TRACE(expected.file);
    try {
      EXPECT_EQ(joined(read_sequences(corpus(expected.file), expected.options)), expected.text);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Formats, RejectsBadFilesAndSaysWhere) {
  for (const Rejected& expected : rejected()) {
    if (is_out_of_reach(expected.file)) continue;
    SCOPED_TRACE(expected.file);
    testing::expect_error(ErrorCode::kBadData, expected.says,
                          [&] { (void)read_sequences(corpus(expected.file), expected.options); });
  }
}

TEST(Formats, EveryFileOfTheCorpusIsTested) {
  std::set<std::string> known;
  for (const auto& file : accepted()) known.insert(file.file);
  for (const auto& file : rejected()) known.insert(file.file);
  for (const std::string folder : {"good", "odd", "bad"}) {
    for (const auto& entry : fs::directory_iterator(corpus(folder))) {
      const std::string name = folder + "/" + entry.path().filename().string();
      EXPECT_TRUE(known.contains(name)) << name << " is in no table";
    }
  }
}

std::string mutated(std::string bytes, std::uint64_t round, RandomStream& random) {
  if (round % 4 == 0) return bytes.substr(0, random.below(bytes.size()));
  for (std::uint64_t k = 1 + random.below(4); k > 0; --k) {
    bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
  }
  return bytes;
}

/// Bytes under a path without a disk, which would be the slowest part of the test by far.
class MemoryPath {
 public:
  explicit MemoryPath(std::string_view bytes) : fd_(::memfd_create("damaged", MFD_CLOEXEC)) {
    if (::write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("no memory file");
    }
  }
  ~MemoryPath() { ::close(fd_); }
  MemoryPath(const MemoryPath&) = delete;
  MemoryPath& operator=(const MemoryPath&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// A sanitizer makes the processes that read HDF5 and MATLAB files slow to start.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kRounds = 40;
#else
constexpr std::uint64_t kRounds = 200;
#endif

/// Whatever is done to a good file, it is read or refused with an Error: nothing else is thrown,
/// nothing crashes.
TEST(Formats, DamagedFilesAreReadOrRefused) {
  std::uint64_t index = 0;
  for (const Accepted& good : accepted()) {
    if (is_out_of_reach(good.file)) continue;
    SCOPED_TRACE(good.file);
    const std::string bytes = contents(corpus(good.file));
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      RandomStream random(4, Purpose::kTest, index, round);
      const MemoryPath file(mutated(bytes, round, random));
      try {
        (void)read_sequences(file.path(), good.options);
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::kBadData || error.code() == ErrorCode::kUsage)
            << error.what();
      }
    }
    ++index;
  }
}

}  // namespace
}  // namespace hqmm::detail

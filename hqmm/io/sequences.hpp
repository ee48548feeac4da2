// Reading sequence files of every format, detected by content.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/enum_text.hpp"
#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"

namespace HQMM_API hqmm {

enum class Format { kAuto, kText, kFasta, kFastq, kUci, kLabelled, kCsv, kTsv, kMat, kNpy, kHdf5 };

/// "auto", "text", "fasta", "fastq", "uci", "labelled", "csv", "tsv", "mat", "npy", "hdf5".
[[nodiscard]] std::string_view name_of(Format format);
template <>
[[nodiscard]] Format parse(std::string_view name);

/// What an ambiguity code (N, R, X, …) of a biological alphabet becomes.
enum class Ambiguous { kAsMissing, kAsSet, kDrop, kError };

/// "missing", "set", "drop", "error".
[[nodiscard]] std::string_view name_of(Ambiguous policy);
template <>
[[nodiscard]] Ambiguous parse(std::string_view name);

struct ReadOptions {
  Format format = Format::kAuto;
  /// Unset: integers 0..max for numbers, dna/rna/protein guessed from the letters for FASTA and
  /// UCI.
  std::optional<Alphabet> alphabet;
  /// missing: the symbol is missing; set: it is one of those the code stands for, and missing only
  /// if those are all symbols; drop: the whole sequence is left out; error: kBadData.
  Ambiguous ambiguous = Ambiguous::kAsMissing;
  /// CSV/TSV: the column (name or 0-based number) that holds the class; the others hold the
  /// symbols.
  std::string label_column;
  /// MATLAB and HDF5: the matrices to read ("trn", "data.trn_data"). With several, each is a class.
  std::vector<std::string> variables;
  /// The number that means symbol 0 in integer matrices; unset: 1 for MATLAB without a 0, else 0.
  std::optional<int> base;
  /// A packed stream may unpack to this many times its size (once it is beyond 64 MiB). Ordinary
  /// data packs to a hundredth at best; a file made to fill memory, to a thousandth.
  double max_ratio = 500.0;
  /// Bytes of memory to stay within; 0: no limit. Symbols that take more than a quarter of it go to
  /// a scratch file, in the folder that TMPDIR names or in /var/tmp. Formats that are read as a
  /// whole (mat, npy, hdf5) must fit: kUsage.
  std::size_t memory = 0;
  /// Called with one-line warnings about an input that is read nevertheless: records without a
  /// letter that were skipped.
  std::function<void(const std::string&)> on_warning;
};

/// Reads a whole file ("-": stdin). Throws kNoInput or kBadData with file, line and column or byte.
/// An input without any sequence is kBadData.
[[nodiscard]] SequenceSet read_sequences(const std::string& path, const ReadOptions& options = {});

/// The sequences of several files in the order of the files, as one set, with the same hash as one
/// file with all of them. Each file has its own format. Without an alphabet given,
/// numbers go up to the largest of any file, DNA and RNA together are DNA, and other mixtures are
/// kUsage.
[[nodiscard]] SequenceSet read_sequences(const std::vector<std::string>& paths,
                                         const ReadOptions& options = {});

/// A file whose sequences are all of one class.
struct ClassFile {
  std::string name;
  std::string path;
};

/// The sequences of several files, each with the class of its file. Throws kUsage for a file that
/// already has classes.
[[nodiscard]] SequenceSet read_classes(const std::vector<ClassFile>& files,
                                       const ReadOptions& options = {});

/// The text format: one sequence per line, tokens separated by blanks; with classes, `CLASS<TAB>`
/// first. Throws kBadData naming what would be read back differently: a class that is empty,
/// begins or ends with a blank, or holds a tab or a line break.
[[nodiscard]] std::string to_text(const SequenceSet& set);

/// FASTA with lines of 60 letters. A sequence without a name is "sequence7", counted from
/// `first_number`; blanks in names become "_", a class follows as " class=EI". Missing symbols are
/// N (X in proteins). Throws kUsage for an alphabet whose tokens are not single letters.
[[nodiscard]] std::string to_fasta(const SequenceSet& set, std::size_t first_number = 1);

}  // namespace hqmm

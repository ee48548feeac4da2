// Which reader reads what, and what holds for all of them.
#include "hqmm/io/sequences.hpp"

#include <array>
#include <cassert>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/memory_budget.hpp"
#include "hqmm/io/detect.hpp"
#include "hqmm/io/fasta.hpp"
#include "hqmm/io/hdf5_sequences.hpp"
#include "hqmm/io/labelled.hpp"
#include "hqmm/io/mat.hpp"
#include "hqmm/io/npy.hpp"
#include "hqmm/io/read_input.hpp"
#include "hqmm/io/sequence_stream.hpp"
#include "hqmm/io/table.hpp"
#include "hqmm/io/text.hpp"
#include "hqmm/io/uci.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr std::array<std::string_view, 4> kPolicies{"missing", "set", "drop", "error"};

constexpr std::array<std::pair<std::string_view, Format>, 11> kFormats{{
    {"auto", Format::kAuto},
    {"text", Format::kText},
    {"fasta", Format::kFasta},
    {"fastq", Format::kFastq},
    {"uci", Format::kUci},
    {"labelled", Format::kLabelled},
    {"csv", Format::kCsv},
    {"tsv", Format::kTsv},
    {"mat", Format::kMat},
    {"npy", Format::kNpy},
    {"hdf5", Format::kHdf5},
}};

/// An option that the format cannot honour would otherwise be ignored without a word.
void check_options(Format format, const ReadOptions& options, const std::string& file) {
  const bool table = format == Format::kCsv || format == Format::kTsv;
  if (!options.label_column.empty() && !table) {
    throw fail(ErrorCode::kUsage, Where{.file = file},
               "a label column belongs to csv and tsv files; this is read as {}", name_of(format));
  }
  const bool named_matrices = format == Format::kMat || format == Format::kHdf5;
  if (!options.variables.empty() && !named_matrices) {
    throw fail(ErrorCode::kUsage, Where{.file = file},
               "variables are chosen in MATLAB and HDF5 files; this is read as {}",
               name_of(format));
  }
}

SequenceSet read_as(Format format, Input& input, const ReadOptions& options) {
  switch (format) {
    case Format::kFasta:
      return read_fasta(input, options);
    case Format::kFastq:
      return read_fastq(input, options);
    case Format::kUci:
      return read_uci(input, options);
    case Format::kLabelled:
      return read_labelled(input, options);
    case Format::kCsv:
      return read_table(input, ',', options);
    case Format::kTsv:
      return read_table(input, '\t', options);
    case Format::kMat:
      return read_mat(input, options);
    case Format::kNpy:
      return read_npy(input, options);
    case Format::kHdf5:
      return read_hdf5_sequences(input, options);
    case Format::kAuto:
    case Format::kText:
      break;
  }
  return read_text(input, options);
}

Format format_of(const Input& input, const ReadOptions& options, const std::string& path) {
  const Format format =
      options.format == Format::kAuto ? detect_format(input, options) : options.format;
  check_options(format, options, path);
  return format;
}

SequenceSet read_whole(Format format, Input& input, const ReadOptions& options,
                       const std::string& path) {
  SequenceSet set = read_as(format, input, options);
  if (set.empty())
    throw fail(ErrorCode::kBadData, Where{.file = path}, "the input holds no sequences");
  if (set.alphabet().size() == 0) {
    throw fail(ErrorCode::kBadData, Where{.file = path},
               "every symbol is missing, so the alphabet is unknown; give it with {}",
               option("alphabet"));
  }
  return set;
}

using Budget = std::shared_ptr<MemoryBudget>;

/// None without a limit.
Budget budget_of(const ReadOptions& options) {
  return options.memory > 0 ? std::make_shared<MemoryBudget>(options.memory) : nullptr;
}

/// These formats are held in memory as they are, and as numbers of eight bytes, before they are symbols.
void require_room(Format format, const std::string& path, const ReadOptions& options) {
  const bool whole = format == Format::kMat || format == Format::kNpy || format == Format::kHdf5;
  if (options.memory == 0 || !whole || path == "-") return;
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure || size <= options.memory / 4) return;
  throw fail(
      ErrorCode::kUsage, Where{.file = path},
      "a file of the format {} is read as a whole, and this one is too large for {}: give it "
      "more, or save the sequences as text, which is read in pieces",
      name_of(format), option("memory"));
}

SequenceSet read_one(const std::string& path, const ReadOptions& options, const Budget& budget,
                     bool one_of_several) {
  Input input(path, options.max_ratio, budget);
  const Format format = format_of(input, options, path);
  if (one_of_several && format == Format::kMat && !options.base) {
    throw fail(ErrorCode::kUsage, Where{.file = path},
               "with several files the number that means symbol 0 in MATLAB files is not "
               "guessed; give {} or 0",
               option("base", "1"));
  }
  require_room(format, path, options);
  return read_whole(format, input, options, path);
}

/// Two alphabets that were each told from one file, as one told from both; nothing when they are of
/// different kinds.
std::optional<Alphabet> told_from_both(const Alphabet& a, const Alphabet& b) {
  using Kind = Alphabet::Kind;
  if (a == b) return a;
  if (a.kind() != b.kind()) {
    const auto nucleic = [](Kind kind) { return kind == Kind::kDna || kind == Kind::kRna; };
    if (nucleic(a.kind()) && nucleic(b.kind())) return Alphabet::dna();
    return {};
  }
  if (a.kind() != Kind::kIntegers) return {};
  return a.size() < b.size() ? b : a;
}

/// Sets of several files, one after the other.
class Joined {
 public:
  explicit Joined(const ReadOptions& options) : given_(options.alphabet.has_value()) {}

  void add(SequenceSet set, const std::string& path) {
    if (first_.empty()) {
      first_ = path;
      set_ = std::move(set);
      return;
    }
    const auto both = told_from_both(set_.alphabet(), set.alphabet());
    if (!both) {
      throw fail(ErrorCode::kUsage, Where{.file = path},
                 "the alphabet is {}, but that of {} is {}; give one for all files with {}",
                 set.alphabet().description(), printable(first_, first_.size()),
                 set_.alphabet().description(), option("alphabet"));
    }
    assert(!given_ || set_.alphabet() == *both);
    set_.set_alphabet(*both);
    set_.append(set);
  }
  SequenceSet take() { return std::move(set_); }

 private:
  bool given_;
  std::string first_;
  SequenceSet set_;
};

}  // namespace

template <>
Format parse(std::string_view text) {
  std::string known;
  for (const auto& [name, format] : kFormats) {
    if (name == text) return format;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw fail(ErrorCode::kUsage, "'{}' is not a format: choose one of {}", printable(text), known);
}

std::string_view name_of(Ambiguous policy) {
  return kPolicies.at(static_cast<std::size_t>(policy));
}

template <>
Ambiguous parse(std::string_view text) {
  for (std::size_t i = 0; i < kPolicies.size(); ++i) {
    if (kPolicies[i] == text) return static_cast<Ambiguous>(i);
  }
  throw fail(ErrorCode::kUsage, "{}: expected missing, set, drop or error, found '{}'",
             option("ambiguous"), printable(text, 40));
}

std::string_view name_of(Format format) {
  return kFormats.at(static_cast<std::size_t>(format)).first;
}

SequenceSet read_sequences(const std::string& path, const ReadOptions& options) {
  return read_one(path, options, budget_of(options), false);
}

SequenceSet read_sequences(const std::vector<std::string>& paths, const ReadOptions& options) {
  assert(!paths.empty());
  Joined joined(options);
  const Budget budget = budget_of(options);
  for (const std::string& path : paths)
    joined.add(read_one(path, options, budget, paths.size() > 1), path);
  return joined.take();
}

SequenceSet read_classes(const std::vector<ClassFile>& files, const ReadOptions& options) {
  assert(!files.empty());
  Joined joined(options);
  const Budget budget = budget_of(options);
  for (const ClassFile& file : files) {
    SequenceSet set = read_one(file.path, options, budget, files.size() > 1);
    if (set.labelled()) {
      throw fail(ErrorCode::kUsage, Where{.file = file.path},
                 "the file already has classes, so it cannot be the class '{}'",
                 printable(file.name));
    }
    set.label_all(file.name);
    joined.add(std::move(set), file.path);
  }
  return joined.take();
}

void stream_sequences(const std::string& path, const ReadOptions& options, const PieceSink& sink) {
  Input input(path, options.max_ratio);
  const Format format = format_of(input, options, path);
  const bool records = format == Format::kFasta || format == Format::kFastq;
  if (records && options.ambiguous != Ambiguous::kDrop) {
    bool any = false;
    const PieceSink noting = [&](const SequencePiece& piece) {
      any = true;
      sink(piece);
    };
    if (format == Format::kFasta) {
      stream_fasta(input, options, noting);
    } else {
      stream_fastq(input, options, noting);
    }
    if (!any) throw fail(ErrorCode::kBadData, Where{.file = path}, "the input holds no sequences");
    return;
  }
  const SequenceSet set = read_whole(format, input, options, path);
  for (std::size_t i = 0; i < set.size(); ++i)
    sink({set[i], set.named() ? set.name(i) : std::to_string(i), true});
}

}  // namespace hqmm

namespace hqmm::detail {

SequenceSet read_input(Input& input, const ReadOptions& options) {
  const std::string& path = input.name();
  return read_whole(format_of(input, options, path), input, options, path);
}

}  // namespace hqmm::detail

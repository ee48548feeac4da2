#include "hqmm/io/fasta.hpp"

#include <algorithm>
#include <functional>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/letters.hpp"

namespace hqmm::detail {
namespace {

constexpr char kFirstQuality = '!', kLastQuality = '~';

/// Both formats as one machine over pieces of lines: FASTQ adds two parts to a record.
class RecordReader {
 public:
  RecordReader(const Input& input, Alphabet alphabet, const ReadOptions& options, bool fastq)
      : file_(input.name()),
        alphabet_(std::move(alphabet)),
        ambiguous_(options.ambiguous),
        on_warning_(options.on_warning),
        fastq_(fastq),
        letters_(alphabet_, ambiguous_),
        set_(input.new_set(alphabet_)) {}

  SequenceSet read(Input& input);
  /// Hands over what there is after every block.
  void stream(Input& input, const PieceSink& sink);

 private:
  enum class Part { kOutside, kHeader, kSequence, kComment, kPlus, kQuality };

  void take_block(std::string_view block);
  void hand_over(const PieceSink& sink);
  void take_piece(std::string_view piece);
  void begin_line(char first);
  void end_line();
  void take_header(std::string_view piece);
  void take_letters(std::string_view piece);
  void take_odd_letter(char letter, std::uint64_t column);
  void take_quality(std::string_view piece);
  void end_record();
  void finish();
  void warn_of_empty_records() const;
  [[nodiscard]] Where here(std::uint64_t ahead = 0) const {
    return Where{.file = file_, .line = line_, .column = column_ + ahead + 1};
  }

  std::string file_;
  Alphabet alphabet_;
  Ambiguous ambiguous_;
  std::function<void(const std::string&)> on_warning_;
  bool fastq_;
  LetterTable letters_;
  SequenceSet set_;
  std::vector<std::uint32_t> dropped_;

  Part part_ = Part::kOutside;
  Part after_comment_ = Part::kOutside;
  std::uint64_t line_ = 1;
  std::uint64_t column_ = 0;  // bytes of the line already taken
  std::string name_;
  bool name_complete_ = false;
  std::uint64_t header_line_ = 0;
  std::uint64_t length_ = 0;     // letters of the record, dropped or not
  std::uint64_t qualities_ = 0;  // quality values of the record
  bool dropping_ = false;
  std::uint64_t empty_records_ = 0;
  std::string first_empty_;
};

SequenceSet RecordReader::read(Input& input) {
  for (auto block = input.next_block(); !block.empty(); block = input.next_block())
    take_block(block);
  end_line();
  finish();
  warn_of_empty_records();
  return without(std::move(set_), dropped_);
}

void RecordReader::stream(Input& input, const PieceSink& sink) {
  for (auto block = input.next_block(); !block.empty(); block = input.next_block()) {
    take_block(block);
    hand_over(sink);
  }
  end_line();
  finish();
  hand_over(sink);
  warn_of_empty_records();
}

void RecordReader::take_block(std::string_view block) {
  if (line_ == 1 && column_ == 0 && block.starts_with(kByteOrderMark)) {
    block.remove_prefix(kByteOrderMark.size());
  }
  while (!block.empty()) {
    const std::size_t end = block.find('\n');
    const std::string_view piece = block.substr(0, end);
    if (!piece.empty()) take_piece(piece);
    column_ += piece.size();
    if (end == std::string_view::npos) break;
    end_line();
    block.remove_prefix(end + 1);
  }
}

/// Records that have ended, and what there is of the open one. Lengths are counted apart: a record
/// does not become empty by this.
void RecordReader::hand_over(const PieceSink& sink) {
  for (std::size_t i = 0; i < set_.size(); ++i) sink({set_[i], set_.name(i), true});
  const SequenceView open(set_.symbols(), set_.offsets().back(), set_.open_length());
  if (!open.empty()) sink({open, name_, false});
  set_ = SequenceSet(alphabet_);
}

void RecordReader::take_piece(std::string_view piece) {
  if (column_ == 0) begin_line(piece.front());
  // The carriage return of "\r\n"; one inside a line is caught with the piece after it.
  if (piece.ends_with('\r')) piece.remove_suffix(1);
  switch (part_) {
    case Part::kHeader:
      return take_header(piece);
    case Part::kSequence:
      return take_letters(piece);
    case Part::kQuality:
      return take_quality(piece);
    case Part::kOutside:
      if (!trimmed(piece).empty()) {
        throw fail(ErrorCode::kBadData, here(),
                   "expected a record that starts with '{}', found '{}'", fastq_ ? '@' : '>',
                   printable(piece, 20));
      }
      return;
    case Part::kComment:
    case Part::kPlus:
      return;
  }
}

/// What a line is shows in its first byte, except among quality values, which may be any.
void RecordReader::begin_line(char first) {
  const bool starts_record = fastq_ ? first == '@' && part_ == Part::kOutside : first == '>';
  if (starts_record) {
    end_record();
    part_ = Part::kHeader;
    name_.clear();
    name_complete_ = false;
    header_line_ = line_;
    length_ = qualities_ = 0;
  } else if (fastq_ && first == '+' && part_ == Part::kSequence) {
    part_ = Part::kPlus;
  } else if (!fastq_ && first == ';') {
    after_comment_ = part_;
    part_ = Part::kComment;
  }
}

void RecordReader::end_line() {
  ++line_;
  column_ = 0;
  if (part_ == Part::kHeader) part_ = Part::kSequence;
  if (part_ == Part::kComment) part_ = after_comment_;
  if (part_ == Part::kPlus) part_ = Part::kQuality;
  if (part_ == Part::kQuality && qualities_ == length_) {
    end_record();
    part_ = Part::kOutside;
  }
}

void RecordReader::take_header(std::string_view piece) {
  if (column_ == 0) piece.remove_prefix(1);
  if (name_complete_) return;
  if (name_.empty()) piece.remove_prefix(std::min(piece.find_first_not_of(" \t"), piece.size()));
  const std::size_t end = piece.find_first_of(" \t");
  name_ += piece.substr(0, end);
  name_complete_ = end != std::string_view::npos;
  require_name_length(name_, Where{.file = file_, .line = header_line_, .column = 1});
}

void RecordReader::take_letters(std::string_view piece) {
  std::size_t i = 0;
  while (i < piece.size()) {
    if (!dropping_) {
      const std::size_t before = set_.symbols().size();
      i += letters_.append_run(piece.substr(i), set_.open_block());
      length_ += set_.symbols().size() - before;
      if (i == piece.size()) break;
    }
    take_odd_letter(piece[i], i);
    ++i;
  }
}

/// A letter that the tight loop stopped at, or any letter of a sequence that is being dropped.
void RecordReader::take_odd_letter(char letter, std::uint64_t column) {
  const std::uint8_t code = letters_[letter];
  if (code == LetterTable::kSkip) return;
  ++length_;
  if (code != LetterTable::kStop) return;
  if (!alphabet_.is_ambiguity_code(letter)) throw bad_letter(letter, alphabet_, here(column));
  if (ambiguous_ == Ambiguous::kError) throw ambiguous_letter(letter, alphabet_, here(column));
  dropping_ = true;
}

void RecordReader::take_quality(std::string_view piece) {
  const auto bad = std::find_if(piece.begin(), piece.end(),
                                [](char c) { return c < kFirstQuality || c > kLastQuality; });
  if (bad != piece.end()) {
    throw fail(ErrorCode::kBadData, here(static_cast<std::uint64_t>(bad - piece.begin())),
               "record '{}': byte 0x{:02x} is not a quality value", printable(name_),
               static_cast<unsigned char>(*bad));
  }
  qualities_ += piece.size();
  if (qualities_ > length_) {
    throw fail(ErrorCode::kBadData, here(),
               "record '{}' has {} letters but more quality values ({} up to here)",
               printable(name_), length_, qualities_);
  }
}

void RecordReader::end_record() {
  if (part_ == Part::kOutside) return;
  if (length_ == 0) {
    if (empty_records_++ == 0)
      first_empty_ = fmt::format("'{}' in line {}", printable(name_), header_line_);
    return;
  }
  set_.end_sequence();
  set_.name_last(std::move(name_));
  if (dropping_) dropped_.push_back(static_cast<std::uint32_t>(set_.size() - 1));
  dropping_ = false;
}

void RecordReader::finish() {
  if (!fastq_) return end_record();
  if (part_ == Part::kOutside) return;
  const std::string ends = part_ == Part::kQuality
                               ? fmt::format("after {} of {} quality values", qualities_, length_)
                               : "before its '+' line and quality values";
  throw fail(ErrorCode::kBadData, Where{.file = file_, .line = header_line_, .column = 1},
             "record '{}' is truncated: the file ends {}", printable(name_), ends);
}

/// Trimming tools leave reads of no length: nothing is wrong with the others.
void RecordReader::warn_of_empty_records() const {
  if (empty_records_ == 0 || !on_warning_) return;
  const std::string what = empty_records_ == 1
                               ? fmt::format("record {} is empty and was skipped", first_empty_)
                               : fmt::format("{} records are empty and were skipped, the first {}",
                                             empty_records_, first_empty_);
  on_warning_(printable(file_, file_.size()) + ": " + what);
}

/// From the sequence lines of the head. Qualities are letters too, so FASTQ is walked by its
/// lengths.
Alphabet guess_alphabet(const Input& input, bool fastq) {
  LetterCensus census;
  std::size_t length = 0, qualities = 0;
  bool in_quality = false;
  for (const std::string_view line : head_lines(input, CutLine::kKeep)) {
    if (census.enough()) break;
    if (in_quality) {
      qualities += line.size();
      in_quality = qualities < length;
    } else if (fastq && line.starts_with('+')) {
      in_quality = true;
    } else if (line.starts_with(fastq ? '@' : '>')) {
      length = qualities = 0;
    } else if (!line.starts_with(';')) {
      census.add(line);
      length += trimmed(line).size();
    }
  }
  return census.guess();
}

RecordReader reader_of(const Input& input, const ReadOptions& options, bool fastq) {
  if (options.alphabet) require_letters(*options.alphabet, fastq ? "FASTQ" : "FASTA", input.name());
  Alphabet alphabet = options.alphabet ? *options.alphabet : guess_alphabet(input, fastq);
  return {input, std::move(alphabet), options, fastq};
}

}  // namespace

SequenceSet read_fasta(Input& input, const ReadOptions& options) {
  return reader_of(input, options, false).read(input);
}

SequenceSet read_fastq(Input& input, const ReadOptions& options) {
  return reader_of(input, options, true).read(input);
}

void stream_fasta(Input& input, const ReadOptions& options, const PieceSink& sink) {
  reader_of(input, options, false).stream(input, sink);
}

void stream_fastq(Input& input, const ReadOptions& options, const PieceSink& sink) {
  reader_of(input, options, true).stream(input, sink);
}

}  // namespace hqmm::detail

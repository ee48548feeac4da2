#include "hqmm/io/table.hpp"

#include <algorithm>
#include <charconv>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/letters.hpp"
#include "hqmm/io/text.hpp"
#include "hqmm/io/tokens.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kRowsLookedAt = 100;  // to tell the alphabet and the header

struct Cell {
  std::string text;
  std::uint64_t column = 0;  // 1-based
};

struct Row {
  std::vector<Cell> cells;
  std::uint64_t line = 0;
};

class RowReader {
 public:
  RowReader(Input& input, char separator) : input_(&input), lines_(input), separator_(separator) {}

  /// False at the end. Blank lines are not rows.
  bool next(Row& row);

 private:
  Cell quoted_cell(std::size_t& at);

  Input* input_;
  LineReader lines_;
  char separator_;
  std::string line_;
};

bool RowReader::next(Row& row) {
  do {
    if (!lines_.next(line_)) return false;
  } while (trimmed(line_).empty() && line_.find(separator_) == std::string::npos);
  row.cells.clear();
  row.line = lines_.number();
  const std::string_view blanks = separator_ == '\t' ? " " : " \t";
  for (std::size_t at = 0;; ++at) {
    const std::size_t first = line_.find_first_not_of(blanks, at);
    if (first != std::string::npos && line_[first] == '"') {
      at = first;
      row.cells.push_back(quoted_cell(at));
    } else {
      const std::size_t end = std::min(line_.find(separator_, at), line_.size());
      const auto text = trimmed(std::string_view(line_).substr(at, end - at));
      row.cells.push_back({std::string(text), std::min(first, end) + 1});
      at = end;
    }
    if (at >= line_.size()) return true;
  }
}

/// From the opening quote at `at` to the separator or the end of the row. A quoted cell may go on
/// over lines.
Cell RowReader::quoted_cell(std::size_t& at) {
  Cell cell{"", at + 1};
  const Where opened = input_->at(lines_.number(), at + 1);
  for (++at;; ++at) {
    if (at == line_.size()) {
      if (!lines_.next(line_)) {
        throw fail(ErrorCode::kBadData, opened, "the quote opened here is never closed");
      }
      cell.text += '\n';
      at = static_cast<std::size_t>(-1);
    } else if (line_[at] != '"') {
      cell.text += line_[at];
    } else if (at + 1 < line_.size() && line_[at + 1] == '"') {
      cell.text += line_[at++];
    } else {
      break;
    }
  }
  const std::size_t end = std::min(line_.find(separator_, ++at), line_.size());
  if (!trimmed(std::string_view(line_).substr(at, end - at)).empty()) {
    throw fail(ErrorCode::kBadData, input_->at(lines_.number(), at + 1),
               "expected a separator after the closing quote");
  }
  at = end;
  return cell;
}

/// Which column is what.
struct Layout {
  std::size_t columns = 0;
  std::optional<std::size_t> label;
  bool label_by_name = false;
  std::vector<std::size_t> symbols;

  Layout(const Row& first, const std::string& label_column, const Input& input);
};

Layout::Layout(const Row& first, const std::string& label_column, const Input& input)
    : columns(first.cells.size()) {
  std::size_t number = 0;
  const char* const end = label_column.data() + label_column.size();
  const auto [stop, failure] = std::from_chars(label_column.data(), end, number);
  const bool is_number = failure == std::errc() && stop == end;
  if (is_number && number < columns) label = number;
  for (std::size_t i = 0; i < columns && !is_number && !label_column.empty() && !label; ++i) {
    if (first.cells[i].text == label_column) label = i;
  }
  label_by_name = label && !is_number;
  if (!label_column.empty() && !label) {
    std::string names;
    for (const Cell& cell : first.cells) names += (names.empty() ? "" : ", ") + cell.text;
    throw fail(ErrorCode::kBadData, input.at(first.line, 1),
               "there is no label column '{}'; the {} columns are: {}", printable(label_column),
               columns, printable(names, 400));
  }
  for (std::size_t i = 0; i < columns; ++i) {
    if (i != label) symbols.push_back(i);
  }
  if (symbols.empty()) {
    throw fail(ErrorCode::kBadData, input.at(first.line, 1),
               "expected columns of symbols beside the label column, found none");
  }
}

/// Nucleotides show by their letters; other letters need --alphabet, as in the text format. The
/// first row may be a header and has no say unless it is alone.
std::optional<Alphabet> alphabet_of_cells(const std::vector<Row>& rows, const Layout& layout) {
  LetterCensus census;
  for (std::size_t r = rows.size() > 1 ? 1 : 0; r < rows.size(); ++r) {
    for (const std::size_t column : layout.symbols) {
      if (column >= rows[r].cells.size() || rows[r].cells[column].text.empty()) continue;
      if (!is_letters(rows[r].cells[column].text)) return {};
      census.add(rows[r].cells[column].text);
    }
  }
  if (census.letters() == 0 || !census.nucleotides()) return {};
  return census.guess();
}

class TableDecoder {
 public:
  TableDecoder(const Input& input, const Row& first, Layout layout,
               std::optional<Alphabet> alphabet, Ambiguous ambiguous)
      : input_(&input),
        layout_(std::move(layout)),
        first_line_(first.line),
        decoder_(input.name(), std::move(alphabet), ambiguous),
        set_(input.new_set()) {}

  void add(const Row& row);
  SequenceSet finish() {
    set_.set_alphabet(decoder_.alphabet());
    return without(std::move(set_), dropped_);
  }

 private:
  bool add_cell(const Cell& cell, std::uint64_t line);

  const Input* input_;
  Layout layout_;
  std::uint64_t first_line_;
  TextDecoder decoder_;
  SequenceSet set_;
  std::vector<std::uint32_t> dropped_;
};

void TableDecoder::add(const Row& row) {
  if (row.cells.size() != layout_.columns) {
    throw fail(ErrorCode::kBadData, input_->at(row.line, 1),
               "expected {} cells as in line {}, found {}", layout_.columns, first_line_,
               row.cells.size());
  }
  std::size_t used = layout_.symbols.size();
  while (used > 0 && row.cells[layout_.symbols[used - 1]].text.empty()) --used;
  if (used == 0)
    throw fail(ErrorCode::kBadData, input_->at(row.line, 1), "the row holds no symbols");
  if (layout_.label && row.cells[*layout_.label].text.empty()) {
    throw fail(ErrorCode::kBadData, input_->at(row.line, row.cells[*layout_.label].column),
               "the row has no class in its label column");
  }
  if (layout_.label) require_name_length(row.cells[*layout_.label].text, input_->at(row.line, 1));
  bool kept = true;
  for (std::size_t i = 0; i < used; ++i) {
    kept &= add_cell(row.cells[layout_.symbols[i]], row.line);
  }
  if (layout_.label) {
    set_.end_sequence_labelled(row.cells[*layout_.label].text);
  } else {
    set_.end_sequence();
  }
  if (!kept) dropped_.push_back(static_cast<std::uint32_t>(set_.size() - 1));
}

/// False when an ambiguity code rules the row out.
bool TableDecoder::add_cell(const Cell& cell, std::uint64_t line) {
  if (cell.text.empty()) {
    set_.push_back(kMissing);
    return true;
  }
  if (cell.text.find('\n') != std::string::npos) {  // it would end the sequence
    throw fail(ErrorCode::kBadData, input_->at(line, cell.column),
               "expected symbols on one line; the quoted cell spans several");
  }
  const std::size_t before = set_.symbols().size();
  const bool kept = decoder_.decode_field(cell.text, line, cell.column, set_);
  const std::size_t found = set_.symbols().size() - before;
  const bool whole_sequence = layout_.symbols.size() == 1;
  if (kept && (found == 0 || (found > 1 && !whole_sequence))) {
    throw fail(ErrorCode::kBadData, input_->at(line, cell.column),
               "expected one symbol, found '{}'", printable(cell.text));
  }
  return kept;
}

}  // namespace

SequenceSet read_table(Input& input, char separator, const ReadOptions& options) {
  RowReader reader(input, separator);
  std::vector<Row> rows;
  for (Row row; rows.size() < kRowsLookedAt && reader.next(row);) rows.push_back(row);
  if (rows.empty()) return {};
  const Layout layout(rows.front(), options.label_column, input);
  auto alphabet = options.alphabet ? options.alphabet : alphabet_of_cells(rows, layout);
  const bool some_symbol = std::any_of(
      layout.symbols.begin(), layout.symbols.end(),
      [&](std::size_t column) { return all_symbols(rows.front().cells[column].text, alphabet); });
  const bool header = layout.label_by_name || (!some_symbol && rows.size() > 1);

  TableDecoder table(input, rows.front(), layout, std::move(alphabet), options.ambiguous);
  for (std::size_t i = header ? 1 : 0; i < rows.size(); ++i) table.add(rows[i]);
  for (Row row; reader.next(row);) table.add(row);
  return table.finish();
}

}  // namespace hqmm::detail

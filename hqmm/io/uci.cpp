#include "hqmm/io/uci.hpp"

#include <algorithm>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/letters.hpp"
#include "hqmm/io/text.hpp"

namespace hqmm::detail {
namespace {

struct UciRow {
  std::string_view label, name, sequence;
  std::uint64_t column = 0;  // where the sequence starts, 1-based
};

bool blank_or_comment(std::string_view line) {
  return trimmed(line).empty() || trimmed(line).front() == '#';
}

UciRow split_row(std::string_view line, const Where& where) {
  const auto commas = std::count(line.begin(), line.end(), ',');
  if (commas != 2) {
    throw fail(ErrorCode::kBadData, where, "expected CLASS, NAME, SEQUENCE; found {} field{}",
               commas + 1, commas == 0 ? "" : "s");
  }
  const std::size_t first = line.find(',');
  const std::size_t second = line.rfind(',');
  UciRow row{trimmed(line.substr(0, first)), trimmed(line.substr(first + 1, second - first - 1)),
             trimmed(line.substr(second + 1))};
  if (row.label.empty() || row.sequence.empty()) {
    throw fail(ErrorCode::kBadData, where, "expected CLASS, NAME, SEQUENCE; the {} is empty",
               row.label.empty() ? "class" : "sequence");
  }
  row.column = static_cast<std::uint64_t>(row.sequence.data() - line.data()) + 1;
  return row;
}

Alphabet alphabet_of_rows(const Input& input) {
  LetterCensus census;
  for (const std::string_view line : head_lines(input, CutLine::kKeep)) {
    if (census.enough()) break;
    if (!blank_or_comment(line)) census.add(line.substr(line.rfind(',') + 1));
  }
  return census.guess();
}

}  // namespace

SequenceSet read_uci(Input& input, const ReadOptions& options) {
  if (options.alphabet) require_letters(*options.alphabet, "a UCI file", input.name());
  const Alphabet alphabet = options.alphabet ? *options.alphabet : alphabet_of_rows(input);
  TextDecoder decoder(input.name(), alphabet, options.ambiguous);
  SequenceSet set = input.new_set(alphabet);
  std::vector<std::uint32_t> dropped;
  LineReader lines(input);
  for (std::string line; lines.next(line);) {
    if (blank_or_comment(line)) continue;
    const UciRow row = split_row(line, input.at(lines.number(), 1));
    require_name_length(row.label, input.at(lines.number(), 1));
    require_name_length(row.name, input.at(lines.number(), 1));
    // The text format's comments have no place inside a row.
    if (const std::size_t hash = row.sequence.find('#'); hash != std::string_view::npos) {
      throw bad_letter('#', alphabet, input.at(lines.number(), row.column + hash));
    }
    const bool kept = decoder.decode_field(row.sequence, lines.number(), row.column, set);
    set.end_sequence_labelled(std::string(row.label));
    set.name_last(std::string(row.name));
    if (!kept) dropped.push_back(static_cast<std::uint32_t>(set.size() - 1));
  }
  return without(std::move(set), dropped);
}

}  // namespace hqmm::detail

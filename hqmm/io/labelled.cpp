#include "hqmm/io/labelled.hpp"

#include "hqmm/core/fail.hpp"
#include "hqmm/io/letters.hpp"
#include "hqmm/io/text.hpp"
#include "hqmm/io/tokens.hpp"

namespace hqmm::detail {
namespace {

bool no_data(std::string_view line) {
  if (trimmed(line).empty()) return true;
  return line.front() == '#' && line.find('\t') == std::string_view::npos;
}

/// Nucleotides show in unseparated letters; other letters need --alphabet, as in the text format.
std::optional<Alphabet> alphabet_of_sequences(const Input& input) {
  LetterCensus census;
  for (const std::string_view line : head_lines(input, CutLine::kKeep)) {
    const std::size_t tab = line.find('\t');
    if (no_data(line) || tab == std::string_view::npos) continue;
    const std::string_view sequence = trimmed(line.substr(tab + 1));
    if (!is_letters(sequence)) return {};
    census.add(sequence);
    if (census.enough()) break;
  }
  if (census.letters() == 0 || !census.nucleotides()) return {};
  return census.guess();
}

}  // namespace

SequenceSet read_labelled(Input& input, const ReadOptions& options) {
  TextDecoder decoder(input.name(),
                      options.alphabet ? options.alphabet : alphabet_of_sequences(input),
                      options.ambiguous);
  SequenceSet set = input.new_set();
  std::vector<std::uint32_t> dropped;
  LineReader lines(input);
  for (std::string line; lines.next(line);) {
    if (no_data(line)) continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      throw fail(ErrorCode::kBadData, input.at(lines.number(), 1),
                 "expected CLASS<TAB>SEQUENCE, found no TAB");
    }
    const std::string_view label = trimmed(std::string_view(line).substr(0, tab));
    if (label.empty()) {
      throw fail(ErrorCode::kBadData, input.at(lines.number(), 1),
                 "expected CLASS<TAB>SEQUENCE, found no class before the TAB");
    }
    require_name_length(label, input.at(lines.number(), 1));
    const auto sequence = std::string_view(line).substr(tab + 1);
    const bool kept = decoder.decode_field(sequence, lines.number(), tab + 2, set);
    if (kept && set.open_length() == 0) {
      throw fail(ErrorCode::kBadData, input.at(lines.number(), tab + 2),
                 "expected CLASS<TAB>SEQUENCE, found no sequence after the TAB");
    }
    set.end_sequence_labelled(std::string(label));
    if (!kept) dropped.push_back(static_cast<std::uint32_t>(set.size() - 1));
  }
  set.set_alphabet(decoder.alphabet());
  return without(std::move(set), dropped);
}

}  // namespace hqmm::detail

#include "hqmm/io/detect.hpp"

#include <algorithm>

#include "hqmm/io/letters.hpp"
#include "hqmm/io/tokens.hpp"

namespace hqmm::detail {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::string_view kMatText = "MATLAB 5.0 MAT-file";
constexpr std::size_t kMatVersionAt = 124;  // two bytes, then "IM" or "MI" by byte order
constexpr std::size_t kLinesLookedAt = 100;
// A UCI sequence is told from a third token by its letters or, failing that, by its length.
constexpr std::size_t kFewestNucleotides = 4;
constexpr std::size_t kFewestResidues = 20;

/// The HDF5 superblock may stand after a user block of 512, 1024, 2048, … bytes.
bool is_hdf5(std::string_view head) {
  if (head.starts_with(kHdf5Magic)) return true;
  for (std::size_t at = 512; at < head.size(); at *= 2) {
    if (head.substr(at).starts_with(kHdf5Magic)) return true;
  }
  return false;
}

bool is_mat(std::string_view head) {
  if (head.starts_with(kMatText)) return true;
  if (head.size() < kMatVersionAt + 4) return false;
  const std::string_view version = head.substr(kMatVersionAt, 4);
  return version == std::string_view("\x00\x01IM", 4) ||
         version == std::string_view("\x01\x00MI", 4);
}

/// The lines that can hold data. A line that starts with '#' is a comment, unless there is nothing
/// else: then it may be a class whose name starts so.
std::vector<std::string_view> data_lines(const Input& input) {
  std::vector<std::string_view> lines, hashed;
  for (const std::string_view line : head_lines(input, CutLine::kLeaveOut)) {
    if (trimmed(line).empty()) continue;
    (trimmed(line).front() == '#' ? hashed : lines).push_back(line);
    if (lines.size() == kLinesLookedAt) break;
  }
  if (!lines.empty()) return lines;
  std::erase_if(hashed, [](std::string_view line) { return line.find('\t') == line.npos; });
  return hashed;
}

bool looks_uci(std::string_view line, const ReadOptions& options) {
  if (std::count(line.begin(), line.end(), ',') != 2) return false;
  if (options.alphabet && all_symbols(line, options.alphabet)) return false;
  const std::string_view sequence = trimmed(line.substr(line.rfind(',') + 1));
  if (!is_letters(sequence)) return false;
  if (options.alphabet) return all_symbols(sequence, options.alphabet);
  LetterCensus census;
  census.add(sequence);
  return sequence.size() >= kFewestResidues ||
         (sequence.size() >= kFewestNucleotides && census.nucleotides());
}

/// Behind the TAB: what can follow a class. More than one symbol, since a lone one may as well be
/// the second of two that a TAB separates.
bool several_symbols(std::string_view text, const std::optional<Alphabet>& alphabet) {
  const auto tokens = tokens_of(text);
  if (tokens.size() > 1) return all_symbols(text, alphabet);
  if (tokens.empty() || tokens[0].size() < 2 || !is_letters(tokens[0])) return false;
  if (alphabet) return is_symbol(tokens[0], alphabet);
  LetterCensus census;
  census.add(tokens[0]);
  return census.nucleotides();
}

bool looks_labelled(const std::vector<std::string_view>& lines, const ReadOptions& options) {
  const bool tabs_everywhere = std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    return line.find('\t') != line.npos;
  });
  if (lines.front().find('\t') == std::string_view::npos) return false;
  const bool one_tab_each = std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    return std::count(line.begin(), line.end(), '\t') == 1;
  });
  std::size_t first_is_symbol = 0, several = 0;
  for (const std::string_view line : lines) {
    const std::size_t tab = line.find('\t');
    if (tab == line.npos) continue;
    first_is_symbol += all_symbols(line.substr(0, tab), options.alphabet);
    several += several_symbols(line.substr(tab + 1), options.alphabet) &&
               tokens_of(line.substr(0, tab)).size() <= 1;
  }
  if (first_is_symbol == 0) {
    // A class for certain, if a sequence follows; with one TAB each the mistake lies in the
    // sequence.
    return several > 0 || one_tab_each ||
           all_symbols(lines.front().substr(lines.front().find('\t')), options.alphabet);
  }
  return tabs_everywhere && one_tab_each && several > 0;
}

Format detect_lines(const Input& input, const ReadOptions& options) {
  const auto lines = data_lines(input);
  if (lines.empty()) return Format::kText;
  const std::string_view first = lines.front();
  const bool custom_tokens =
      options.alphabet && options.alphabet->kind() == Alphabet::Kind::kTokens;
  if (!custom_tokens || !all_symbols(first, options.alphabet)) {
    if (first.front() == '>') return Format::kFasta;
    if (first.front() == '@' && first.find('\t') == first.npos) return Format::kFastq;
    const bool fasta_comment = first.front() == ';';
    const bool record_follows =
        std::any_of(lines.begin(), lines.end(), [](auto line) { return line.front() == '>'; });
    if (fasta_comment && record_follows) return Format::kFasta;
  }
  if (looks_uci(lines.front(), options)) return Format::kUci;
  if (looks_labelled(lines, options)) return Format::kLabelled;
  return Format::kText;
}

}  // namespace

Format detect_format(const Input& input, const ReadOptions& options) {
  const std::string_view head = input.head();
  if (head.starts_with(kNpyMagic)) return Format::kNpy;
  if (is_hdf5(head)) return Format::kHdf5;
  if (is_mat(head)) return Format::kMat;
  if (!options.label_column.empty()) {
    const auto lines = head_lines(input, CutLine::kLeaveOut);
    const bool tab = !lines.empty() && lines.front().find('\t') != std::string_view::npos;
    return tab ? Format::kTsv : Format::kCsv;
  }
  return detect_lines(input, options);
}

}  // namespace hqmm::detail

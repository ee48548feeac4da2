// Tables as text: for a terminal, as Markdown and as TSV.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/internals.hpp"

namespace hqmm::cli {

/// Rows of cells; the first row is the head.
using Cells = std::vector<std::vector<std::string>>;

/// A table for programs: cells between TABs, a row per line. What would break a cell is written
/// \t, \n, \r and \\.
[[nodiscard]] std::string tsv(const Cells& rows);
[[nodiscard]] std::string tsv_row(const std::vector<std::string>& cells);
/// With every digit that the number has; "NA" when there is none.
[[nodiscard]] std::string exact(const std::optional<double>& number);

/// Columns of a terminal that UTF-8 without wide letters takes.
[[nodiscard]] std::size_t text_width(const std::string& text);

/// Text columns, the first to the left and the others to the right.
[[nodiscard]] std::string table(const Cells& rows);
/// The same as Markdown.
[[nodiscard]] std::string markdown_table(const Cells& rows);
/// Markdown whose columns stand under each other on a terminal too; the first `words` columns are
/// words, the others numbers.
[[nodiscard]] std::string aligned_markdown_table(const Cells& rows, std::size_t words = 0);

}  // namespace hqmm::cli

#include "support/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hqmm::cli {
namespace {

std::string escaped(const std::string& cell) {
  std::string out;
  for (const char c : cell) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<') out += '\\';
    out += c;
  }
  return out;
}

std::string tsv_cell(const std::string& cell) {
  std::string out;
  for (const char c : cell) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string tsv_row(const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t k = 0; k < cells.size(); ++k) out += (k > 0 ? "\t" : "") + tsv_cell(cells[k]);
  return out + "\n";
}

std::string tsv(const Cells& rows) {
  std::string out;
  for (const auto& row : rows) out += tsv_row(row);
  return out;
}

std::string exact(const std::optional<double>& number) {
  return number && !std::isnan(*number) ? fmt::format("{}", *number) : "NA";
}

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string table(const Cells& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t k = 0; k < row.size(); ++k)
      widths[k] = std::max(widths[k], text_width(row[k]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::string blanks(widths[k] - text_width(row[k]), ' ');
      line += k == 0 ? "  " + row[k] + blanks : "  " + blanks + row[k];
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string markdown_table(const Cells& rows) {
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += "|";
    for (const std::string& cell : rows[i]) out += " " + escaped(cell) + " |";
    out += "\n";
    if (i > 0) continue;
    out += "|";
    for (std::size_t k = 0; k < rows[0].size(); ++k) out += k == 0 ? "---|" : "---:|";
    out += "\n";
  }
  return out;
}

std::string aligned_markdown_table(const Cells& rows, std::size_t words) {
  std::vector<std::size_t> widths(rows.front().size(), 3);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], text_width(row[c]));
  }
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const std::string blanks(widths[c] - text_width(rows[r][c]), ' ');
      out += "| " + (c < words ? rows[r][c] + blanks : blanks + rows[r][c]) + " ";
    }
    out += "|\n";
    if (r > 0) continue;
    for (std::size_t c = 0; c < widths.size(); ++c)
      out += "|" + std::string(widths[c] + 1, '-') + (c < words ? "-" : ":");
    out += "|\n";
  }
  return out;
}

}  // namespace hqmm::cli

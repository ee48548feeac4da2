// Charts as SVG text: lines or bars over categories, with error bars, a legend and reference lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hqmm::detail {

struct Mark {
  double value = 0.0;
  double error = 0.0;  // half the length of the error bar
};

struct Series {
  std::string name;                        // empty: not in the legend
  std::vector<std::optional<Mark>> marks;  // one per category
  bool dashed = false;                     // for figures that are not what they seem
  std::string colour{};                    // empty: one of its own, by its place
  bool circles = true;                     // at the marks
};

struct ReferenceLine {
  std::string name;
  double value = 0.0;
};

struct Chart {
  enum class Kind { kLines, kBars };
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> categories;
  std::vector<double> places{};  // of the categories, ascending; empty: side by side
  std::vector<Series> series;
  std::vector<ReferenceLine> references;
  Kind kind = Kind::kLines;
  bool logarithmic = false;  // values ≤ 0 are left out
};

/// Text as it may stand between tags.
[[nodiscard]] std::string svg_escaped(const std::string& text);

/// The same chart gives the same bytes.
[[nodiscard]] std::string draw_svg(const Chart& chart);

}  // namespace hqmm::detail

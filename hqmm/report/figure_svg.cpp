#include "hqmm/report/figure_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hqmm::detail {
namespace {

constexpr double kWidth = 800, kLeft = 70, kRight = 235, kTop = 44, kBottom = 56;
constexpr double kPlotHeight = 300, kLegendStep = 19;
// Okabe and Ito's colours, which colour-blind readers can distinguish.
constexpr std::array<const char*, 8> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#e69f00", "#56b4e9", "#000000", "#999999"};

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart) { find_range(); }

  std::string run() {
    const double height =
        std::max(kTop + kPlotHeight + kBottom,
                 kTop + kLegendStep * static_cast<double>(named() + chart_.references.size() + 1));
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
        kWidth, height);
    text(kLeft, 22, chart_.title, "font-size=\"15\" font-weight=\"bold\"");
    axes();
    references();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      if (chart_.kind == Chart::Kind::kLines) {
        line_series(i);
      } else {
        bar_series(i);
      }
    }
    legend();
    return out_ + "</svg>\n";
  }

 private:
  [[nodiscard]] std::size_t named() const {
    return static_cast<std::size_t>(std::count_if(chart_.series.begin(), chart_.series.end(),
                                                  [](const Series& s) { return !s.name.empty(); }));
  }
  [[nodiscard]] std::string colour_of(std::size_t index) const {
    const std::string& own = chart_.series[index].colour;
    return own.empty() ? kColours[index % kColours.size()] : own;
  }

  [[nodiscard]] bool usable(double value) const {
    return std::isfinite(value) && (!chart_.logarithmic || value > 0.0);
  }

  void find_range() {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    const auto take = [&](double value) {
      if (!usable(value)) return;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    };
    for (const Series& series : chart_.series) {
      for (const auto& mark : series.marks) {
        if (!mark) continue;
        take(mark->value - mark->error);
        take(mark->value + mark->error);
        take(mark->value);
      }
    }
    for (const ReferenceLine& line : chart_.references) take(line.value);
    if (!(least <= greatest)) least = greatest = 1.0;
    if (chart_.logarithmic) {
      low_ = std::floor(std::log10(least));
      high_ = std::max(std::ceil(std::log10(greatest)), low_ + 1.0);
      step_ = 1.0;
      return;
    }
    if (chart_.kind == Chart::Kind::kBars) least = std::min(least, 0.0);
    const double span = greatest > least ? greatest - least : 1.0;
    step_ = nice_step(span / 5.0);
    low_ = step_ * std::floor(least / step_);
    high_ = step_ * std::ceil(greatest / step_ + 1e-9);
  }

  static double nice_step(double rough) {
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
      if (rough <= factor * power * 1.0000001) return factor * power;
    return 10.0 * power;
  }

  [[nodiscard]] double y_of(double value) const {
    const double v = chart_.logarithmic ? std::log10(value) : value;
    return kTop + kPlotHeight * (high_ - v) / (high_ - low_);
  }
  [[nodiscard]] double slot() const {
    return (kWidth - kLeft - kRight) /
           static_cast<double>(std::max<std::size_t>(chart_.categories.size(), 1));
  }
  [[nodiscard]] double x_of(std::size_t category) const {
    if (!chart_.places.empty()) {
      const double first = chart_.places.front();
      const double span = std::max(chart_.places.back() - first, 1e-9);
      return kLeft + (kWidth - kLeft - kRight) * (chart_.places[category] - first) / span;
    }
    return kLeft + slot() * (static_cast<double>(category) + 0.5);
  }

  void text(double x, double y, const std::string& words, const std::string& style) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style,
                        svg_escaped(words));
  }
  void line(double x1, double y1, double x2, double y2, const std::string& style) {
    out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                        y1, x2, y2, style);
  }

  void axes() {
    const double bottom = kTop + kPlotHeight, right = kWidth - kRight;
    const auto ticks = static_cast<int>(std::lround((high_ - low_) / step_));
    for (int k = 0; k <= ticks; ++k) {
      const double v = low_ + step_ * k;
      const double y = kTop + kPlotHeight * (high_ - v) / (high_ - low_);
      line(kLeft, y, right, y, "stroke=\"#dddddd\"");
      const double shown = std::abs(v) < 1e-12 ? 0.0 : v;
      text(kLeft - 8, y + 4,
           chart_.logarithmic ? fmt::format("{:g}", std::pow(10.0, v))
                              : fmt::format("{:.4g}", shown),
           "text-anchor=\"end\"");
    }
    line(kLeft, kTop, kLeft, bottom, "stroke=\"#333333\"");
    line(kLeft, bottom, right, bottom, "stroke=\"#333333\"");
    for (std::size_t i = 0; i < chart_.categories.size(); ++i) {
      if (!chart_.categories[i].empty())
        text(x_of(i), bottom + 18, chart_.categories[i], "text-anchor=\"middle\"");
    }
    text(0.5 * (kLeft + right), bottom + 42, chart_.x_label, "text-anchor=\"middle\"");
    text(0, 0, chart_.y_label,
         fmt::format("text-anchor=\"middle\" transform=\"translate(16 {:.1f}) rotate(-90)\"",
                     kTop + 0.5 * kPlotHeight));
  }

  /// The first is solid, the others are dotted.
  static std::string reference_style(std::size_t index) {
    return index == 0 ? R"(stroke="#333333" stroke-width="1.5")"
                      : R"(stroke="#333333" stroke-dasharray="2 3")";
  }

  void references() {
    for (std::size_t i = 0; i < chart_.references.size(); ++i) {
      const double value = chart_.references[i].value;
      if (usable(value)) line(kLeft, y_of(value), kWidth - kRight, y_of(value), reference_style(i));
    }
  }

  void error_bar(double x, const Mark& mark, const std::string& colour) {
    if (mark.error <= 0.0 || !usable(mark.value - mark.error)) return;
    const double top = y_of(mark.value + mark.error), low = y_of(mark.value - mark.error);
    const std::string style = fmt::format("stroke=\"{}\"", colour);
    line(x, top, x, low, style);
    line(x - 4, top, x + 4, top, style);
    line(x - 4, low, x + 4, low, style);
  }

  void line_series(std::size_t index) {
    const Series& series = chart_.series[index];
    const std::string colour = colour_of(index);
    std::string points;
    for (std::size_t i = 0; i < series.marks.size(); ++i) {
      if (!series.marks[i] || !usable(series.marks[i]->value)) continue;
      points += fmt::format("{:.1f},{:.1f} ", x_of(i), y_of(series.marks[i]->value));
    }
    if (points.empty()) return;
    points.pop_back();
    out_ +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n",
                    points, colour, series.dashed ? " stroke-dasharray=\"7 4\"" : "");
    if (!series.circles) return;
    for (std::size_t i = 0; i < series.marks.size(); ++i) {
      if (!series.marks[i] || !usable(series.marks[i]->value)) continue;
      const Mark& mark = *series.marks[i];
      out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x_of(i),
                          y_of(mark.value), series.dashed ? "#ffffff" : colour);
      if (series.dashed)
        out_ += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"none\" stroke=\"{}\"/>\n",
            x_of(i), y_of(mark.value), colour);
      error_bar(x_of(i), mark, colour);
    }
  }

  void bar_series(std::size_t index) {
    const Series& series = chart_.series[index];
    const std::string colour = colour_of(index);
    const double width = 0.8 * slot() / static_cast<double>(chart_.series.size());
    const double floor = chart_.logarithmic ? kTop + kPlotHeight : y_of(std::max(0.0, low_));
    for (std::size_t i = 0; i < series.marks.size(); ++i) {
      if (!series.marks[i] || !usable(series.marks[i]->value)) continue;
      const Mark& mark = *series.marks[i];
      const double x = x_of(i) - 0.4 * slot() + width * static_cast<double>(index);
      const double y = y_of(mark.value);
      out_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n", x,
          std::min(y, floor), width * 0.92, std::abs(floor - y),
          series.dashed ? fmt::format("fill=\"{0}\" fill-opacity=\"0.25\" stroke=\"{0}\" "
                                      "stroke-dasharray=\"4 2\"",
                                      colour)
                        : fmt::format("fill=\"{}\"", colour));
      error_bar(x + 0.46 * width, mark, "#333333");
    }
  }

  void legend() {
    const double x = kWidth - kRight + 14;
    double y = kTop + 10;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      if (chart_.series[i].name.empty()) continue;
      line(x, y - 4, x + 20, y - 4,
           fmt::format("stroke=\"{}\" stroke-width=\"3\"{}", colour_of(i),
                       chart_.series[i].dashed ? " stroke-dasharray=\"5 3\"" : ""));
      text(x + 27, y, chart_.series[i].name, "");
      y += kLegendStep;
    }
    for (std::size_t i = 0; i < chart_.references.size(); ++i, y += kLegendStep) {
      line(x, y - 4, x + 20, y - 4, reference_style(i));
      text(x + 27, y, chart_.references[i].name, "");
    }
  }

  const Chart& chart_;
  double low_ = 0.0, high_ = 1.0, step_ = 1.0;
  std::string out_;
};

}  // namespace

std::string svg_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string draw_svg(const Chart& chart) { return Drawing(chart).run(); }

}  // namespace hqmm::detail

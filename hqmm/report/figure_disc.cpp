#include "hqmm/report/figure_disc.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "hqmm/report/figure_svg.hpp"

namespace hqmm::detail {
namespace {

constexpr double kSize = 480, kCentre = 240, kRadius = 175, kTitleHeight = 30;
constexpr int kLongestPeriod = 6;  // rays of whole periods that are named

class Disc {
 public:
  std::string run(const std::string& title, const std::vector<std::complex<double>>& values) {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
        kSize, kSize + kTitleHeight);
    text(kCentre, 22, svg_escaped(title), "font-size=\"13\" font-weight=\"bold\"");
    circle(1.0, "#333333");
    circle(0.5, "#cccccc");
    line({-1.0, 0.0}, {1.0, 0.0});
    line({0.0, -1.0}, {0.0, 1.0});
    periods();
    for (const std::complex<double> value : values) point(value);
    return out_ + "</svg>\n";
  }

 private:
  static double x_of(std::complex<double> z) { return kCentre + kRadius * z.real(); }
  static double y_of(std::complex<double> z) { return kTitleHeight + kCentre - kRadius * z.imag(); }

  void text(double x, double y, const std::string& words, const char* style) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" {}>{}</text>\n", x,
                        y, style, words);
  }
  void circle(double radius, const char* colour) {
    out_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"none\" stroke=\"{}\"/>\n",
        x_of(0.0), y_of(0.0), kRadius * radius, colour);
  }
  void line(std::complex<double> from, std::complex<double> to) {
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#cccccc\"/>\n",
        x_of(from), y_of(from), x_of(to), y_of(to));
  }
  void periods() {
    for (int period = 2; period <= kLongestPeriod; ++period) {
      for (const double sign : {1.0, -1.0}) {
        if (period == 2 && sign < 0.0) continue;
        const auto ray = std::polar(1.0, sign * 2.0 * std::numbers::pi / period);
        line(0.98 * ray, 1.04 * ray);
        text(x_of(1.14 * ray), y_of(1.14 * ray) + 4.0,
             period == 2 ? "period 2" : fmt::format("{}", period), "fill=\"#555555\"");
      }
    }
  }
  void point(std::complex<double> value) {
    out_ += fmt::format(
        "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"4\" fill=\"#0072b2\" fill-opacity=\"0.7\">"
        "<title>{:.4f} at {:+.4f} turns</title></circle>\n",
        x_of(value), y_of(value), std::abs(value), std::arg(value) / (2.0 * std::numbers::pi));
  }

  std::string out_;
};

}  // namespace

std::string draw_disc_svg(const std::string& title,
                          const std::vector<std::complex<double>>& values) {
  return Disc().run(title, values);
}

}  // namespace hqmm::detail

#include "progress_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>

namespace hqmm::cli {

ProgressLine::ProgressLine(const CommonOptions& common)
    : visible_(!common.quiet && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::string line) {
  if (!visible_) return;
  // A line that wraps could not be taken back.
  winsize terminal{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0 &&
      line.size() >= terminal.ws_col)
    line.resize(terminal.ws_col - 1U);
  if (line == shown_) return;
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
  shown_ = std::move(line);
}

void ProgressLine::clear() {
  if (!shown_.empty()) fmt::print(stderr, "\r\x1b[K");
  shown_.clear();
}

std::string duration(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace hqmm::cli

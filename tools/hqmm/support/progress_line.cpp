#include "support/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "support/command.hpp"

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

}  // namespace hqmm::cli

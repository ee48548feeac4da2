#include "support/progress_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <utility>

#include "support/command.hpp"
#include "support/terminal.hpp"

namespace hqmm::cli {

ProgressLine::ProgressLine(const CommonOptions& common)
    : visible_(!common.quiet && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::string line) {
  if (!visible_) return;
  // A line that wraps could not be taken back.
  winsize terminal{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0 &&
      line.size() >= terminal.ws_col) {
    std::size_t end = terminal.ws_col - 1U;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
    line.resize(end);  // between characters
  }
  if (line == shown_) return;
  tell_again(line);
  shown_ = std::move(line);
}

void ProgressLine::clear() {
  if (!shown_.empty()) tell_again("");
  shown_.clear();
}

}  // namespace hqmm::cli

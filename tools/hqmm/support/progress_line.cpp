#include "support/progress_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <limits>
#include <utility>

#include "support/command.hpp"
#include "support/terminal.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {

ProgressLine::ProgressLine(const CommonOptions& common)
    : visible_(!common.quiet && ::isatty(STDERR_FILENO) == 1) {}

std::size_t ProgressLine::columns() {
  winsize terminal{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0;
  return known ? terminal.ws_col - 1U : std::numeric_limits<std::size_t>::max();
}

void ProgressLine::show(std::string line) {
  if (!visible_) return;
  // A line that wraps could not be taken back.
  if (const std::size_t room = columns(); text_width(line) > room) {
    std::size_t end = 0;
    for (std::size_t shown = 0; end < line.size(); ++end) {
      const bool begins = (static_cast<unsigned char>(line[end]) & 0xC0U) != 0x80U;
      if (begins && shown++ == room) break;
    }
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

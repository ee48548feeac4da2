#include "predict/live.hpp"

#include "support/interrupts.hpp"
#include "support/output.hpp"

namespace hqmm::cli {
namespace {

// A file does not say when it has grown: it is asked. A signal that comes just before we wait is
// heard as late.
constexpr int kMilliseconds = 50;
constexpr int kNoDescriptor = -1;

}  // namespace

LiveInput::LiveInput(const std::string& path) : file_(path), stop_(catch_interrupts()) {}

std::size_t LiveInput::read(std::span<char> buffer) {
  began_again_ = false;
  while (!stop_()) {
    if (!file_.grows()) {
      if (wait_for_bytes(file_.descriptor(), kMilliseconds)) return file_.read(buffer);
      continue;
    }
    if (const std::size_t size = file_.read(buffer)) return size;
    if (file_.start_over()) {
      began_again_ = true;
    } else {
      (void)wait_for_bytes(kNoDescriptor, kMilliseconds);
    }
  }
  return 0;
}

}  // namespace hqmm::cli

#include "hqmm/io/foreign_code.hpp"

#include <atomic>

namespace hqmm {
namespace {

constexpr unsigned kLeastSeconds = 5;
constexpr std::size_t kBytesPerSecond =
    10'000'000;  // both libraries read a sound file many times faster

thread_local const char* volatile current_file = nullptr;
std::atomic<ForeignCode::Watchdog> current_watchdog = nullptr;

void watch(unsigned seconds) {
  if (const ForeignCode::Watchdog watchdog = current_watchdog) watchdog(seconds);
}

}  // namespace

ForeignCode::ForeignCode(const std::string& file, std::size_t size) noexcept
    : outer_(current_file) {
  current_file = file.c_str();
  if (!file.empty()) watch(kLeastSeconds + static_cast<unsigned>(size / kBytesPerSecond));
}

ForeignCode::~ForeignCode() {
  if (*current_file != '\0') watch(0);
  current_file = outer_;
}

const char* ForeignCode::file() noexcept { return current_file; }

void ForeignCode::set_watchdog(Watchdog watchdog) noexcept { current_watchdog = watchdog; }

}  // namespace hqmm

#include "support/property.hpp"

#include <rapidcheck/gtest.h>

#include <stdexcept>
#include <string>

namespace hqmm::detail::testing {
namespace {

struct DoesNotHold : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

std::uint64_t Draw::number() { return random_.bits() >> random_.below(64); }

std::size_t Draw::between(std::size_t least, std::size_t most) {
  return least + random_.below(most - least + 1);
}

std::size_t Draw::length(std::size_t most) { return between(0, most * size_ / 100); }

std::vector<std::uint8_t> Draw::bytes() {
  std::vector<std::uint8_t> out(length());
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(between(0, 255));
  return out;
}

void for_all(const std::function<void(Draw&)>& property) {
  rc::detail::checkGTest([&] {
    const auto size = *rc::gen::withSize([](int most) { return rc::gen::inRange(0, most + 1); });
    const auto seed = *rc::gen::inRange<std::uint32_t>(0, 1U << 31U);
    Draw draw(seed, static_cast<std::size_t>(size));
    try {
      property(draw);
    } catch (const DoesNotHold& failure) {
      RC_FAIL(std::string(failure.what()));
    }
  });
}

void does_not_hold(const char* what, const char* file, int line) {
  throw DoesNotHold(std::string(file) + ":" + std::to_string(line) + ": does not hold: " + what);
}

}  // namespace hqmm::detail::testing

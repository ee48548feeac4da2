// Properties: tests of random cases, which grow from case to case; a failure is shown with the
// smallest case that is found to fail. rapidcheck does it, behind one compiled function.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <vector>

#include "hqmm/core/random.hpp"

namespace hqmm::detail::testing {

/// Draws the parts of one case.
class Draw {
 public:
  Draw(std::uint64_t seed, std::size_t size) : random_(seed, Purpose::kTest), size_(size) {}

  /// Any number: as many of one bit as of sixty-four.
  std::uint64_t number();
  /// least … most
  std::size_t between(std::size_t least, std::size_t most);
  /// The length of a list: 0 … most, less in small cases.
  std::size_t length(std::size_t most = 100);
  /// Bytes of any value.
  std::vector<std::uint8_t> bytes();
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, values.size() - 1)];
  }

 private:
  RandomStream random_;
  std::size_t size_;  // 0 … 100
};

/// Tries the property on a hundred cases, or as many as RC_PARAMS says.
void for_all(const std::function<void(Draw&)>& property);

/// Ends the case: what was said to hold does not.
[[noreturn]] void does_not_hold(const char* what, const char* file, int line);

}  // namespace hqmm::detail::testing

/// A test whose body is tried on every case: HQMM_PROPERTY(Suite, Name) { … draw.between(1, 6) … }
#define HQMM_PROPERTY(suite, name)                                                \
  void suite##_##name##_holds(::hqmm::detail::testing::Draw& draw);               \
  TEST(suite, name) { ::hqmm::detail::testing::for_all(suite##_##name##_holds); } \
  void suite##_##name##_holds([[maybe_unused]] ::hqmm::detail::testing::Draw& draw)

#define HQMM_HOLDS(condition)                                                                 \
  do {                                                                                        \
    if (!(condition)) ::hqmm::detail::testing::does_not_hold(#condition, __FILE__, __LINE__); \
  } while (false)

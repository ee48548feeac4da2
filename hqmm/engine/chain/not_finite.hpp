// A sequence whose weight or gradient is not finite.
#pragma once

#include <cstddef>
#include <exception>

namespace hqmm::detail {

/// Which of the batch, and at which symbol.
struct NotFinite {
  std::size_t sequence = 0;
  std::size_t position = 0;
};

/// Thrown by engines: probability zero, not a number, or too small to divide by.
class NotFiniteError : public std::exception {
 public:
  explicit NotFiniteError(NotFinite place) : place_(place) {}
  [[nodiscard]] const NotFinite& place() const noexcept { return place_; }
  [[nodiscard]] const char* what() const noexcept override { return "loss is not finite"; }

 private:
  NotFinite place_;
};

}  // namespace hqmm::detail

#include "hqmm/core/random.hpp"

#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace hqmm::detail {

std::uint64_t RandomStream::bits() noexcept {
  if (used_ == 4) {
    block_ = Philox()(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return block_[used_++];
}

double RandomStream::uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

double RandomStream::normal() noexcept {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 − u is in (0, 1]
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

std::uint64_t RandomStream::below(std::uint64_t bound) noexcept {
  assert(bound > 0);
  // Lemire's multiply-shift with rejection of the biased remainder.
  __extension__ typedef unsigned __int128 Wide;  // no ISO type: `using` would trip -Wpedantic
  Wide product = static_cast<Wide>(bits()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Wide>(bits()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::size_t RandomStream::categorical(std::span<const double> weights) noexcept {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  assert(total > 0.0 && std::isfinite(total));
  double left = uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last = i;  // rounding can run past the end: the last possible index takes it
    if (left < weights[i]) return i;
    left -= weights[i];
  }
  return last;
}

std::vector<std::uint32_t> permutation(std::size_t size, RandomStream& random) {
  assert(size <= std::numeric_limits<std::uint32_t>::max());
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace hqmm::detail

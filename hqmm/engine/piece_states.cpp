#include "hqmm/engine/piece_states.hpp"

namespace hqmm::detail {
namespace {

/// States that differ by no more are the same: as a whole, and in every coordinate.
constexpr double kSame = 1e-13;
constexpr double kSameEach = 1e-8;

}  // namespace

bool Comparison::same(const double* a, const double* b) const {
  Complex product = 0.0;
  double norm = 0.0, other = 0.0;
  for (Index i = 0; i < size_; ++i) {
    product += std::conj(at(a, i)) * at(b, i);
    norm += std::norm(at(a, i));
    other += std::norm(at(b, i));
  }
  const Complex factor = product / norm;
  double distance = 0.0;
  bool each = true;
  for (Index i = 0; i < size_; ++i) {
    const double apart = std::norm(at(b, i) - factor * at(a, i));
    distance += apart;
    each = each && apart <= kSameEach * kSameEach * std::norm(at(b, i));
  }
  return each && distance <= kSame * kSame * other;
}

}  // namespace hqmm::detail

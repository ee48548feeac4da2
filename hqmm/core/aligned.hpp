// AlignedDoubles: a vector of doubles that begins at a cache line, so that no vector of a kernel
// straddles two, and whose new elements are not set: work space is written before it is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "hqmm/core/export.hpp"

namespace HQMM_API hqmm {
namespace detail {

template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* p, std::size_t /*count*/) noexcept { ::operator delete(p, kAlignment); }
  template <typename U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;  // not U(): that would clear it
  }
  template <typename U, typename... Arguments>
  void construct(U* p, Arguments&&... arguments) {
    ::new (static_cast<void*>(p)) U(std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const CacheLineAllocator& /*a*/, const CacheLineAllocator& /*b*/) {
    return true;
  }
};

using AlignedDoubles = std::vector<double, CacheLineAllocator<double>>;

}  // namespace detail
}  // namespace hqmm

// Deterministic parallel loops.
//
// Work is cut into items or blocks by the caller's sizes alone, never by the thread count, and
// partial results are combined along a fixed binary tree: the same bytes come out at 1 or at 64
// threads.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace hqmm::detail {

/// Calls body(i) for i in [0, size), on at most `threads` threads (0 = all cores) and never more
/// than there are cores. Exceptions thrown by a body reach the caller: the one of the lowest i that
/// threw. Items above that one may be left out. An interruption is looked for before every item:
/// interruption.hpp.
void parallel_for(std::size_t size, int threads, const std::function<void(std::size_t)>& body);

/// Adds values up in place, neighbours first: ((v0+v1)+(v2+v3))+…, whatever the threads did. The
/// sum ends up in the first; add(a, b) is a += b, and may take b apart.
template <typename T, typename Add>
void fold_tree(std::span<T> values, Add add) {
  for (std::size_t stride = 1; stride < values.size(); stride *= 2) {
    for (std::size_t i = 0; i + stride < values.size(); i += 2 * stride)
      add(values[i], values[i + stride]);
  }
}

/// The same for a combine that returns its result.
template <typename T, typename Combine>
T reduce_tree(std::vector<T> values, T empty, Combine combine) {
  if (values.empty()) return empty;
  fold_tree(std::span(values), [&](T& a, T& b) { a = combine(std::move(a), std::move(b)); });
  return std::move(values.front());
}

/// map(i) for every i in parallel, then reduce_tree over the results in index order.
template <typename T, typename Map, typename Combine>
T parallel_reduce(std::size_t size, int threads, T empty, Map map, Combine combine) {
  static_assert(!std::is_same_v<T, bool>, "neighbours in std::vector<bool> share a byte: use char");
  std::vector<T> values(size, empty);
  parallel_for(size, threads, [&](std::size_t i) { values[i] = map(i); });
  return reduce_tree(std::move(values), std::move(empty), combine);
}

/// The number of threads `threads` stands for: itself, or all cores for 0.
int resolve_threads(int threads);

}  // namespace hqmm::detail

#include "hqmm/core/parallel.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <exception>
#include <limits>
#include <mutex>

namespace hqmm {

int resolve_threads(int threads) { return threads > 0 ? threads : tbb::info::default_concurrency(); }

void parallel_for(std::size_t size, int threads, const std::function<void(std::size_t)>& body) {
  const int workers = resolve_threads(threads);
  if (workers == 1 || size <= 1) {
    for (std::size_t i = 0; i < size; ++i) body(i);
    return;
  }
  std::mutex guard;
  std::size_t failed_at = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure;
  tbb::task_arena arena(workers);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, size, [&](std::size_t i) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
      }
    });
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hqmm

#include "hqmm/core/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "hqmm/core/interruption.hpp"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace hqmm {
namespace {

/// What the bodies have thrown so far: of all failures, the one of the lowest index is kept.
class FirstFailure {
 public:
  [[nodiscard]] bool before(std::size_t i) const noexcept {
    return index_.load(std::memory_order_relaxed) < i;
  }
  void keep(std::size_t i, std::exception_ptr failure) {
    const std::lock_guard lock(guard_);
    if (before(i)) return;
    index_.store(i, std::memory_order_relaxed);
    failure_ = std::move(failure);
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex guard_;
  std::atomic<std::size_t> index_{std::numeric_limits<std::size_t>::max()};
  std::exception_ptr failure_;
};

// Debian's libtbb is not built with ThreadSanitizer, which therefore cannot see that a loop's
// set-up comes before its bodies and its bodies before its end. These two say so, and nothing more:
// a race between two bodies is still reported. What TBB's own headers do is left to
// cmake/tsan.supp.
void happens_before([[maybe_unused]] void* edge) noexcept {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(edge);
#endif
}
void happens_after([[maybe_unused]] void* edge) noexcept {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(edge);
#endif
}

class Loop {
 public:
  explicit Loop(const std::function<void(std::size_t)>& body)
      : body_(body), asked_(current_interruption()) {
    happens_before(&started_);
  }
  void run(std::size_t begin, std::size_t end) {
    happens_after(&started_);
    const InterruptionScope scope(asked_);
    for (std::size_t i = begin; i < end && !failure_.before(i); ++i) {
      try {
        check_interruption();
        body_(i);
      } catch (...) {
        failure_.keep(i, std::current_exception());
      }
    }
    happens_before(&finished_);
  }
  void finish() {
    happens_after(&finished_);
    failure_.rethrow();
  }

 private:
  const std::function<void(std::size_t)>& body_;
  const std::function<bool()>* asked_;
  FirstFailure failure_;
  char started_ = 0;
  char finished_ = 0;
};

/// What TBB copies from thread to thread: unseen by ThreadSanitizer, like the hand-over itself.
struct Block {
  Loop* loop;
  __attribute__((no_sanitize_thread)) void operator()(
      const tbb::blocked_range<std::size_t>& range) const {
    loop->run(range.begin(), range.end());
  }
};

}  // namespace

int resolve_threads(int threads) {
  return threads > 0 ? threads : tbb::info::default_concurrency();
}

void parallel_for(std::size_t size, int threads, const std::function<void(std::size_t)>& body) {
  // TBB has no more workers than cores anyway, and prints a warning when asked for more.
  const int workers = std::min(resolve_threads(threads), tbb::info::default_concurrency());
  if (workers == 1 || size <= 1) {
    for (std::size_t i = 0; i < size; ++i) {
      check_interruption();
      body(i);
    }
    return;
  }
  Loop loop(body);
  tbb::task_arena arena(workers);
  arena.execute([&] { tbb::parallel_for(tbb::blocked_range<std::size_t>(0, size), Block{&loop}); });
  loop.finish();
}

}  // namespace hqmm

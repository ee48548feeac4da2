#include "hqmm/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "hqmm/core/interruption.hpp"
#include "hqmm/core/team.hpp"

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

/// Items in runs that get shorter towards the end, so that all threads end together and short items
/// cost no more than they must.
class Loop final : public TeamWork {
 public:
  Loop(std::size_t size, int threads, const std::function<void(std::size_t)>& body)
      : size_(size),
        share_(8 * static_cast<std::size_t>(threads)),
        body_(body),
        asked_(current_interruption()) {}

  void work() noexcept override {
    const InterruptionScope scope(asked_);
    for (;;) {
      std::size_t begin = next_.load(std::memory_order_relaxed);
      std::size_t end = begin;
      do {
        if (begin >= size_) return;
        end = begin + std::max<std::size_t>(1, (size_ - begin) / share_);
      } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
      run(begin, end);
    }
  }

  [[nodiscard]] bool exhausted() const noexcept override {
    return next_.load(std::memory_order_relaxed) >= size_;
  }

  void rethrow() const { failure_.rethrow(); }

 private:
  void run(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && !failure_.before(i); ++i) {
      try {
        check_interruption();
        body_(i);
      } catch (...) {
        failure_.keep(i, std::current_exception());
      }
    }
  }

  const std::size_t size_, share_;
  const std::function<void(std::size_t)>& body_;
  const std::function<bool()>* asked_;
  std::atomic<std::size_t> next_{0};
  FirstFailure failure_;
};

}  // namespace

int resolve_threads(int threads) { return threads > 0 ? threads : usable_cores(); }

void parallel_for(std::size_t size, int threads, const std::function<void(std::size_t)>& body) {
  const int workers = std::min(resolve_threads(threads), usable_cores());
  if (workers == 1 || size <= 1) {
    for (std::size_t i = 0; i < size; ++i) {
      check_interruption();
      body(i);
    }
    return;
  }
  Loop loop(size, workers, body);
  Team::instance().share(loop, static_cast<int>(std::min<std::size_t>(size, workers)) - 1);
  loop.rethrow();
}

}  // namespace hqmm

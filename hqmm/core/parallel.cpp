#include "hqmm/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "hqmm/core/interruption.hpp"
#include "hqmm/core/team.hpp"

namespace hqmm::detail {
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

/// Every thread has a share of the items, the same from one loop of that size to the next, and then
/// takes of the others'. Items are taken in runs that get shorter towards the end, so that all
/// threads end together and short items cost no more than they must.
class Loop final : public TeamWork {
 public:
  Loop(std::size_t size, std::size_t threads, const std::function<void(std::size_t)>& body)
      : shares_(threads), body_(body), asked_(current_interruption()) {
    for (std::size_t k = 0; k < threads; ++k) {
      shares_[k].next = k * size / threads;
      shares_[k].end = (k + 1) * size / threads;
    }
  }

  void work(int who) noexcept override {
    const InterruptionScope scope(asked_);
    for (std::size_t k = 0; k < shares_.size(); ++k)
      work_at(shares_[(static_cast<std::size_t>(who) + k) % shares_.size()]);
  }

  [[nodiscard]] bool exhausted() const noexcept override {
    return std::ranges::all_of(shares_, [](const Share& share) {
      return share.next.load(std::memory_order_relaxed) >= share.end;
    });
  }

  void rethrow() const { failure_.rethrow(); }

 private:
  struct alignas(64) Share {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };

  void work_at(Share& share) noexcept {
    for (;;) {
      std::size_t begin = share.next.load(std::memory_order_relaxed);
      std::size_t end = begin;
      do {
        if (begin >= share.end) return;
        end = begin + std::max<std::size_t>(1, (share.end - begin) / 8);
      } while (!share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
      run(begin, end);
    }
  }

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

  std::vector<Share> shares_;
  const std::function<void(std::size_t)>& body_;
  const std::function<bool()>* asked_;
  FirstFailure failure_;
};

}  // namespace

int resolve_threads(int threads) { return threads > 0 ? threads : usable_cores(); }

void parallel_for(std::size_t size, int threads, const std::function<void(std::size_t)>& body) {
  const auto workers = static_cast<std::size_t>(std::min(resolve_threads(threads), usable_cores()));
  if (workers == 1 || size <= 1) {
    for (std::size_t i = 0; i < size; ++i) {
      check_interruption();
      body(i);
    }
    return;
  }
  Loop loop(size, std::min(size, workers), body);
  Team::instance().share(loop, static_cast<int>(std::min(size, workers)) - 1);
  loop.rethrow();
}

}  // namespace hqmm::detail

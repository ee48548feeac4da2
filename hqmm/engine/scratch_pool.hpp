// ScratchPool: the scratch memory of passes, kept from one pass to the next. Fresh pages for every
// mini-batch would cost as much as the arithmetic.
//
// A pass leaves its scratch to the next one; which one a pass gets does not matter to its result.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace hqmm::detail {

template <typename Scratch>
class ScratchPool {
 public:
  /// A pass holds its scratch through a loan.
  class Loan {
   public:
    /// One that is idle, or a new one made from these arguments.
    template <typename... Arguments>
    explicit Loan(ScratchPool& pool, const Arguments&... arguments)
        : pool_(pool), scratch_(pool.take_idle()) {
      if (!scratch_) scratch_ = std::make_unique<Scratch>(arguments...);
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() { pool_.put_back(std::move(scratch_)); }
    [[nodiscard]] Scratch& scratch() noexcept { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<Scratch> scratch_;
  };

 private:
  /// Rather one that this thread had before: it may still be in its cache.
  std::unique_ptr<Scratch> take_idle() {
    const std::lock_guard lock(guard_);
    if (idle_.empty()) return nullptr;
    auto found = std::ranges::find(idle_, std::this_thread::get_id(), &Idle::last);
    if (found == idle_.end()) --found;
    auto out = std::move(found->scratch);
    idle_.erase(found);
    return out;
  }
  void put_back(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(guard_);
    idle_.push_back({std::move(scratch), std::this_thread::get_id()});
  }

  struct Idle {
    std::unique_ptr<Scratch> scratch;
    std::thread::id last;
  };

  std::mutex guard_;
  std::vector<Idle> idle_;
};

}  // namespace hqmm::detail

// The memory of a pass, kept from one batch to the next: fresh pages for every mini-batch would
// cost as much as the arithmetic.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/engine/quantum/chain_layout.hpp"

namespace hqmm {

/// Weights outside these call for the careful mode.
inline constexpr double kSmallestWeight = 0x1p-900;
inline constexpr double kLargestWeight = 0x1p+900;

/// Room for the products of one group, for forms that need it.
struct FormScratch {
  AlignedDoubles images, products;
};

struct ChainWork {
  struct Checkpoint {
    std::vector<double> states;
    std::vector<std::int64_t> exponents;
  };

  ChainLayout layout;
  AlignedDoubles states;         // of a segment, by slot
  AlignedDoubles adjoints;       // of a block, by slot
  AlignedDoubles carry;          // of each sequence: the state at the end of the segment,
  AlignedDoubles last;           // the state behind its last symbol,
  AlignedDoubles adjoint_carry;  // and the adjoint at the start of the block
  std::vector<double> powers;  // [rescaling of the segment][sequence]: what the state was scaled by
  std::vector<std::int64_t> exponents;  // of two, taken out of each sequence's state so far
  std::vector<Checkpoint> checkpoints;  // [segment]
  std::vector<double> weights;          // [sequence]: of its state one step ago, when watched
  std::vector<double*> next;            // [sequence of a group]: where its next state goes
  std::vector<char> events;             // [step]: a sequence has a mark before it, or ends there
  FormScratch scratch;
};

/// Passes borrow their memory here.
class WorkPool {
 public:
  class Loan {
   public:
    explicit Loan(WorkPool& pool) : pool_(pool) {
      const std::lock_guard lock(pool.guard_);
      if (!pool.free_.empty()) {
        work_ = std::move(pool.free_.back());
        pool.free_.pop_back();
      }
      if (!work_) work_ = std::make_unique<ChainWork>();
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      const std::lock_guard lock(pool_.guard_);
      pool_.free_.push_back(std::move(work_));
    }
    [[nodiscard]] ChainWork& work() noexcept { return *work_; }

   private:
    WorkPool& pool_;
    std::unique_ptr<ChainWork> work_;
  };

 private:
  std::mutex guard_;
  std::vector<std::unique_ptr<ChainWork>> free_;
};

}  // namespace hqmm

// ChainLayout: where the states of a segment of steps lie.
//
// Within a block of steps, slots are ordered by operator, then step, then sequence: all uses of an
// operator are one run, and those of one step within it one group. Operators may share a key, which
// then counts instead.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "hqmm/engine/chain/program.hpp"

namespace hqmm::detail {

/// Consecutive slots with the same operator.
struct Group {
  std::uint32_t op = 0;  // or key
  std::size_t first = 0;
  std::size_t count = 0;
};

class ChainLayout {
 public:
  /// Steps [begin, end) of `count` sequences from `first` on, in blocks of `block_steps`. `keys` of
  /// the operators, or none: each is its own.
  void write(const Program& program, std::size_t first, std::size_t count, std::size_t begin,
             std::size_t end, std::size_t block_steps, std::span<const std::uint32_t> keys = {});

  [[nodiscard]] std::size_t slot(std::size_t t, std::size_t b) const {
    return slots_[(t - begin_) * count_ + b];
  }
  [[nodiscard]] std::size_t sequence(std::size_t slot) const { return sequences_[slot]; }
  /// Of one step.
  [[nodiscard]] std::span<const Group> groups(std::size_t t) const {
    const std::size_t from = group_offsets_[t - begin_];
    return {groups_.data() + from, group_offsets_[t - begin_ + 1] - from};
  }
  [[nodiscard]] std::size_t blocks() const { return block_firsts_.size() - 1; }
  [[nodiscard]] std::size_t block_first(std::size_t block) const { return block_firsts_[block]; }
  /// Of one block of steps.
  [[nodiscard]] std::span<const Group> runs(std::size_t block) const {
    const std::size_t from = run_offsets_[block];
    return {runs_.data() + from, run_offsets_[block + 1] - from};
  }

 private:
  [[nodiscard]] std::uint32_t key_of(std::uint32_t op) const {
    return keys_.empty() ? op : keys_[op];
  }
  void write_block(const Program& program, std::size_t first, std::size_t from, std::size_t to);

  std::span<const std::uint32_t> keys_;
  std::size_t begin_ = 0, count_ = 0;
  std::vector<std::uint32_t> slots_;      // [step][sequence]
  std::vector<std::uint32_t> sequences_;  // [slot]
  std::vector<Group> groups_, runs_;
  std::vector<std::size_t> group_offsets_, run_offsets_, block_firsts_;
  // per operator, while a block is written
  std::vector<std::uint32_t> cursor_, group_of_;
  std::vector<std::uint32_t> met_;
};

}  // namespace hqmm::detail

#include "hqmm/engine/chain/chain_layout.hpp"

#include <algorithm>

namespace hqmm::detail {

void ChainLayout::write(const Program& program, std::size_t first, std::size_t count,
                        std::size_t begin, std::size_t end, std::size_t block_steps,
                        std::span<const std::uint32_t> keys) {
  keys_ = keys;
  begin_ = begin;
  count_ = count;
  slots_.resize((end - begin) * count);
  sequences_.resize((end - begin) * count);
  groups_.clear();
  runs_.clear();
  group_offsets_.assign(1, 0);
  run_offsets_.assign(1, 0);
  block_firsts_.assign(1, 0);
  cursor_.assign(program.operators(), 0);
  group_of_.resize(program.operators());
  for (std::size_t from = begin; from < end; from += block_steps)
    write_block(program, first, from, std::min(end, from + block_steps));
}

void ChainLayout::write_block(const Program& program, std::size_t first, std::size_t from,
                              std::size_t to) {
  met_.clear();
  for (std::size_t b = 0; b < count_; ++b) {
    const auto steps = program.steps_of(first + b);
    for (std::size_t t = from; t < std::min(to, steps.size()); ++t) {
      const std::uint32_t key = key_of(steps[t]);
      if (cursor_[key]++ == 0) met_.push_back(key);
    }
  }
  // The order in which operators were met depends on the sequences alone.
  std::size_t next = block_firsts_.back();
  for (const std::uint32_t op : met_) {
    const std::size_t uses = cursor_[op];
    runs_.push_back({op, next, uses});
    cursor_[op] = static_cast<std::uint32_t>(next);
    next += uses;
  }
  for (std::size_t t = from; t < to; ++t) {
    const std::size_t groups_before = groups_.size();
    for (std::size_t b = 0; b < count_; ++b) {
      if (t >= program.length(first + b)) continue;
      const std::uint32_t op = key_of(program.steps[program.offsets[first + b] + t]);
      const std::uint32_t slot = cursor_[op]++;
      slots_[(t - begin_) * count_ + b] = slot;
      sequences_[slot] = static_cast<std::uint32_t>(b);
      std::uint32_t& group = group_of_[op];
      if (group < groups_before || group >= groups_.size() || groups_[group].op != op) {
        group = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({op, slot, 0});
      }
      ++groups_[group].count;
    }
    group_offsets_.push_back(groups_.size());
  }
  for (const std::uint32_t op : met_) cursor_[op] = 0;
  run_offsets_.push_back(runs_.size());
  block_firsts_.push_back(next);
}

}  // namespace hqmm::detail

// WordUses: where gradients by words go.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hqmm/engine/chain/chain_result.hpp"
#include "hqmm/engine/chain/program.hpp"

namespace hqmm::detail {

/// What words that have a gradient are made of: for each operator, the words it is in.
class WordUses {
 public:
  struct Use {
    std::uint32_t word;
    bool as_prefix;
  };

  WordUses(const Program& program, std::size_t begin, std::size_t end, const GradientTable& table) {
    const auto each = [&](auto visit) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!table.used(program.base_operators + i)) continue;
        const auto word = static_cast<std::uint32_t>(i);
        visit(program.words[i].prefix, Use{word, true});
        visit(program.words[i].last, Use{word, false});
      }
    };
    std::vector<std::uint32_t> at(program.base_operators + begin, 0);
    each([&](std::uint32_t op, Use) { ++at[op]; });
    std::uint32_t next = 0;
    for (std::uint32_t op = 0; op < at.size(); ++op) {
      if (at[op] == 0) continue;
      ops_.push_back(op);
      offsets_.push_back(next);
      next += std::exchange(at[op], next);
    }
    offsets_.push_back(next);
    uses_.resize(next);
    each([&](std::uint32_t op, Use use) { uses_[at[op]++] = use; });
  }

  [[nodiscard]] std::size_t operators() const { return ops_.size(); }
  [[nodiscard]] std::uint32_t op(std::size_t k) const { return ops_[k]; }
  [[nodiscard]] std::span<const Use> of(std::size_t k) const {
    return std::span(uses_).subspan(offsets_[k], offsets_[k + 1] - offsets_[k]);
  }

 private:
  std::vector<std::uint32_t> ops_, offsets_;
  std::vector<Use> uses_;
};

}  // namespace hqmm::detail

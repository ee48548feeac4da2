// WordTotals: what the symbols inside a word would have to be divided by, for a model that is not
// trace preserving.
//
// Of such a model the totals Σ_y tr 𝒦_y(ρ) = tr(Γ†Γ ρ) count at every symbol, and within a word no
// state is at hand but the one before it. Both the total and the weight after the first symbols p
// of a word are linear in ρ, though: tr(Γ†Γ 𝒦_p(ρ)) and tr 𝒦_p(ρ). One table holds both for every p
// that a word begins with, in the coordinates of the form:
//
//   trace forms   R_pᵀ g and R_pᵀ τ, to be multiplied by the coordinates of ρ
//   norm forms    R_pᵀ G R_p and R_pᵀ R_p, to be multiplied by ρ = AAᵀ
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/engine/chain/program.hpp"

namespace hqmm::detail {

class WordTotals {
 public:
  void clear() { words_.clear(); }
  [[nodiscard]] bool empty() const { return words_.empty(); }

  /// Room for tables of so many doubles each.
  void reshape(const Program& program, std::size_t size) {
    words_ = program.words;
    base_ = program.base_operators;
    size_ = size;
    values_.resize(2 * (base_ + program.pairs) * size);
    std::fill_n(values_.data(), values_.size(), 0.0);  // padding is multiplied along
  }
  [[nodiscard]] double* total(std::size_t op) { return values_.data() + 2 * op * size_; }
  [[nodiscard]] double* weight(std::size_t op) { return total(op) + size_; }

  /// What an operator begins with, but for all of it; false where it is one symbol.
  [[nodiscard]] bool prefix_of(std::uint32_t op, std::uint32_t& prefix) const {
    if (op < base_) return false;
    prefix = words_[op - base_].prefix;
    return true;
  }
  [[nodiscard]] const double* total(std::size_t op) const {
    return values_.data() + 2 * op * size_;
  }
  [[nodiscard]] const double* weight(std::size_t op) const { return total(op) + size_; }

 private:
  std::vector<Word> words_;
  std::size_t base_ = 0, size_ = 0;
  AlignedDoubles values_;
};

}  // namespace hqmm::detail

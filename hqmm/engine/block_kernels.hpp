// The inner loop of word_walk.hpp for operators of at most eight rows: one or two of them led along
// together, in registers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

inline constexpr Index kMostBlockRows = 8;
inline constexpr std::size_t kBlockChains = 2;
inline constexpr std::size_t kBlockAhead = 8;

/// What a word's operator was multiplied by to bring its weight near one, and what is in doubt.
struct WordScale {
  double heaviest = 0.0;      // weight that a state may gain
  double least = 0.0;         // a weight below this, where it was one before the word, is in doubt
  std::int32_t exponent = 0;  // the operator stands for 2^exponent times as much weight
};

/// Words to be applied to an operator X, 4 × 4 or 8 × 8 with zeros around it.
struct BlockChain {
  const std::uint32_t* words = nullptr;  // and kBlockAhead more, of any words
  double* x = nullptr;
  double weight = 1.0;
  std::int64_t exponent = 0;
  bool in_doubt = false;
};

struct BlockRun {
  Index rows = 0;
  Index traced = 0;  // rows and columns that count for the weight, if not `squared`
  bool squared = false;
  const double* matrices = nullptr;  // of all words, columns 4 or 8 apart
  const WordScale* scales = nullptr;
  std::size_t chains = 0;
  std::size_t from = 0, to = 0;  // of the words
  std::array<BlockChain, kBlockChains> chain;
};

/// Goes on to `to`, or to the first word after which a weight is in doubt or far from one; returns
/// where it stopped.
using BlockKernel = std::size_t (*)(BlockRun&);

/// For this processor, within HQMM_SIMD, and operators of so many rows.
[[nodiscard]] BlockKernel block_kernel(Index rows, bool squared);

inline constexpr double kSmallWeight = 0x1p-200;
inline constexpr double kLargeWeight = 0x1p+200;

}  // namespace hqmm::detail

#include "hqmm/engine/block_kernels.hpp"

#include <hwy/cache_control.h>

#include <utility>

#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/engine/block_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// X by rows: a step takes whole rows of it times single numbers of the operator, which need no
/// shuffling.
template <int kRows, bool kSquared>
struct Block {
  static constexpr int kWidth = kRows <= 4 ? 4 : 8;  // of a row, and of a column in memory
  using D = hn::CappedTag<double, kWidth>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr int kParts = kWidth / kLanes;

  V row[kRows * kParts];

  // By recursion, not by loops, as in core/panels.cpp.
  template <int kAt = 0>
  HWY_INLINE void load(const double* rows) {
    if constexpr (kAt < kRows * kParts) {
      row[kAt] = hn::Load(D(), rows + kAt * kLanes);
      load<kAt + 1>(rows);
    }
  }
  template <int kAt = 0>
  HWY_INLINE void store(double* rows) const {
    if constexpr (kAt < kRows * kParts) {
      hn::Store(row[kAt], D(), rows + kAt * kLanes);
      store<kAt + 1>(rows);
    }
  }
  /// = R x
  template <int kAt = 0>
  HWY_INLINE void product(const double* r, const Block& x) {
    if constexpr (kAt < kRows * kParts) {
      constexpr int kRow = kAt / kParts;
      row[kAt] = terms<kAt, 1>(r, x, hn::Mul(hn::Set(D(), r[kRow]), x.row[kAt % kParts]));
      product<kAt + 1>(r, x);
    }
  }
  template <int kAt, int kCol>
  static HWY_INLINE V terms(const double* r, const Block& x, V sum) {
    if constexpr (kCol < kRows) {
      const V factor = hn::Set(D(), r[kCol * kWidth + kAt / kParts]);
      return terms<kAt, kCol + 1>(r, x,
                                  hn::MulAdd(factor, x.row[kCol * kParts + kAt % kParts], sum));
    } else {
      return sum;
    }
  }
  /// Σ of the squares, or of what `counted` has ones for.
  [[nodiscard]] HWY_INLINE double weight(const Block& counted) const {
    const V sum = weights<1>(counted, hn::Mul(factor<0>(counted), row[0]));
    return hn::GetLane(hn::SumOfLanes(D(), sum));
  }
  template <int kAt>
  [[nodiscard]] HWY_INLINE V factor(const Block& counted) const {
    if constexpr (kSquared) return row[kAt];
    return counted.row[kAt];
  }
  template <int kAt>
  [[nodiscard]] HWY_INLINE V weights(const Block& counted, V sum) const {
    if constexpr (kAt < kRows * kParts) {
      return weights<kAt + 1>(counted, hn::MulAdd(factor<kAt>(counted), row[kAt], sum));
    } else {
      return sum;
    }
  }
};

/// Rows of X in memory by columns, and back.
template <int kRows>
void turn(const double* from, double* to) {
  constexpr int kWidth = kRows <= 4 ? 4 : 8;
  for (int j = 0; j < kWidth; ++j)
    for (int i = 0; i < kRows; ++i) to[i * kWidth + j] = from[j * kWidth + i];
}

template <int kRows, bool kSquared, int kChains>
std::size_t lead(BlockRun& run) {
  using B = Block<kRows, kSquared>;
  constexpr int kSize = kRows * B::kWidth;
  HWY_ALIGN double rows[kChains][kRows * 8];
  HWY_ALIGN double columns[64];
  B counted;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < B::kWidth; ++j)
      rows[0][i * B::kWidth + j] = i < run.traced && j < run.traced ? 1.0 : 0.0;
  counted.load(rows[0]);
  B now[kChains];
  const std::uint32_t* words[kChains];
  double weight[kChains];
  std::int64_t exponent[kChains];
  bool doubt[kChains] = {};
  for (int c = 0; c < kChains; ++c) {
    const BlockChain& chain = run.chain[c];
    for (double& column : columns) column = 0.0;
    for (int i = 0; i < B::kWidth * B::kWidth; ++i) columns[i] = chain.x[i];
    turn<kRows>(columns, rows[c]);
    now[c].load(rows[c]);
    words[c] = chain.words;
    weight[c] = chain.weight;
    exponent[c] = chain.exponent;
  }
  std::size_t k = run.from;
  for (bool fine = true; fine && k < run.to; ++k) {
    for (int c = 0; c < kChains; ++c) {
      const std::uint32_t word = words[c][k];
      // from the cache that has the whole table
      const double* ahead =
          run.matrices + std::size_t{words[c][k + kBlockAhead]} * B::kWidth * kRows;
      for (int i = 0; i < kSize; i += 8) hwy::Prefetch(ahead + i);
      B next;
      next.product(run.matrices + std::size_t{word} * B::kWidth * kRows, now[c]);
      now[c] = next;
      const double found = next.weight(counted);
      const WordScale& scale = run.scales[word];
      const bool told = found > scale.least * weight[c];  // false for what is not a number
      doubt[c] = doubt[c] || !told;
      fine = fine && told && found > kSmallWeight && found < kLargeWeight;
      weight[c] = found;
      exponent[c] += scale.exponent;
    }
  }
  for (int c = 0; c < kChains; ++c) {
    now[c].store(rows[c]);
    for (int j = 0; j < B::kWidth; ++j)
      for (int i = 0; i < kRows; ++i)
        run.chain[c].x[j * B::kWidth + i] = rows[c][i * B::kWidth + j];
    run.chain[c].weight = weight[c];
    run.chain[c].exponent = exponent[c];
    run.chain[c].in_doubt = doubt[c];
  }
  return k;
}

template <int kRows, bool kSquared>
std::size_t lead_some(BlockRun& run) {
  return run.chains == 1 ? lead<kRows, kSquared, 1>(run) : lead<kRows, kSquared, 2>(run);
}

template <std::size_t... kLess>
BlockKernel kernel_among(std::size_t index, bool squared, std::index_sequence<kLess...> /*rows*/) {
  static constexpr BlockKernel kPlain[] = {lead_some<static_cast<int>(kLess) + 1, false>...};
  static constexpr BlockKernel kSquare[] = {lead_some<static_cast<int>(kLess) + 1, true>...};
  return (squared ? kSquare : kPlain)[index];
}

BlockKernel kernel_for(Index rows, bool squared) {
  return kernel_among(static_cast<std::size_t>(rows - 1), squared,
                      std::make_index_sequence<kMostBlockRows>());
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(kernel_for);

BlockKernel block_kernel(Index rows, bool squared) {
  use_simd_limit();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(rows, squared);
}

}  // namespace hqmm::detail
#endif

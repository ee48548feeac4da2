#include "hqmm/engine/classical/hmm_tile.hpp"

#include <algorithm>
#include <utility>

#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/engine/classical/hmm_tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hqmm/core/registers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

constexpr std::size_t kLanes = hn::MaxLanes(D());
constexpr std::size_t kLine = 8;  // doubles: the stride of few states
/// Sequences that one pass over A serves: their accumulators must fit the registers.
constexpr std::size_t kMostTogether = kRegisters == 32 ? kTileSlots : 4;

/// Vectors of states taken together: accumulators, a column of A and one broadcast fit.
constexpr std::size_t most_vectors(std::size_t slots) {
  return std::min<std::size_t>(4, (kRegisters - 2) / (slots + 1));
}

/// Some vectors of states of some sequences: at[sequence][vector].
template <std::size_t kVectors, std::size_t kSlots>
struct Sums {
  V at[kSlots][kVectors];
};

/// Σ_j columns[j] x_j for the sequences whose x begin at from, from + stride, … Always in the order
/// of j: what comes out for a sequence does not depend on the others beside it.
template <std::size_t kVectors, std::size_t kSlots>
HWY_INLINE Sums<kVectors, kSlots> product(std::size_t states, std::size_t stride,
                                          const double* columns, const double* from) {
  Sums<kVectors, kSlots> sums;
  for (std::size_t q = 0; q < kSlots; ++q)
    for (std::size_t v = 0; v < kVectors; ++v) sums.at[q][v] = hn::Zero(D());
  for (std::size_t j = 0; j < states; ++j, columns += stride, ++from) {
    V column[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      column[v] = hn::Load(D(), columns + v * kLanes);
      if (kSlots > 1) keep_in_register(column[v]);
    }
    for (std::size_t q = 0; q < kSlots; ++q) {
      const V factor = hn::Set(D(), from[q * stride]);
      for (std::size_t v = 0; v < kVectors; ++v)
        sums.at[q][v] = hn::MulAdd(column[v], factor, sums.at[q][v]);
    }
  }
  return sums;
}

/// What a step of some sequences reads and writes; the rows of the sequences are `stride` apart.
struct Step {
  const double* matrix;
  const double* weights;         // C
  const double* from;            // α_t, or d_{t+1}
  double* to;                    // α_{t+1}, or d_t
  const std::uint32_t* emitted;  // y_t, kStripSteps apart
  const double* alpha;           // α_{t+1}; backward only, as E:
  double* counts;
  std::size_t spread;  // from the table of counts of a sequence to that of the next
};

struct Forward {
  template <std::size_t kVectors, std::size_t kSlots>
  static HWY_INLINE void block(Step step, std::size_t states, std::size_t stride,
                               std::size_t state) {
    const auto sums = product<kVectors, kSlots>(states, stride, step.matrix + state, step.from);
    for (std::size_t q = 0; q < kSlots; ++q) {
      const std::uint32_t emitted = step.emitted[q * kStripSteps];
      const double* weights = step.weights + emitted + state;
      double* to = step.to + q * stride + state;
      for (std::size_t v = 0; v < kVectors; ++v) {
        const V weight = hn::Load(D(), weights + v * kLanes);
        hn::Store(hn::Mul(sums.at[q][v], weight), D(), to + v * kLanes);
      }
    }
  }
  static HWY_INLINE Step first(const StripRun& run, std::size_t slot) {
    const Strip& strip = *run.strip;
    double* states = strip.states + strip.row(run.from, slot) * run.tables->stride;
    return {run.tables->columns.data(),
            run.tables->emission.data(),
            states,
            states + strip.slots * run.tables->stride,
            strip.emitted + slot * kStripSteps + run.from,
            nullptr,
            nullptr,
            0};
  }
  static HWY_INLINE void next(Step& step, std::size_t slots, std::size_t stride) {
    step.from += slots * stride;
    step.to += slots * stride;
    ++step.emitted;
  }
};

struct Backward {
  template <std::size_t kVectors, std::size_t kSlots>
  static HWY_INLINE void block(Step step, std::size_t states, std::size_t stride,
                               std::size_t state) {
    const auto beta = product<kVectors, kSlots>(states, stride, step.matrix + state, step.from);
    for (std::size_t q = 0; q < kSlots; ++q) {
      const std::uint32_t emitted = step.emitted[q * kStripSteps];
      const double* weights = step.weights + emitted + state;
      const double* alpha = step.alpha + q * stride + state;
      double* to = step.to + q * stride + state;
      double* counts = step.counts + q * step.spread + emitted + state;
      for (std::size_t v = 0; v < kVectors; ++v) {
        const std::size_t at = v * kLanes;
        hn::Store(hn::Mul(beta.at[q][v], hn::Load(D(), weights + at)), D(), to + at);
        const V count = hn::Load(D(), counts + at);
        hn::Store(hn::MulAdd(hn::Load(D(), alpha + at), beta.at[q][v], count), D(), counts + at);
      }
    }
  }
  static HWY_INLINE Step first(const StripRun& run, std::size_t slot) {
    const Strip& strip = *run.strip;
    const std::size_t stride = run.tables->stride;
    const std::size_t row = strip.row(run.to, slot);
    return {run.tables->rows.data(),
            run.tables->emission.data(),
            run.carried + row * stride,
            run.carried + (row - strip.slots) * stride,
            strip.emitted + slot * kStripSteps + run.to - 1,
            strip.states + row * stride,
            run.emissions + slot * run.spread,
            run.spread};
  }
  static HWY_INLINE void next(Step& step, std::size_t slots, std::size_t stride) {
    step.from -= slots * stride;
    step.to -= slots * stride;
    --step.emitted;
    step.alpha -= slots * stride;
  }
};

/// All states of one step, in blocks of vectors that are as even as can be.
template <class Pass, std::size_t kSlots>
HWY_INLINE void all_states(const Step& step, std::size_t states, std::size_t stride) {
  constexpr std::size_t kMost = most_vectors(kSlots);
  std::size_t vectors = (states + kLanes - 1) / kLanes;
  std::size_t blocks = (vectors + kMost - 1) / kMost;
  for (std::size_t state = 0; vectors > 0; --blocks) {
    const std::size_t take = (vectors + blocks - 1) / blocks;
    if (take == 1) Pass::template block<1, kSlots>(step, states, stride, state);
    if (take == 2) Pass::template block<2, kSlots>(step, states, stride, state);
    if constexpr (kMost > 2) {
      if (take == 3) Pass::template block<3, kSlots>(step, states, stride, state);
    }
    if constexpr (kMost > 3) {
      if (take == 4) Pass::template block<4, kSlots>(step, states, stride, state);
    }
    vectors -= take;
    state += take * kLanes;
  }
}

/// The sequences [slot, slot + kSlots) of a run, over all its steps.
template <class Pass, std::size_t kSlots>
void all_steps(const StripRun& run, std::size_t slot) {
  const std::size_t states = run.tables->states;
  const std::size_t stride = run.tables->stride;
  const std::size_t slots = run.strip->slots;
  Step step = Pass::first(run, slot);
  if (states <= kLanes && stride == kLine) {
    // a single vector of states: what is known of the layout makes up for much
    for (std::size_t k = run.from; k < run.to; ++k, Pass::next(step, slots, kLine))
      Pass::template block<1, kSlots>(step, states, kLine, 0);
  } else {
    for (std::size_t k = run.from; k < run.to; ++k, Pass::next(step, slots, stride))
      all_states<Pass, kSlots>(step, states, stride);
  }
}

template <class Pass, std::size_t... kFewer>
HWY_INLINE void all_slots(const StripRun& run, std::index_sequence<kFewer...> /*counts*/) {
  using Steps = void (*)(const StripRun&, std::size_t);
  static constexpr Steps kSteps[] = {all_steps<Pass, kFewer + 1>...};
  for (std::size_t slot = 0; slot < run.active;) {
    const std::size_t take = std::min(kMostTogether, run.active - slot);
    kSteps[take - 1](run, slot);
    slot += take;
  }
}

void forward(const StripRun& run) {
  all_slots<Forward>(run, std::make_index_sequence<kMostTogether>());
}

void backward(const StripRun& run) {
  all_slots<Backward>(run, std::make_index_sequence<kMostTogether>());
}

void rescale(const HmmTables& tables, const double* rows, std::size_t count, double* factors,
             double* to) {
  for (std::size_t q = 0; q < count; ++q, rows += tables.stride, to += tables.stride) {
    V sums = hn::Zero(D());
    for (std::size_t i = 0; i < tables.states; i += kLanes)
      sums = hn::Add(sums, hn::Load(D(), rows + i));
    factors[q] = factor_to_scale(hn::GetLane(hn::SumOfLanes(D(), sums)));
    const V factor = hn::Set(D(), factors[q]);
    for (std::size_t i = 0; i < tables.states; i += kLanes)
      hn::Store(hn::Mul(factor, hn::Load(D(), rows + i)), D(), to + i);
  }
}

void follow(const HmmTables& tables, const double* rows, std::size_t count, const double* factors,
            double* to) {
  const V most = hn::Set(D(), kLargestCarried);
  for (std::size_t q = 0; q < count; ++q, rows += tables.stride, to += tables.stride) {
    const V factor = hn::Set(D(), factors[q]);
    for (std::size_t i = 0; i < tables.states; i += kLanes)
      hn::Store(hn::Min(hn::Mul(factor, hn::Load(D(), rows + i)), most), D(), to + i);
  }
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(forward);
HWY_EXPORT(backward);
HWY_EXPORT(rescale);
HWY_EXPORT(follow);

TileKernels tile_kernels() {
  // asking the processor takes microseconds
  static const TileKernels kernels = [] {
    use_simd_limit();
    return TileKernels{HWY_DYNAMIC_DISPATCH(forward), HWY_DYNAMIC_DISPATCH(backward),
                       HWY_DYNAMIC_DISPATCH(rescale), HWY_DYNAMIC_DISPATCH(follow)};
  }();
  return kernels;
}

}  // namespace hqmm::detail
#endif

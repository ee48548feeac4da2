// choose: which engine, words of what length and parts of what size, from the shapes alone.
//
// Costs are counted in multiplications and weighted by what each form was measured to reach
// (docs/performance.md); nothing depends on the thread count, so results do not either.
#pragma once

#include "hqmm/engine/quantum/gradient.hpp"

namespace hqmm::detail {

/// What a choice depends on.
struct BatchShape {
  Index n = 0, w = 0, s = 0;
  Field field = Field::kComplex;
  EmissionKind emission = EmissionKind::kEdge;
  std::size_t sets = 1;
  Index state_rank = 0;  // of the initial state
  bool stationary = true;
  bool feasible = true;
  bool missing = false;
  std::size_t sequences = 0;
  std::size_t symbols = 0;
  std::size_t longest = 0;
  bool backward = true;  // or likelihoods alone
};

[[nodiscard]] BatchShape shape_of(const Hqmm& model, std::span<const SequenceView> batch,
                                  bool feasible);

struct Choice {
  EngineKind engine = EngineKind::kNaive;
  int word_length = 1;   // symbols per step, at most
  std::size_t part = 1;  // sequences per pass
  bool shared = false;   // superoperators of emission on states: one for all symbols
  bool two_way = false;  // superoperators, a sequence at a time: see chain/two_way.hpp
};

/// `wanted` kAuto: the cheapest. Another one is taken as it is; throws kUsage when the model does
/// not fit it.
[[nodiscard]] Choice choose(const BatchShape& shape, EngineKind wanted);

/// "auto", "naive", …; the inverse throws kUsage listing the names.

}  // namespace hqmm::detail

#include "hqmm/learn/position_start.hpp"

#include <cmath>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/model/shape_parameters.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"

namespace hqmm::detail {

RealMatrix position_frequencies(std::span<const SequenceView> sequences,
                                const PositionMap& positions, std::size_t sets,
                                std::size_t alphabet_size, double pseudo_count) {
  RealMatrix counts = RealMatrix::Constant(static_cast<Index>(sets),
                                           static_cast<Index>(alphabet_size), pseudo_count);
  for (const SequenceView& sequence : sequences) {
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      const Symbol symbol = sequence[t];
      if (symbol == kMissing) continue;
      const SymbolMembers seen = members(alphabet_size, symbol);
      for (const Symbol y : seen)
        counts(positions.set_at(t, sequence.size()), y) += 1.0 / static_cast<double>(seen.size());
    }
  }
  for (Index set = 0; set < counts.rows(); ++set) {
    const double total = counts.row(set).sum();
    if (total > 0.0) {
      counts.row(set) /= total;
    } else {
      counts.row(set).setConstant(1.0 / static_cast<double>(alphabet_size));
    }
  }
  return counts;
}

namespace {

Stack onto_manifold(const Stack& noisy, double noise) {
  Retraction onto = retract(noisy);
  if (!onto.converged)
    throw fail(ErrorCode::kUsage, "start noise {} made the start rank deficient", noise);
  return std::move(onto.gamma);
}

Stack gaussian_stack(Index rows, const HqmmShape& shape, double noise, RandomStream& random) {
  const bool real = shape.field == Field::kReal;
  const double amount = noise / std::sqrt((real ? 1.0 : 2.0) * static_cast<double>(rows));
  Stack out(rows, shape.latent_dim);
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index j = 0; j < out.cols(); ++j) {
      const double re = random.normal();
      out(i, j) = amount * Complex(re, real ? 0.0 : random.normal());
    }
  }
  return out;
}

}  // namespace

KrausSet kraus_of_frequencies(const RealVector& frequencies, const HqmmShape& shape, double noise,
                              RandomStream& random) {
  const Index n = shape.latent_dim;
  const bool on_states = shape.emission == EmissionKind::kState;
  const Index blocks = shape.kraus_rank * (on_states ? 1 : frequencies.size());
  Stack stack = gaussian_stack(blocks * n, shape, noise, random);
  if (!on_states) {
    KrausSet set(frequencies.size(), shape.kraus_rank, std::move(stack));
    for (Index y = 0; y < frequencies.size(); ++y)
      set.op(y, 0).diagonal().array() += std::sqrt(frequencies(y));
    set.gamma() = onto_manifold(set.gamma(), noise);
    return set;
  }
  stack.topRows(n).diagonal().array() += 1.0;
  RealMatrix emission = frequencies.cwiseSqrt().replicate(1, n);
  const double amount = noise / std::sqrt(static_cast<double>(frequencies.size()));
  for (Index i = 0; i < n; ++i) {
    for (Index y = 0; y < emission.rows(); ++y) emission(y, i) += amount * random.normal();
    emission.col(i).normalize();
  }
  return {onto_manifold(stack, noise), std::move(emission)};
}

}  // namespace hqmm::detail

#include "hqmm/learn/position_start.hpp"

#include <cmath>

#include "hqmm/core/error.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"

namespace hqmm {

RealMatrix position_frequencies(std::span<const SequenceView> sequences,
                                const PositionMap& positions, std::size_t sets,
                                std::size_t alphabet_size, double pseudo_count) {
  RealMatrix counts = RealMatrix::Constant(static_cast<Index>(sets),
                                           static_cast<Index>(alphabet_size), pseudo_count);
  for (const SequenceView& sequence : sequences) {
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      const Symbol symbol = sequence[t];
      if (symbol != kMissing) counts(positions.set_at(t, sequence.size()), symbol) += 1.0;
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

KrausSet kraus_of_frequencies(const RealVector& frequencies, Index kraus_rank, Index latent_dim,
                              double noise, RandomStream& random) {
  KrausSet set(frequencies.size(), kraus_rank, latent_dim);
  const double amount = noise / std::sqrt(2.0 * static_cast<double>(set.gamma().rows()));
  for (Index i = 0; i < set.gamma().rows(); ++i) {
    for (Index j = 0; j < latent_dim; ++j) {
      const double re = random.normal();
      set.gamma()(i, j) = amount * Complex(re, random.normal());
    }
  }
  for (Index y = 0; y < frequencies.size(); ++y)
    set.op(y, 0).diagonal().array() += std::sqrt(frequencies(y));
  Retraction onto = retract(set.gamma());
  if (!onto.converged)
    throw fail(ErrorCode::kUsage, "start noise {} made the start rank deficient", noise);
  set.gamma() = std::move(onto.gamma);
  return set;
}

}  // namespace hqmm

#include "hqmm/model/embedding.hpp"

#include <cmath>

namespace hqmm {
namespace {

/// `slot(to, from)` names the operator q that holds the amplitude of the move from → to.
template <typename Slot>
Hqmm embed(const Hmm& hmm, Slot slot) {
  const Index n = hmm.latent_dim();
  KrausSet set(hmm.alphabet_size(), n, n);
  for (Index y = 0; y < hmm.alphabet_size(); ++y) {
    for (Index from = 0; from < n; ++from) {
      for (Index to = 0; to < n; ++to) {
        set.op(y, slot(to, from))(to, from) =
            std::sqrt(hmm.emission(y, to) * hmm.transition(to, from));
      }
    }
  }
  return stationary_hqmm(hmm.alphabet, std::move(set),
                         hmm.initial.cast<Complex>().asDiagonal().toDenseMatrix());
}

}  // namespace

Hqmm embed_rank_one(const Hmm& hmm) {
  return embed(hmm, [](Index /*to*/, Index from) { return from; });
}

Hqmm embed_cyclic(const Hmm& hmm) {
  const Index n = hmm.latent_dim();
  return embed(hmm, [n](Index to, Index from) { return (from - to + n) % n; });
}

}  // namespace hqmm

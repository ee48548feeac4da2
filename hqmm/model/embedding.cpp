#include "hqmm/model/embedding.hpp"

#include <cmath>

namespace hqmm {
namespace {

double weight(const Hmm& hmm, Index y, Index to, Index from) {
  return hmm.emission(y, to) * hmm.transition(to, from);
}
double weight(const EdgeHmm& hmm, Index y, Index to, Index from) {
  return hmm.edges[static_cast<std::size_t>(y)](to, from);
}

/// `slot(to, from)` names the operator q that holds the amplitude of the move from → to.
template <typename Model, typename Slot>
Hqmm embed(const Model& hmm, Slot slot) {
  const Index n = hmm.latent_dim();
  KrausSet set(hmm.alphabet_size(), n, n);
  for (Index y = 0; y < hmm.alphabet_size(); ++y) {
    for (Index from = 0; from < n; ++from) {
      for (Index to = 0; to < n; ++to)
        set.op(y, slot(to, from))(to, from) = std::sqrt(weight(hmm, y, to, from));
    }
  }
  const Vector initial = hmm.initial.template cast<Complex>();
  return stationary_hqmm(hmm.alphabet, std::move(set), initial.asDiagonal().toDenseMatrix());
}

template <typename Model>
Hqmm rank_one(const Model& hmm) {
  return embed(hmm, [](Index /*to*/, Index from) { return from; });
}

template <typename Model>
Hqmm cyclic(const Model& hmm) {
  const Index n = hmm.latent_dim();
  return embed(hmm, [n](Index to, Index from) { return (from - to + n) % n; });
}

}  // namespace

Hqmm embed_rank_one(const Hmm& hmm) { return rank_one(hmm); }
Hqmm embed_cyclic(const Hmm& hmm) { return cyclic(hmm); }
Hqmm embed_rank_one(const EdgeHmm& hmm) { return rank_one(hmm); }
Hqmm embed_cyclic(const EdgeHmm& hmm) { return cyclic(hmm); }

}  // namespace hqmm

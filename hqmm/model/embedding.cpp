#include "hqmm/model/embedding.hpp"

#include <cmath>

namespace hqmm {
using namespace detail;
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

template <typename Slot>
Hqmm embed_states(const Hmm& hmm, Slot slot) {
  const Index n = hmm.latent_dim();
  Stack transition = Stack::Zero(n * n, n);
  for (Index from = 0; from < n; ++from) {
    for (Index to = 0; to < n; ++to)
      transition(slot(to, from) * n + to, from) = std::sqrt(hmm.transition(to, from));
  }
  const Vector initial = hmm.initial.cast<Complex>();
  return stationary_hqmm(hmm.alphabet, KrausSet(std::move(transition), hmm.emission.cwiseSqrt()),
                         initial.asDiagonal().toDenseMatrix());
}

auto slot_of_rank_one() {
  return [](Index /*to*/, Index from) { return from; };
}
auto slot_of_cycle(Index n) {
  return [n](Index to, Index from) { return (from - to + n) % n; };
}

}  // namespace

Hqmm embed_rank_one(const Hmm& hmm, EmissionKind emission) {
  const auto slot = slot_of_rank_one();
  return emission == EmissionKind::kState ? embed_states(hmm, slot) : embed(hmm, slot);
}
Hqmm embed_cyclic(const Hmm& hmm, EmissionKind emission) {
  const auto slot = slot_of_cycle(hmm.latent_dim());
  return emission == EmissionKind::kState ? embed_states(hmm, slot) : embed(hmm, slot);
}
Hqmm embed_rank_one(const EdgeHmm& hmm) { return embed(hmm, slot_of_rank_one()); }
Hqmm embed_cyclic(const EdgeHmm& hmm) { return embed(hmm, slot_of_cycle(hmm.latent_dim())); }

}  // namespace hqmm

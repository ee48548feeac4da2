#include "hqmm/model/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

constexpr double kWeightTolerance = 1e-9;

void require_alike(std::span<const Hqmm> members, std::span<const double> weights) {
  if (members.empty() || members.size() != weights.size())
    throw fail(ErrorCode::kUsage, "a mixture of {} models with {} weights", members.size(),
               weights.size());
  for (const Hqmm& member : members) {
    const Hqmm& first = members.front();
    if (!(member.alphabet == first.alphabet && member.positions == first.positions &&
          member.sets.size() == first.sets.size()))
      throw fail(ErrorCode::kUsage,
                 "models of different alphabets or positions cannot be mixed into one");
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool positive =
      std::all_of(weights.begin(), weights.end(), [](double weight) { return weight > 0.0; });
  if (!positive || !(std::abs(sum - 1.0) <= kWeightTolerance))
    throw fail(ErrorCode::kUsage, "the weights of a mixture must be positive and sum to 1");
}

KrausSet direct_sum(std::span<const Hqmm> members, std::size_t set, Index n, Index w) {
  const Index s = members.front().alphabet_size();
  KrausSet out(s, w, n);
  Index at = 0;
  for (const Hqmm& member : members) {
    const KrausSet from = member.sets[set].expanded();
    const Index size = from.latent_dim();
    for (Index y = 0; y < s; ++y)
      for (Index q = 0; q < from.kraus_rank(); ++q)
        out.op(y, q).block(at, at, size, size) = from.op(y, q);
    at += size;
  }
  return out;
}

/// The furthest basis vector that vector i is connected with, for every i.
std::vector<Index> reach(const Hqmm& model) {
  const Index n = model.latent_dim();
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Index{0});
  const auto connect = [&](Index i, Index j) {
    Index& furthest = out[static_cast<std::size_t>(std::min(i, j))];
    furthest = std::max(furthest, std::max(i, j));
  };
  const auto look_at = [&](const auto& block) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if (block(i, j) != Complex(0.0)) connect(i, j);
  };
  look_at(model.initial_state);
  for (const KrausSet& set : model.sets)
    for (Index row = 0; row < set.stack().rows(); row += n) look_at(set.stack().middleRows(row, n));
  return out;
}

KrausSet cut_out_of_states(const KrausSet& set, Index begin, Index size) {
  Stack transition(set.kraus_rank() * size, size);
  for (Index q = 0; q < set.kraus_rank(); ++q)
    transition.middleRows(q * size, size) =
        set.transition().block(q * set.latent_dim() + begin, begin, size, size);
  return {std::move(transition), set.emission().middleCols(begin, size)};
}

Hqmm cut_out(const Hqmm& model, Index begin, Index size, double weight) {
  Hqmm out;
  out.alphabet = model.alphabet;
  out.positions = model.positions;
  out.field = model.field;
  out.initial_state = model.initial_state.block(begin, begin, size, size) / weight;
  for (const KrausSet& set : model.sets) {
    if (set.emits_on() == EmissionKind::kState) {
      out.sets.push_back(cut_out_of_states(set, begin, size));
      continue;
    }
    KrausSet& to = out.sets.emplace_back(set.alphabet_size(), set.kraus_rank(), size);
    for (Index y = 0; y < set.alphabet_size(); ++y)
      for (Index q = 0; q < set.kraus_rank(); ++q)
        to.op(y, q) = set.op(y, q).block(begin, begin, size, size);
  }
  return out;
}

}  // namespace

Hqmm mixture(std::span<const Hqmm> members, std::span<const double> weights) {
  require_alike(members, weights);
  Index n = 0;
  Index w = 0;
  for (const Hqmm& member : members) {
    n += member.latent_dim();
    w = std::max(w, member.kraus_rank());
  }
  Hqmm out;
  out.alphabet = members.front().alphabet;
  out.positions = members.front().positions;
  for (std::size_t set = 0; set < members.front().sets.size(); ++set)
    out.sets.push_back(direct_sum(members, set, n, w));
  const bool real = std::all_of(members.begin(), members.end(),
                                [](const Hqmm& member) { return member.field == Field::kReal; });
  out.field = real ? Field::kReal : Field::kComplex;
  out.initial_state = Matrix::Zero(n, n);
  Index at = 0;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Index size = members[m].latent_dim();
    out.initial_state.block(at, at, size, size) = weights[m] * members[m].initial_state;
    at += size;
  }
  return out;
}

Components components_of(const Hqmm& model) {
  const std::vector<Index> furthest = reach(model);
  Components out;
  Index begin = 0;
  Index last = 0;  // of the component that begins at `begin`
  for (Index i = 0; i < model.latent_dim(); ++i) {
    last = std::max(last, furthest[static_cast<std::size_t>(i)]);
    if (i < last) continue;
    const Index size = i + 1 - begin;
    if (size == model.latent_dim()) return {{model}, {1.0}};
    const double weight = model.initial_state.block(begin, begin, size, size).trace().real();
    if (weight > 0.0) {
      out.members.push_back(cut_out(model, begin, size, weight));
      out.weights.push_back(weight);
    }
    begin = last = i + 1;
  }
  return out;
}

}  // namespace hqmm::detail

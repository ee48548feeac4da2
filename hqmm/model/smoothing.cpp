#include "hqmm/model/smoothing.hpp"

#include <cassert>
#include <cmath>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"

namespace hqmm::detail {
namespace {

/// Calls visit(y, slot, z, factor) for every group of w operators: group `slot` of the smoothed
/// symbol y is `factor` times the operators of z.
template <typename Visit>
void for_each_group(Index s, double epsilon, Visit visit) {
  const double share = epsilon / static_cast<double>(s);
  const double own = std::sqrt(1.0 - epsilon + share);
  const double other = std::sqrt(share);
  for (Index y = 0; y < s; ++y) {
    visit(y, Index{0}, y, own);
    Index slot = 1;
    for (Index z = 0; z < s; ++z)
      if (z != y) visit(y, slot++, z, other);
  }
}

KrausSet smoothed_set(const KrausSet& set, double epsilon) {
  const Index s = set.alphabet_size();
  const Index rows = set.kraus_rank() * set.latent_dim();
  KrausSet out(s, s * set.kraus_rank(), set.latent_dim());
  for_each_group(s, epsilon, [&](Index y, Index slot, Index z, double factor) {
    out.gamma().middleRows((y * s + slot) * rows, rows) = factor * set.ops(z);
  });
  return out;
}

/// The n² operators of a symbol's map, those of the largest weight first.
KrausSet reduced_set(const KrausSet& set) {
  const Index n = set.latent_dim();
  const Index size = n * n;
  KrausSet out(set.alphabet_size(), size, n);
  for (Index y = 0; y < set.alphabet_size(); ++y) {
    const Eigen::Map<const Stack> rows(set.gamma().data() + y * set.kraus_rank() * size,
                                       set.kraus_rank(), size);
    const Matrix choi = rows.transpose() * rows.conjugate();
    const HermitianEigen eigen = hermitian_eigen(choi);
    for (Index q = 0; q < size; ++q) {
      const Index from = size - 1 - q;
      const double root = std::sqrt(std::max(0.0, eigen.values(from)));
      const Vector flat = root * eigen.vectors.col(from);
      out.op(y, q) = Eigen::Map<const Stack>(flat.data(), n, n);
    }
  }
  Retraction onto = retract(out.gamma());
  if (onto.converged) out.gamma() = std::move(onto.gamma);
  return out;
}

}  // namespace

void require_smoothing(double epsilon) {
  if (epsilon >= 0.0 && epsilon <= 1.0) return;
  throw fail(ErrorCode::kUsage, "{}: expected a number from 0 to 1, found {}", option("smoothing"),
             epsilon);
}

Hqmm smoothed(const Hqmm& model, double epsilon) {
  require_smoothing(epsilon);
  Hqmm out = model;
  if (epsilon == 0.0) return out;
  for (KrausSet& set : out.sets) set = smoothed_set(set.expanded(), epsilon);
  return out;
}

Hmm smoothed(const Hmm& model, double epsilon) {
  require_smoothing(epsilon);
  Hmm out = model;
  const double share = epsilon / static_cast<double>(model.alphabet_size());
  out.emission = ((1.0 - epsilon) * model.emission.array() + share).matrix();
  return out;
}

EdgeHmm smoothed(const EdgeHmm& model, double epsilon) {
  require_smoothing(epsilon);
  EdgeHmm out = model;
  const RealMatrix share =
      epsilon / static_cast<double>(model.alphabet_size()) * model.transition();
  for (RealMatrix& edge : out.edges) edge = (1.0 - epsilon) * edge + share;
  return out;
}

Stack pull_back_smoothing(const KrausSet& set, const Stack& gradient, double epsilon) {
  if (epsilon == 0.0) return gradient;
  const Index s = set.alphabet_size();
  const Index rows = set.kraus_rank() * set.latent_dim();
  assert(gradient.rows() == s * s * rows);
  Stack out = Stack::Zero(s * rows, set.latent_dim());
  for_each_group(s, epsilon, [&](Index y, Index slot, Index z, double factor) {
    out.middleRows(z * rows, rows) += factor * gradient.middleRows((y * s + slot) * rows, rows);
  });
  return out;
}

Hqmm with_fewest_operators(const Hqmm& model) {
  const Index n = model.latent_dim();
  if (model.emits_on() == EmissionKind::kState || model.kraus_rank() <= n * n ||
      !is_feasible(model))
    return model;
  Hqmm out = model;
  for (KrausSet& set : out.sets) set = reduced_set(set);
  return out;
}

}  // namespace hqmm::detail

#include "hqmm/model/edge_hmm.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/model/stochastic.hpp"

namespace hqmm {
using namespace detail;

RealMatrix EdgeHmm::transition() const {
  RealMatrix sum = RealMatrix::Zero(latent_dim(), latent_dim());
  for (const RealMatrix& edge : edges) sum += edge;
  return sum;
}

RealMatrix EdgeHmm::seen(Symbol symbol) const {
  if (symbol == kMissing) return transition();
  RealMatrix sum = RealMatrix::Zero(latent_dim(), latent_dim());
  for (const Symbol y : members(edges.size(), symbol)) sum += edges[y];
  return sum;
}

EdgeHmm as_edge_hmm(const Hmm& model) {
  EdgeHmm out{model.alphabet, {}, model.initial};
  for (Index y = 0; y < model.alphabet_size(); ++y)
    out.edges.emplace_back(model.emission.row(y).transpose().asDiagonal() * model.transition);
  return out;
}

double feasibility_residual(const EdgeHmm& model) {
  return std::max((model.transition().colwise().sum().array() - 1.0).abs().maxCoeff(),
                  std::abs(model.initial.sum() - 1.0));
}

void require_valid(const EdgeHmm& model) {
  const Index n = model.latent_dim();
  if (n < 1) throw fail(ErrorCode::kBadData, "the initial distribution is empty");
  if (model.edges.empty()) throw fail(ErrorCode::kBadData, "there is no matrix of edges");
  if (model.alphabet.size() != model.edges.size()) {
    throw fail(ErrorCode::kBadData, "the alphabet has {} symbols, the edges {}",
               model.alphabet.size(), model.edges.size());
  }
  for (std::size_t y = 0; y < model.edges.size(); ++y) {
    const RealMatrix& edge = model.edges[y];
    if (edge.rows() != n || edge.cols() != n) {
      throw fail(ErrorCode::kBadData, "edges[{}] is {}×{}, the initial distribution has {} entries",
                 y, edge.rows(), edge.cols(), n);
    }
    require_weights(edge, fmt::format("edges[{}]", y));
  }
  require_stochastic_columns(model.initial, "initial");
  const RealMatrix sums = model.transition().colwise().sum();
  for (Index j = 0; j < n; ++j) {
    if (std::abs(sums(j) - 1.0) > kSumTolerance) {
      throw fail(ErrorCode::kBadData,
                 "column {} of the edges of all symbols sums to {:.12g}, expected 1", j, sums(j));
    }
  }
}

}  // namespace hqmm

#include "hqmm/model/edge_hmm.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/error.hpp"

namespace hqmm {
namespace {

constexpr double kSumTolerance = 1e-9;

void require_weights(const RealMatrix& matrix, const std::string& name) {
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = 0; i < matrix.rows(); ++i) {
      const double value = matrix(i, j);
      if (!std::isfinite(value))
        throw fail(ErrorCode::kBadData, "{}[{},{}] is not a finite number", name, i, j);
      if (value < 0.0)
        throw fail(ErrorCode::kBadData, "{}[{},{}] = {:.6g} is negative", name, i, j, value);
    }
  }
}

}  // namespace

RealMatrix EdgeHmm::transition() const {
  RealMatrix sum = RealMatrix::Zero(latent_dim(), latent_dim());
  for (const RealMatrix& edge : edges) sum += edge;
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
  require_weights(model.initial, "initial");
  const RealMatrix sums = model.transition().colwise().sum();
  for (Index j = 0; j < n; ++j) {
    if (std::abs(sums(j) - 1.0) > kSumTolerance) {
      throw fail(ErrorCode::kBadData,
                 "column {} of the edges of all symbols sums to {:.12g}, expected 1", j, sums(j));
    }
  }
  if (const double sum = model.initial.sum(); std::abs(sum - 1.0) > kSumTolerance)
    throw fail(ErrorCode::kBadData, "initial sums to {:.12g}, expected 1", sum);
}

}  // namespace hqmm

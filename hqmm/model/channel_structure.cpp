#include "hqmm/model/channel_structure.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm::detail {
namespace {

constexpr double kRankTolerance = 1e-9;
constexpr double kMostRankOperations = 1e8;
constexpr double kNever = 1e-9;         // a probability
constexpr double kLeastShare = 1e-10;   // of a state in the fixed point that is visited for good
constexpr double kPeripheral = 1e-8;    // distance of an eigenvalue from 1, or its modulus
constexpr double kApart = 1e-6;         // eigenvalues of a generic element, by their range
constexpr std::uint64_t kAnySeed = 22;  // the answer does not depend on it

/// The operators as rows.
Index rank_of(const KrausSet& edges, Index first, Index count) {
  const Index size = edges.latent_dim() * edges.latent_dim();
  const Eigen::Map<const Stack> rows(edges.gamma().data() + first * size, count, size);
  return numerical_rank(rows, kRankTolerance);
}

/// X ↦ BXB† in coordinates, d² → n². Its transpose is Y ↦ B†YB.
RealMatrix embedding_of(const Matrix& basis) {
  const Index order = basis.cols() * basis.cols();
  RealMatrix out(basis.rows() * basis.rows(), order);
  for (Index k = 0; k < order; ++k) {
    const Matrix one = from_coordinates(RealVector::Unit(order, k));
    out.col(k) = to_coordinates(basis * one * basis.adjoint());
  }
  return out;
}

RealMatrix restricted(const RealMatrix& channel, const Matrix& basis) {
  const RealMatrix embedding = embedding_of(basis);
  return embedding.transpose() * channel * embedding;
}

/// Where the mass of a subspace lies among the basis states: what subspaces are put in order by.
double place_of(const Matrix& basis) {
  double sum = 0.0;
  for (Index i = 0; i < basis.rows(); ++i)
    sum += static_cast<double>(i) * basis.row(i).squaredNorm();
  return sum / static_cast<double>(basis.cols());
}

/// On a grid, so that rounding does not decide.
bool comes_before(const Matrix& a, const Matrix& b) {
  const auto key = [](const Matrix& basis) { return std::llround(place_of(basis) * 1e6); };
  return key(a) < key(b);
}

void put_in_order(std::vector<RecurrentBlock>& blocks) {
  for (RecurrentBlock& block : blocks) {
    auto& cycle = block.cycle;
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end(), comes_before),
                cycle.end());
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const RecurrentBlock& a, const RecurrentBlock& b) {
                     return comes_before(a.basis, b.basis);
                   });
}

struct Peripheral {
  Index fixed = 0;  // eigenvalues 1
  Index all = 0;    // of modulus 1
};

Peripheral peripheral_of(const RealMatrix& channel) {
  const auto values = eigenvalues(channel);
  if (!values) throw fail(ErrorCode::kInternal, "the eigenvalues of the channel did not converge");
  Peripheral out;
  for (const Complex value : *values) {
    if (std::abs(value - 1.0) < kPeripheral) ++out.fixed;
    if (std::abs(value) > 1.0 - kPeripheral) ++out.all;
  }
  return out;
}

/// A fixed point of the dual channel in no special position. The channel has an invariant state of
/// full rank, so those fixed points are an algebra: they commute with all of its operators.
Matrix generic_constant(const RealMatrix& channel) {
  const Index order = channel.rows();
  const RealMatrix moved = channel.transpose() - RealMatrix::Identity(order, order);
  const FullSvd svd = full_svd(moved.cast<Complex>());
  RandomStream random(kAnySeed, Purpose::kGeneric);
  RealVector any(order);
  for (Index k = 0; k < order; ++k) any(k) = random.normal();
  Vector found = Vector::Zero(order);
  for (Index k = order; k-- > 0 && svd.values(k) < kPeripheral;)
    found += svd.v.col(k).dot(any) * svd.v.col(k);
  return from_coordinates(found.real());
}

/// The smallest subspaces that a channel with an invariant state of full rank never leaves: the
/// eigenspaces of a generic constant.
std::vector<Matrix> minimal_subspaces(const RealMatrix& channel) {
  const HermitianEigen eigen = hermitian_eigen(generic_constant(channel));
  const Index d = eigen.values.size();
  const double gap = kApart * (eigen.values(d - 1) - eigen.values(0));
  std::vector<Matrix> out;
  for (Index first = 0, k = 1; k <= d; ++k) {
    if (k < d && eigen.values(k) - eigen.values(k - 1) <= gap) continue;
    out.emplace_back(eigen.vectors.middleCols(first, k - first));
    first = k;
  }
  return out;
}

/// Which of the parts the channel takes one to.
std::size_t next_of(const RealMatrix& channel, const std::vector<Matrix>& parts, std::size_t from) {
  const Matrix projection = parts[from] * parts[from].adjoint();
  const Matrix moved = from_coordinates(channel * to_coordinates(projection));
  std::size_t best = 0;
  double most = -1.0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const double share = (parts[k].adjoint() * moved * parts[k]).trace().real();
    if (share <= most) continue;
    most = share;
    best = k;
  }
  return best;
}

/// Of an irreducible channel: what p steps never leave, in the order in which one step visits them.
std::vector<Matrix> cycle_of(const RealMatrix& channel, Index d, Index period) {
  const Matrix whole = Matrix::Identity(d, d);
  if (period <= 1) return {whole};
  RealMatrix power = channel;
  for (Index k = 1; k < period; ++k) power = (power * channel).eval();
  const std::vector<Matrix> parts = minimal_subspaces(power);
  if (static_cast<Index>(parts.size()) != period) return {whole};  // too close to call
  std::vector<Matrix> out;
  for (std::size_t k = 0; out.size() < parts.size(); k = next_of(channel, parts, k))
    out.push_back(parts[k]);
  return out;
}

/// What stays in the long run: the support of the fixed point that I/n goes to.
Matrix recurrent_subspace(const Matrix& state) {
  const HermitianEigen eigen = hermitian_eigen(state);
  const Index n = state.rows();
  Index dimension = 0;
  while (dimension < n && eigen.values(n - 1 - dimension) > kLeastShare) ++dimension;
  return eigen.vectors.rightCols(dimension);
}

// Markov chains: a state leads to others by whatever happens at all.

using Successors = std::vector<std::vector<Index>>;

Successors successors_of(const RealMatrix& transition) {
  Successors out(static_cast<std::size_t>(transition.cols()));
  for (Index j = 0; j < transition.cols(); ++j) {
    for (Index i = 0; i < transition.rows(); ++i)
      if (transition(i, j) > kNever) out[static_cast<std::size_t>(j)].push_back(i);
  }
  return out;
}

/// Steps from a state to every other, -1 for those that it never comes to.
std::vector<Index> distances_from(const Successors& next, Index start) {
  std::vector<Index> out(next.size(), -1);
  std::vector<Index> queue{start};
  out[static_cast<std::size_t>(start)] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k) {
    const auto at = static_cast<std::size_t>(queue[k]);
    for (const Index to : next[at]) {
      if (out[static_cast<std::size_t>(to)] >= 0) continue;
      out[static_cast<std::size_t>(to)] = out[at] + 1;
      queue.push_back(to);
    }
  }
  return out;
}

Successors reversed(const Successors& next) {
  Successors out(next.size());
  for (std::size_t j = 0; j < next.size(); ++j)
    for (const Index i : next[j]) out[static_cast<std::size_t>(i)].push_back(static_cast<Index>(j));
  return out;
}

/// The class from its first state, whose distances to the others are known: the period divides what
/// every step adds beyond the distance.
RecurrentClass class_of(const Successors& next, const std::vector<Index>& distance) {
  RecurrentClass out;
  Index period = 0;
  for (std::size_t j = 0; j < next.size(); ++j) {
    if (distance[j] < 0) continue;
    out.states.push_back(static_cast<Index>(j));
    for (const Index i : next[j])
      period = std::gcd(period, distance[j] + 1 - distance[static_cast<std::size_t>(i)]);
  }
  out.cycle.resize(static_cast<std::size_t>(std::max<Index>(period, 1)));
  for (const Index state : out.states) {
    const auto phase = static_cast<std::size_t>(distance[static_cast<std::size_t>(state)]);
    out.cycle[phase % out.cycle.size()].push_back(state);
  }
  return out;
}

}  // namespace

std::optional<ChoiRanks> choi_ranks(const KrausSet& set) {
  const Index operators = set.alphabet_size() * set.kraus_rank();
  const Index size = set.latent_dim() * set.latent_dim();
  const double work = static_cast<double>(operators) * static_cast<double>(size) *
                      static_cast<double>(std::min(operators, size));
  if (work > kMostRankOperations) return {};
  const KrausSet edges = set.expanded();
  ChoiRanks out;
  for (Index y = 0; y < set.alphabet_size(); ++y)
    out.of_symbol.push_back(rank_of(edges, y * set.kraus_rank(), set.kraus_rank()));
  out.of_channel = rank_of(edges, 0, operators);
  return out;
}

double unitality_residual(const KrausSet& set) {
  const Matrix unit = Matrix::Identity(set.latent_dim(), set.latent_dim());
  return (set.apply_total(unit) - unit).norm();
}

double unitality_residual(const RealMatrix& transition) {
  return (transition.rowwise().sum() - RealVector::Ones(transition.rows())).norm();
}

std::optional<ChannelStructure> channel_structure(const KrausSet& set,
                                                  const FixedPoint& fixed_point) {
  const Index n = set.latent_dim();
  if (n > kStructureUpTo || set.feasibility_residual() > kFeasibleTolerance) return {};
  const Matrix recurrent = recurrent_subspace(fixed_point.state);
  const RealMatrix channel = restricted(total_channel_matrix(set), recurrent);
  const Peripheral peripheral = peripheral_of(channel);
  const Index d = recurrent.cols();
  const std::vector<Matrix> subspaces = peripheral.fixed <= 1
                                            ? std::vector<Matrix>{Matrix::Identity(d, d)}
                                            : minimal_subspaces(channel);
  ChannelStructure out;
  out.transient = n - d;
  Index periods = 0;
  for (const Matrix& subspace : subspaces) {
    const bool whole = subspaces.size() == 1;
    const RealMatrix inside = whole ? channel : restricted(channel, subspace);
    const Index period = whole ? peripheral.all : peripheral_of(inside).all;
    RecurrentBlock block;
    block.basis = recurrent * subspace;
    block.weight = (block.basis.adjoint() * fixed_point.state * block.basis).trace().real();
    for (const Matrix& part : cycle_of(inside, subspace.cols(), period))
      block.cycle.emplace_back(block.basis * part);
    periods += static_cast<Index>(block.cycle.size());
    out.blocks.push_back(std::move(block));
  }
  put_in_order(out.blocks);
  out.unique = peripheral.fixed <= static_cast<Index>(subspaces.size());
  out.lasting_coherences = std::max<Index>(peripheral.all - periods, 0);
  return out;
}

ChainStructure chain_structure(const RealMatrix& transition) {
  const Successors next = successors_of(transition);
  const Successors before = reversed(next);
  ChainStructure out;
  std::vector<bool> settled(next.size(), false);
  for (std::size_t start = 0; start < next.size(); ++start) {
    if (settled[start]) continue;
    const std::vector<Index> to = distances_from(next, static_cast<Index>(start));
    const std::vector<Index> from = distances_from(before, static_cast<Index>(start));
    bool stays = true;  // it comes back from wherever it goes
    for (std::size_t k = 0; k < to.size(); ++k) stays = stays && (to[k] < 0 || from[k] >= 0);
    if (stays) out.classes.push_back(class_of(next, to));
    // Whatever leads to a recurrent class without belonging to it, and whatever leads to a
    // transient state, is transient.
    for (std::size_t k = 0; k < to.size(); ++k) {
      if (from[k] < 0 || settled[k]) continue;
      settled[k] = true;
      if (!stays || to[k] < 0) out.transient.push_back(static_cast<Index>(k));
    }
  }
  std::sort(out.transient.begin(), out.transient.end());
  return out;
}

}  // namespace hqmm::detail

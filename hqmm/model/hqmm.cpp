#include "hqmm/model/hqmm.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/fail.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr double kStateTolerance = 1e-9;
/// Residuals take the fourth power of entries, and sums of many.
constexpr double kLargestEntry = 1e60;

bool is_finite(Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

std::string entry_name(const KrausSet& set, std::size_t index, bool many_sets, Index row,
                       Index column) {
  const Index n = set.latent_dim();
  const Index block = row / n;
  const std::string place = many_sets ? fmt::format("{},", index) : "";
  if (set.emits_on() == EmissionKind::kState)
    return fmt::format("transition[{}{},{},{}]", place, block, row % n, column);
  return fmt::format("kraus[{}{},{},{},{}]", place, block / set.kraus_rank(),
                     block % set.kraus_rank(), row % n, column);
}

std::string trouble_with(Complex entry) {
  return is_finite(entry)
             ? fmt::format("is larger than {:g}: nothing can be computed from it", kLargestEntry)
             : "is not a finite number";
}

void require_usable_entries(const KrausSet& set, Field field, std::size_t index, bool many_sets) {
  const auto usable = [](Complex entry) {
    return is_finite(entry) && std::abs(entry) <= kLargestEntry;
  };
  for (Index row = 0; row < set.stack().rows(); ++row) {
    for (Index column = 0; column < set.latent_dim(); ++column) {
      const Complex entry = set.stack()(row, column);
      if (!usable(entry))
        throw fail(ErrorCode::kBadData, "{} {}", entry_name(set, index, many_sets, row, column),
                   trouble_with(entry));
      if (field == Field::kReal && entry.imag() != 0.0)
        throw fail(ErrorCode::kBadData, "{} is not real, but the model's field is",
                   entry_name(set, index, many_sets, row, column));
    }
  }
  if (set.emits_on() == EmissionKind::kEdge) return;
  for (Index y = 0; y < set.alphabet_size(); ++y) {
    for (Index i = 0; i < set.latent_dim(); ++i) {
      if (usable(set.emission()(y, i))) continue;
      throw fail(ErrorCode::kBadData, "emission[{}{},{}] {}",
                 many_sets ? fmt::format("{},", index) : "", y, i,
                 trouble_with(set.emission()(y, i)));
    }
  }
}

void require_density_matrix(const Matrix& rho) {
  for (Index i = 0; i < rho.rows(); ++i) {
    for (Index j = 0; j < rho.cols(); ++j) {
      if (is_finite(rho(i, j))) continue;
      throw fail(ErrorCode::kBadData, "initial_state[{},{}] is not a finite number", i, j);
    }
  }
  const double skew = (rho - rho.adjoint()).norm();
  if (skew > kStateTolerance) {
    throw fail(ErrorCode::kBadData, "the initial state is not Hermitian: ‖ρ − ρ†‖ = {:.3g}", skew);
  }
  const double trace = rho.trace().real();
  if (std::abs(trace - 1.0) > kStateTolerance) {
    throw fail(ErrorCode::kBadData, "the initial state has trace {:.12g}, expected 1", trace);
  }
  const double least = hermitian_eigenvalues(rho)(0);
  if (least < -kStateTolerance) {
    throw fail(ErrorCode::kBadData, "the initial state has the negative eigenvalue {:.3g}", least);
  }
}

}  // namespace

Hqmm stationary_hqmm(Alphabet alphabet, KrausSet set, Matrix initial_state, Field field) {
  Hqmm model;
  model.alphabet = std::move(alphabet);
  model.sets.push_back(std::move(set));
  model.initial_state = std::move(initial_state);
  model.field = field;
  return model;
}

Hqmm expanded(const Hqmm& model) {
  Hqmm out = model;
  for (KrausSet& set : out.sets) set = set.expanded();
  return out;
}

Matrix maximally_mixed(Index n) { return Matrix::Identity(n, n) / static_cast<double>(n); }

double feasibility_residual(const Hqmm& model) {
  double worst = 0.0;
  for (const KrausSet& set : model.sets) {
    const double residual = set.feasibility_residual();
    if (std::isnan(residual)) return residual;  // which max() would pass over
    worst = std::max(worst, residual);
  }
  return worst;
}

bool is_feasible(const Hqmm& model) { return feasibility_residual(model) <= kFeasibleTolerance; }

void require_valid(const Hqmm& model) {
  if (model.sets.empty() || model.latent_dim() < 1) {
    throw fail(ErrorCode::kBadData, "the model has no Kraus operators");
  }
  const Index n = model.latent_dim();
  for (std::size_t i = 0; i < model.sets.size(); ++i) {
    const KrausSet& set = model.sets[i];
    if (set.latent_dim() != n || set.kraus_rank() != model.kraus_rank() ||
        set.alphabet_size() != model.alphabet_size()) {
      throw fail(ErrorCode::kBadData,
                 "Kraus set {} is for s = {}, w = {}, n = {}; set 0 for s = {}, w = {}, n = {}", i,
                 set.alphabet_size(), set.kraus_rank(), set.latent_dim(), model.alphabet_size(),
                 model.kraus_rank(), n);
    }
    if (set.emits_on() != model.emits_on()) {
      throw fail(ErrorCode::kBadData,
                 "Kraus set {} does not emit where set 0 does: edges and states do not mix", i);
    }
    require_usable_entries(set, model.field, i, model.sets.size() > 1);
  }
  if (model.alphabet.size() != static_cast<std::size_t>(model.alphabet_size())) {
    throw fail(ErrorCode::kBadData, "the alphabet has {} symbols, the Kraus operators are for {}",
               model.alphabet.size(), model.alphabet_size());
  }
  if (model.positions.entries().empty()) {
    throw fail(ErrorCode::kBadData, "the position map is empty");
  }
  if (model.positions.set_count() > model.sets.size()) {
    throw fail(ErrorCode::kBadData, "the position map names set {}, the model has {}",
               model.positions.set_count() - 1, model.sets.size());
  }
  if (model.initial_state.rows() != n || model.initial_state.cols() != n) {
    throw fail(ErrorCode::kBadData, "the initial state is {}×{}, expected {}×{}",
               model.initial_state.rows(), model.initial_state.cols(), n, n);
  }
  require_density_matrix(model.initial_state);
  if (model.field == Field::kReal && !model.initial_state.imag().isZero(0.0))
    throw fail(ErrorCode::kBadData, "the initial state is not real, but the model's field is");
}

}  // namespace hqmm

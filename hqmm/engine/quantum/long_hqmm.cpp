#include "hqmm/engine/quantum/long_hqmm.hpp"

#include <algorithm>

#include "hqmm/core/real_form.hpp"
#include "hqmm/engine/long_sequence.hpp"
#include "hqmm/engine/quantum/factor.hpp"
#include "hqmm/engine/quantum/superoperator.hpp"

namespace hqmm::detail {
namespace {

/// States are known to about 1e-16, so below this a symbol may be impossible. Of Kraus operators
/// the weight is a square, and so is the share of it that is rounding.
constexpr double kDoubtful = 1e-9;
constexpr double kDoubtfulSquare = 1e-16;
/// A missing symbol leaves the weight as it is, up to rounding.
constexpr double kExactlyFeasible = 1e-13;

/// One Kraus operator per symbol: they can be multiplied as they are, at any rank of the state.
std::optional<LinearModel> by_kraus_operators(const Hqmm& model, bool missing) {
  if (missing || model.kraus_rank() > 1) return {};
  const StateFactor state = factor_initial_state(model);
  const Index n = model.latent_dim();
  const bool real = model.field == Field::kReal;
  const Hqmm free = expanded(model);
  LinearModel out(real ? n : 2 * n, static_cast<std::size_t>(model.alphabet_size()));
  out.squared = true;
  out.block_cols = n;
  out.doubtful = kDoubtfulSquare;
  for (std::size_t y = 0; y < out.symbols; ++y) {
    const Complex* k = free.sets[0].gamma().data() + static_cast<Index>(y) * n * n;
    (real ? write_real_matrix : write_real_form)(k, n, out.stride, out.matrix(y));
  }
  out.initial_cols = state.roots.size();
  out.initial.assign(static_cast<std::size_t>(out.stride * out.initial_cols), 0.0);
  for (Index j = 0; j < out.initial_cols; ++j) {
    double* column = out.initial.data() + j * out.stride;
    for (Index i = 0; i < n; ++i) {
      column[i] = state.roots(j) * state.vectors(i, j).real();
      if (!real) column[n + i] = state.roots(j) * state.vectors(i, j).imag();
    }
  }
  return out;
}

/// Of any Kraus rank.
LinearModel by_superoperators(const Hqmm& model, bool missing, int threads) {
  const auto s = static_cast<std::size_t>(model.alphabet_size());
  Program program;
  program.base_operators = static_cast<std::uint32_t>(s) + 1;
  program.missing = missing;
  SymbolScratch scratch;
  TraceForm form;
  write_superoperators(model, program, true, model.field == Field::kReal, threads, scratch, form);
  LinearModel out(form.rows(), s + (missing ? 1 : 0));
  out.has_missing = missing;
  out.traced = model.latent_dim();
  out.block_cols = form.rows();
  out.doubtful = kDoubtful;
  for (std::size_t y = 0; y < out.symbols; ++y) {
    for (Index j = 0; j < form.rows(); ++j)
      std::copy_n(form.forward_matrix(y) + j * form.stride(), form.rows(),
                  out.matrix(y) + j * out.stride);
  }
  out.initial.assign(static_cast<std::size_t>(out.stride), 0.0);
  std::copy_n(form.initial(), form.rows(), out.initial.begin());
  return out;
}

/// Coordinates of a state, beyond which its Kraus operators move it for less.
constexpr Index kMostCoordinates = 256;

}  // namespace

std::optional<SequenceLikelihood> long_hqmm_log_likelihood(const Hqmm& model,
                                                           const SequenceView& sequence,
                                                           std::size_t burn_in, int threads) {
  if (sequence.size() < kLongSequence || model.sets.size() != 1) return {};
  const bool missing = sequence.has_missing();
  if (missing && feasibility_residual(model) > kExactlyFeasible) return {};
  if (const auto linear = by_kraus_operators(model, missing)) {
    const auto found = long_log_likelihood(*linear, sequence, burn_in, threads);
    if (found || suits_blocks(*linear)) return found;
  }
  if (coordinate_count(model.latent_dim(), model.field == Field::kReal) > kMostCoordinates)
    return {};
  return long_log_likelihood(by_superoperators(model, missing, threads), sequence, burn_in,
                             threads);
}

}  // namespace hqmm::detail

#include "hqmm/engine/classical/long_hmm.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/engine/long_sequence.hpp"

namespace hqmm::detail {
namespace {

/// Nothing is ever subtracted, so only what leaves the range of doubles is lost.
constexpr double kNextToNothing = 1e-200;
/// A missing symbol leaves the weight as it is, up to rounding.
constexpr double kConserving = 1e-13;

LinearModel blank_model(Index states, Index symbols, const RealVector& initial, bool missing) {
  LinearModel out(states, static_cast<std::size_t>(symbols) + (missing ? 1 : 0));
  out.has_missing = missing;
  out.traced = out.block_cols = states;
  out.doubtful = kNextToNothing;
  out.initial.assign(static_cast<std::size_t>(out.stride), 0.0);
  std::copy_n(initial.data(), states, out.initial.begin());
  return out;
}

void write_matrix(const RealMatrix& from, std::size_t symbol, LinearModel& to) {
  Eigen::Map<RealMatrix, 0, Eigen::OuterStride<>>(to.matrix(symbol), to.rows, to.rows,
                                                  Eigen::OuterStride<>(to.stride)) = from;
}

double unaccounted(const RealMatrix& columns) {
  return (columns.colwise().sum().array() - 1.0).abs().maxCoeff();
}

RealMatrix transition_of(const Hmm& model) { return model.transition; }
RealMatrix transition_of(const EdgeHmm& model) { return model.transition(); }

bool is_conserving(const auto& model) {
  return unaccounted(transition_of(model)) < kConserving &&
         std::abs(model.initial.sum() - 1.0) < kConserving;
}

}  // namespace

LinearModel linear_model(const Hmm& model, bool missing) {
  LinearModel out = blank_model(model.latent_dim(), model.alphabet_size(), model.initial, missing);
  for (Index y = 0; y < model.alphabet_size(); ++y)
    write_matrix(model.emission.row(y).transpose().asDiagonal() * model.transition,
                 static_cast<std::size_t>(y), out);
  if (missing) write_matrix(model.transition, out.symbols - 1, out);
  return out;
}

LinearModel linear_model(const EdgeHmm& model, bool missing) {
  LinearModel out = blank_model(model.latent_dim(), model.alphabet_size(), model.initial, missing);
  for (std::size_t y = 0; y < model.edges.size(); ++y) write_matrix(model.edges[y], y, out);
  if (missing) write_matrix(model.transition(), out.symbols - 1, out);
  return out;
}

template <typename Model>
std::optional<SequenceLikelihood> long_hmm_log_likelihood(const Model& model,
                                                          const SequenceView& sequence,
                                                          std::size_t burn_in, int threads) {
  if (sequence.size() < kLongSequence) return {};
  const bool missing = sequence.has_missing();
  if (missing && !is_conserving(model)) return {};
  const LongShape shape{model.latent_dim(), model.latent_dim(), false,
                        static_cast<std::size_t>(model.alphabet_size()) + (missing ? 1 : 0),
                        sequence.size()};
  if (plan_long(shape).way == LongWay::kNone) return {};
  return long_log_likelihood(linear_model(model, missing), sequence, burn_in, threads);
}

template std::optional<SequenceLikelihood> long_hmm_log_likelihood(const Hmm&, const SequenceView&,
                                                                   std::size_t, int);
template std::optional<SequenceLikelihood> long_hmm_log_likelihood(const EdgeHmm&,
                                                                   const SequenceView&, std::size_t,
                                                                   int);

}  // namespace hqmm::detail

#include "hqmm/model/parameters.hpp"

#include <algorithm>

namespace hqmm {
namespace {

std::size_t size(Index value) { return static_cast<std::size_t>(value); }

/// B
std::size_t most_of_process(std::size_t coordinates, std::size_t symbols) {
  return (symbols - 1) * coordinates * coordinates + coordinates - 1;
}

std::size_t of_initial_state(const Matrix& rho) {
  constexpr double kTolerance = 1e-9;
  const std::size_t n = size(rho.rows());
  if ((rho - maximally_mixed(rho.rows())).norm() < kTolerance) return 0;
  if (rho.squaredNorm() > 1.0 - kTolerance) return 2 * n - 2;
  return n * n - 1;
}

std::size_t count(const Hqmm& model) {
  const std::size_t n = size(model.latent_dim());
  const std::size_t initial = of_initial_state(model.initial_state);
  const std::size_t one =
      hqmm_parameters(model.latent_dim(), model.alphabet_size(), model.kraus_rank(), initial);
  if (model.positions.stationary()) return one;
  const std::size_t w = std::min(size(model.kraus_rank()), n * n);
  const std::size_t per_set = size(model.alphabet_size()) * w * (2 * n * n - w) - n * n;
  return initial + model.sets.size() * per_set - (n * n - 1);
}
std::size_t count(const Hmm& model) {
  return hmm_parameters(model.latent_dim(), model.alphabet_size());
}
std::size_t count(const EdgeHmm& model) {
  return edge_hmm_parameters(model.latent_dim(), model.alphabet_size());
}

}  // namespace

std::size_t hqmm_parameters(Index latent_dim, Index alphabet_size, Index kraus_rank,
                            std::size_t of_initial) {
  if (alphabet_size < 2) return 0;  // the only sequence is certain
  const std::size_t d = size(latent_dim * latent_dim);
  const std::size_t w = std::min(size(kraus_rank), d);
  const std::size_t own = size(alphabet_size) * w * (2 * d - w) + 1 - 2 * d + of_initial;
  return std::min(own, most_of_process(d, size(alphabet_size)));
}

std::size_t hmm_parameters(Index latent_dim, Index alphabet_size) {
  if (alphabet_size < 2) return 0;
  const std::size_t n = size(latent_dim);
  return n * (n - 1) + n * (size(alphabet_size) - 1) + n - 1;
}

std::size_t edge_hmm_parameters(Index latent_dim, Index alphabet_size) {
  if (alphabet_size < 2) return 0;
  return most_of_process(size(latent_dim), size(alphabet_size));
}

std::size_t parameter_count(const AnyModel& model) {
  return std::visit([](const auto& m) { return count(m); }, model);
}

}  // namespace hqmm

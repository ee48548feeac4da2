#include "hqmm/model/parameters.hpp"

#include <algorithm>

#include "hqmm/model/shape_parameters.hpp"

namespace hqmm {
using namespace detail;
namespace {

std::size_t size(Index value) { return static_cast<std::size_t>(value); }

/// B
std::size_t most_of_process(std::size_t coordinates, std::size_t symbols) {
  return (symbols - 1) * coordinates * coordinates + coordinates - 1;
}

/// What an HQMM's own parameters are made of.
struct Freedom {
  explicit Freedom(const HqmmShape& shape) {
    const std::size_t n = size(shape.latent_dim), s = size(shape.alphabet_size);
    const bool real = shape.field == Field::kReal;
    const bool on_states = shape.emission == EmissionKind::kState;
    const std::size_t w = std::min(size(shape.kraus_rank), n * n);
    const std::size_t stacks = on_states ? 1 : s;  // of w operators each
    coordinates = real ? n * (n + 1) / 2 : n * n;
    const std::size_t mixing = real ? w * (w - 1) / 2 : w * w;
    per_set = stacks * ((real ? 1 : 2) * w * n * n - mixing) - coordinates;
    if (on_states) {
      per_set += (s - 1) * n;
      basis = real ? 0 : n - 1;
      most = coordinates * (coordinates - 1) + (s - 1) * n - n * (n - 1) / 2 * (real ? 1 : 4);
    } else {
      basis = real ? n * (n - 1) / 2 : n * n - 1;
      most = most_of_process(coordinates, s);
    }
  }
  std::size_t coordinates = 0;  // D
  std::size_t per_set = 0;      // without what mixing operators does
  std::size_t basis = 0;        // changes of it that do nothing
  std::size_t most = 0;         // B
};

std::size_t of_initial_state(const Hqmm& model) {
  constexpr double kTolerance = 1e-9;
  const Matrix& rho = model.initial_state;
  const std::size_t n = size(rho.rows());
  const bool real = model.field == Field::kReal;
  if ((rho - maximally_mixed(rho.rows())).norm() < kTolerance) return 0;
  if (rho.squaredNorm() > 1.0 - kTolerance) return (real ? 1 : 2) * (n - 1);
  return (real ? n * (n + 1) / 2 : n * n) - 1;
}

HqmmShape shape_of(const Hqmm& model) {
  return {model.latent_dim(), model.alphabet_size(), model.kraus_rank(), model.field,
          model.emits_on()};
}

std::size_t count(const Hqmm& model) {
  const std::size_t initial = of_initial_state(model);
  if (model.positions.stationary()) return hqmm_parameters(shape_of(model), initial);
  const Freedom freedom(shape_of(model));
  return initial + model.sets.size() * freedom.per_set - freedom.basis;
}
std::size_t count(const Hmm& model) {
  return detail::hmm_parameters(model.latent_dim(), model.alphabet_size());
}
std::size_t count(const EdgeHmm& model) {
  return detail::edge_hmm_parameters(model.latent_dim(), model.alphabet_size());
}

}  // namespace

std::size_t detail::hqmm_parameters(const HqmmShape& shape, std::size_t of_initial) {
  if (shape.alphabet_size < 2) return 0;  // the only sequence is certain
  const Freedom freedom(shape);
  return std::min(freedom.per_set - freedom.basis + of_initial, freedom.most);
}

std::size_t detail::hmm_parameters(Index latent_dim, Index alphabet_size) {
  if (alphabet_size < 2) return 0;
  const std::size_t n = size(latent_dim);
  return n * (n - 1) + n * (size(alphabet_size) - 1) + n - 1;
}

std::size_t detail::edge_hmm_parameters(Index latent_dim, Index alphabet_size) {
  if (alphabet_size < 2) return 0;
  return most_of_process(size(latent_dim), size(alphabet_size));
}

std::size_t parameter_count(const AnyModel& model) {
  return std::visit([](const auto& m) { return count(m); }, model);
}

}  // namespace hqmm

#include "hqmm/model/hmm.hpp"

#include "hqmm/core/fail.hpp"
#include "hqmm/model/stochastic.hpp"

namespace hqmm {
using namespace detail;

void require_valid(const Hmm& model) {
  const Index n = model.latent_dim();
  if (n < 1 || model.transition.cols() != n) {
    throw fail(ErrorCode::kBadData, "the transition matrix is {}×{}, expected a square one",
               model.transition.rows(), model.transition.cols());
  }
  if (model.alphabet_size() < 1 || model.emission.cols() != n) {
    throw fail(ErrorCode::kBadData, "the emission matrix is {}×{}, expected {} columns",
               model.emission.rows(), model.emission.cols(), n);
  }
  if (model.initial.size() != n) {
    throw fail(ErrorCode::kBadData, "the initial distribution has {} entries, expected {}",
               model.initial.size(), n);
  }
  if (model.alphabet.size() != static_cast<std::size_t>(model.alphabet_size())) {
    throw fail(ErrorCode::kBadData, "the alphabet has {} symbols, the emission matrix {}",
               model.alphabet.size(), model.alphabet_size());
  }
  require_stochastic_columns(model.transition, "transition");
  require_stochastic_columns(model.emission, "emission");
  require_stochastic_columns(model.initial, "initial");
}

}  // namespace hqmm

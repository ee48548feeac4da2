#include "hqmm/model/filter.hpp"

#include <cassert>

#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/model/normalise.hpp"

namespace hqmm {
using namespace detail;

HmmFilter::HmmFilter(const Hmm& model) : model_(&model) { set_state(model.initial); }

void HmmFilter::restart(std::size_t /*length*/) { set_state(model_->initial); }

void HmmFilter::set_state(const RealVector& x) {
  x_ = x;
  predicted_.noalias() = model_->transition * x_;
}

StepWeight HmmFilter::step(Symbol symbol) {
  StepWeight weight;
  if (symbol != kMissing) {
    const SymbolMembers seen = members(alphabet_size(), symbol);
    assert(!seen.empty());
    x_ = model_->emission.row(seen[0]).transpose();
    for (std::size_t k = 1; k < seen.size(); ++k) x_ += model_->emission.row(seen[k]).transpose();
    x_.array() *= predicted_.array();
    weight.raw = x_.sum();
  }
  if (symbol == kMissing || !(weight.raw > 0.0)) x_ = predicted_;
  x_ /= x_.sum();
  predicted_.noalias() = model_->transition * x_;
  return weight;
}

void HmmFilter::next_distribution(std::span<double> out) const {
  Eigen::Map<RealVector>(out.data(), static_cast<Index>(out.size())).noalias() =
      model_->emission * predicted_;
  normalise(out);
}

struct EdgeHmmFilter::Tables {
  RealMatrix transition;  // Σ_y T_y
  RealMatrix weights;     // 1ᵀT_y as rows: the symbols' probabilities are weights · x
};

EdgeHmmFilter::EdgeHmmFilter(const EdgeHmm& model) : model_(&model), x_(model.initial) {
  auto tables = std::make_shared<Tables>();
  tables->transition = model.transition();
  tables->weights.resize(model.alphabet_size(), model.latent_dim());
  for (Index y = 0; y < model.alphabet_size(); ++y)
    tables->weights.row(y) = model.edges[static_cast<std::size_t>(y)].colwise().sum();
  tables_ = std::move(tables);
}

void EdgeHmmFilter::restart(std::size_t /*length*/) { set_state(model_->initial); }

StepWeight EdgeHmmFilter::step(Symbol symbol) {
  StepWeight weight;
  if (symbol != kMissing) {
    const SymbolMembers seen = members(alphabet_size(), symbol);
    assert(!seen.empty());
    next_.noalias() = model_->edges[seen[0]] * x_;
    for (std::size_t k = 1; k < seen.size(); ++k) next_.noalias() += model_->edges[seen[k]] * x_;
    weight.raw = next_.sum();
  }
  if (symbol == kMissing || !(weight.raw > 0.0)) next_.noalias() = tables_->transition * x_;
  x_ = next_ / next_.sum();
  return weight;
}

void EdgeHmmFilter::next_distribution(std::span<double> out) const {
  Eigen::Map<RealVector>(out.data(), static_cast<Index>(out.size())).noalias() =
      tables_->weights * x_;
  normalise(out);
}

}  // namespace hqmm

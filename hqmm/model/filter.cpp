#include "hqmm/model/filter.hpp"

#include <cassert>

#include "hqmm/model/normalise.hpp"

namespace hqmm {

HmmFilter::HmmFilter(const Hmm& model) : model_(&model) { set_state(model.initial); }

void HmmFilter::restart(std::size_t /*length*/) { set_state(model_->initial); }

void HmmFilter::set_state(const RealVector& x) {
  x_ = x;
  predicted_.noalias() = model_->transition * x_;
}

StepWeight HmmFilter::step(Symbol symbol) {
  StepWeight weight;
  if (symbol != kMissing) {
    assert(symbol < alphabet_size());
    x_ = model_->emission.row(symbol).transpose().cwiseProduct(predicted_);
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

}  // namespace hqmm

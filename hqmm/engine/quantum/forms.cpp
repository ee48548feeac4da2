#include "hqmm/engine/quantum/forms.hpp"

#include "hqmm/model/state_gradient.hpp"

namespace hqmm::detail {

void pull_back(const Hqmm& model, BatchGradient& out) {
  if (model.emits_on() == EmissionKind::kEdge) return;
  out.emissions.reserve(out.sets.size());
  for (std::size_t i = 0; i < out.sets.size(); ++i) {
    StateGradient by = pull_back_expansion(model.sets[i], out.sets[i]);
    out.sets[i] = std::move(by.transition);
    out.emissions.push_back(std::move(by.emission));
  }
}

const Hqmm& Forms::free_model(const FormSource& from) {
  if (from.model.emits_on() == EmissionKind::kState) expanded_ = expanded(from.model);
  return free_of(from.model);
}

const Hqmm& Forms::free_of(const Hqmm& model) const {
  return model.emits_on() == EmissionKind::kEdge ? model : expanded_;
}

NormForm& Forms::write_norm(const FormSource& from) {
  state_ = factor_initial_state(from.model);
  write_factor_form(free_model(from), from.program, state_, from.feasible, norm_);
  norm_.multiply_words(from.program, from.threads);
  return norm_;
}

KrausForm& Forms::write_kraus(const FormSource& from) {
  kraus_.write(from.model, from.feasible);
  return kraus_;
}

TraceForm& Forms::write_trace(const FormSource& from) {
  write_superoperators(from.model, from.program, from.feasible, from.model.field == Field::kReal,
                       from.threads, scratch_, trace_);
  trace_.multiply_words(from.program, from.threads);
  return trace_;
}

ChannelForm& Forms::write_channel(const FormSource& from) {
  channel_.write(from.model, from.feasible, scratch_);
  return channel_;
}

TraceForm& Forms::write_base(const FormSource& from) {
  write_superoperators(from.model, from.program, from.feasible, false, from.threads, scratch_,
                       trace_);
  return trace_;
}

void Forms::write_gradient(const NormForm& form, const FormSource& from, ChainResult& total,
                           BatchGradient& out) const {
  form.chain_words(from.program, from.threads, total.gradients);
  factor_gradient(free_of(from.model), form, state_, total.gradients, total.initial, out);
  pull_back(from.model, out);
}

void Forms::write_gradient(const KrausForm& form, const FormSource& from, ChainResult& total,
                           BatchGradient& out) const {
  form.write_gradient(from.model, total.gradients, total.initial, out);
}

void Forms::write_gradient(const TraceForm& form, const FormSource& from, ChainResult& total,
                           BatchGradient& out) {
  form.chain_words(from.program, from.threads, total.gradients);
  write_base_gradient(form, from, total, out);
}

void Forms::write_gradient(const ChannelForm& form, const FormSource& from, ChainResult& total,
                           BatchGradient& out) {
  form.write_gradient(from.model, total.gradients, total.initial, scratch_, out);
}

void Forms::write_base_gradient(const TraceForm& form, const FormSource& from, ChainResult& total,
                                BatchGradient& out) {
  superoperator_gradient(from.model, form, total.gradients, total.initial, from.threads, scratch_,
                         out);
}

}  // namespace hqmm::detail

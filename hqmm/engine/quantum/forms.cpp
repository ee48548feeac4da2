#include "hqmm/engine/quantum/forms.hpp"

namespace hqmm {

NormForm& Forms::write_norm(const FormSource& from) {
  state_ = factor_initial_state(from.model);
  write_factor_form(from.model, from.program, state_, from.feasible, norm_);
  norm_.multiply_words(from.program.words, from.program.base_operators);
  return norm_;
}

KrausForm& Forms::write_kraus(const FormSource& from) {
  kraus_.write(from.model, from.feasible);
  return kraus_;
}

TraceForm& Forms::write_trace(const FormSource& from) {
  write_base(from);
  trace_.multiply_words(from.program.words, from.program.base_operators);
  return trace_;
}

TraceForm& Forms::write_base(const FormSource& from) {
  write_superoperators(from.model, from.program, from.feasible, from.threads, scratch_, trace_);
  return trace_;
}

void Forms::write_gradient(const NormForm& form, const FormSource& from, ChainResult& total,
                           BatchGradient& out) const {
  form.chain_words(from.program.words, from.program.base_operators, total.gradients);
  factor_gradient(from.model, form, state_, total.gradients, total.initial, out);
}

void Forms::write_gradient(const KrausForm& form, const FormSource& from, ChainResult& total,
                           BatchGradient& out) const {
  form.write_gradient(from.model, total.gradients, total.initial, out);
}

void Forms::write_gradient(const TraceForm& form, const FormSource& from, ChainResult& total,
                           BatchGradient& out) {
  form.chain_words(from.program.words, from.program.base_operators, total.gradients);
  write_base_gradient(form, from, total, out);
}

void Forms::write_base_gradient(const TraceForm& form, const FormSource& from, ChainResult& total,
                                BatchGradient& out) {
  superoperator_gradient(from.model, form, total.gradients, total.initial, from.threads, scratch_,
                         out);
}

}  // namespace hqmm

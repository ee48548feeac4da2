// Forms: a model in the form that an engine walks, and the way back to gradients of the model.
//
// Which engine walks which form is decided here and nowhere else.
#pragma once

#include <utility>

#include "hqmm/engine/quantum/channel_form.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/engine/quantum/factor.hpp"
#include "hqmm/engine/quantum/kraus_form.hpp"
#include "hqmm/engine/quantum/superoperator.hpp"

namespace hqmm::detail {

/// What a form is written from.
struct FormSource {
  const Hqmm& model;
  const Program& program;
  bool feasible = false;  // the totals are one
  int threads = 1;
};

/// ∂loss by V and C from ∂loss by every operator; nothing for emission on edges.
void pull_back(const Hqmm& model, BatchGradient& out);

/// Forms keep their memory from one batch to the next; the one written last is valid.
class Forms {
 public:
  /// Calls visit(form) with the model in the form of an engine, ready to walk the program, and
  /// returns what it returns. For the lanes engine that is the superoperator form.
  template <typename Visit>
  auto with_form(const Choice& choice, const FormSource& from, Visit&& visit) {
    if (choice.shared) return std::forward<Visit>(visit)(write_channel(from));
    switch (choice.engine) {
      case EngineKind::kPure:
      case EngineKind::kFactor:
        return std::forward<Visit>(visit)(write_norm(from));
      case EngineKind::kKraus:
        return std::forward<Visit>(visit)(write_kraus(from));
      default:
        return std::forward<Visit>(visit)(write_trace(from));
    }
  }

  /// ∂loss by the model from what a pass over the form gave: by Γ, or by V and C, and by the
  /// initial state unless `total` has none.
  void write_gradient(const NormForm& form, const FormSource& from, ChainResult& total,
                      BatchGradient& out) const;
  void write_gradient(const KrausForm& form, const FormSource& from, ChainResult& total,
                      BatchGradient& out) const;
  void write_gradient(const TraceForm& form, const FormSource& from, ChainResult& total,
                      BatchGradient& out);
  void write_gradient(const ChannelForm& form, const FormSource& from, ChainResult& total,
                      BatchGradient& out);

  /// The superoperator form without words, complex also for a real model, and the way back from it:
  /// the lanes engine has words of its own.
  TraceForm& write_base(const FormSource& from);
  void write_base_gradient(const TraceForm& form, const FormSource& from, ChainResult& total,
                           BatchGradient& out);

 private:
  NormForm& write_norm(const FormSource& from);
  KrausForm& write_kraus(const FormSource& from);
  TraceForm& write_trace(const FormSource& from);
  ChannelForm& write_channel(const FormSource& from);
  /// The model by free operators, one per symbol, for forms that keep such a table anyway.
  const Hqmm& free_model(const FormSource& from);
  [[nodiscard]] const Hqmm& free_of(const Hqmm& model) const;

  Hqmm expanded_;
  NormForm norm_;
  StateFactor state_;  // of norm_
  KrausForm kraus_;
  TraceForm trace_;
  ChannelForm channel_;
  SymbolScratch scratch_;  // of trace_ and channel_
};

}  // namespace hqmm::detail

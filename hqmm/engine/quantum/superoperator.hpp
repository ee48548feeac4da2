// The superoperator form: ρ as n² real coordinates, one real n² × n² matrix per symbol; for a real
// model n(n+1)/2 of both.
//
// The coordinates are those of model/hermitian_basis.hpp, the matrices those of symbol_channel.hpp.
#pragma once

#include "hqmm/engine/chain/linear_form.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/engine/quantum/symbol_channel.hpp"

namespace hqmm::detail {

/// The base operators of a model's form; room for its program's words. `feasible`: the totals are
/// one. `real`: without the coordinates of imaginary parts, for a real model.
void write_superoperators(const Hqmm& model, const Program& program, bool feasible, bool real,
                          int threads, SymbolScratch& scratch, TraceForm& form);

/// From ∂ℓ by every base operator, words chained, to ∂loss by Γ, or by V and C, and by the initial
/// state when it is wanted (`initial` not empty).
void superoperator_gradient(const Hqmm& model, const TraceForm& form, GradientTable& table,
                            const std::vector<double>& initial, int threads, SymbolScratch& scratch,
                            BatchGradient& out);

}  // namespace hqmm::detail

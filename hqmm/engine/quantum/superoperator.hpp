// The superoperator form: ρ as n² real coordinates, one real n² × n² matrix per symbol.
//
// The coordinates are those of model/hermitian_basis.hpp.
//
// With u_q the n² entries of K[y][q] ordered (column i, row a) and 𝕡 = Σ_q u_q u_q†, an image of a
// basis matrix is read off 𝕡: P_ij[a,b] = Σ_q K[a,i] conj(K[b,j]) is 𝕡 at ((i,a), (j,b)). Backward,
// the gradient by 𝕡 is gathered as a Hermitian S and ∂ℓ/∂u_q = S u_q.
#pragma once

#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/engine/quantum/linear_form.hpp"

namespace hqmm {

/// For one symbol's operators, kept between batches.
struct SymbolScratch {
  AlignedDoubles u, turned, by_im, re, im;
};

/// The base operators of a model's form; room for its program's words. `feasible`: the totals are
/// one.
void write_superoperators(const Hqmm& model, const Program& program, bool feasible, int threads,
                          SymbolScratch& scratch, TraceForm& form);

/// From ∂ℓ by every base operator, words chained, to ∂loss by Γ, and by the initial state when it
/// is wanted (`initial` not empty).
void superoperator_gradient(const Hqmm& model, const TraceForm& form, GradientTable& table,
                            const std::vector<double>& initial, int threads, SymbolScratch& scratch,
                            BatchGradient& out);

}  // namespace hqmm

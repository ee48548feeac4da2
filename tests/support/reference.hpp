// Naive twins: the definitions written down as directly as they can be, in long double, for the
// kernels to be compared with. Nothing here is normalised, shared with the library or fast.
#pragma once

#include <complex>
#include <functional>
#include <vector>

#include "hqmm/core/random.hpp"
#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/hmm.hpp"
#include "hqmm/model/hqmm.hpp"
#include "hqmm/model/random_models.hpp"

namespace hqmm::detail::testing {

using Wide = std::complex<long double>;
using WideMatrix = std::vector<std::vector<Wide>>;  // [row][column]

WideMatrix widen(const Matrix& matrix);

long double trace(const WideMatrix& matrix);

/// out += 𝒦_y(ρ), entry by entry: 𝒦_y(ρ)_ij = Σ_q Σ_ab K_ia ρ_ab K*_jb.
void add_symbol_map(const KrausSet& set, Symbol y, const WideMatrix& rho, WideMatrix& out);

WideMatrix symbol_map(const KrausSet& set, Symbol y, const WideMatrix& rho);

WideMatrix total_map(const KrausSet& set, const WideMatrix& rho);

/// The set of every position of a sequence, by writing the whole list out.
std::vector<std::uint32_t> naive_sets(const PositionMap& map, std::size_t length);

/// What a model makes of a sequence, from unnormalised products.
struct NaiveRun {
  std::vector<long double> raw;    // per symbol: tr 𝒦_y(σ) / tr σ; 1 when it is missing
  std::vector<long double> total;  // per symbol: Σ_y' tr 𝒦_y'(σ) / tr σ; 1 when it is missing
  WideMatrix state;  // σ after the last symbol: its trace is the raw weight of the sequence
};

NaiveRun naive_run(const Hqmm& model, const std::vector<Symbol>& symbols);

/// P(symbols) of a feasible model; a missing symbol is summed over by the total map.
double naive_probability(const Hqmm& model, const std::vector<Symbol>& symbols);

/// P(symbols): the sum over every path of hidden states, from position t and state `from` on.
long double sum_over_paths(const Hmm& hmm, const std::vector<Symbol>& symbols, std::size_t t,
                           Index from);

double naive_probability(const Hmm& hmm, const std::vector<Symbol>& symbols);

long double sum_over_paths(const EdgeHmm& hmm, const std::vector<Symbol>& symbols, std::size_t t,
                           Index from);

double naive_probability(const EdgeHmm& hmm, const std::vector<Symbol>& symbols);

/// Σ f over every way to fill in the missing symbols: an exact marginal, by enumeration.
double sum_over_missing(std::vector<Symbol> symbols, std::size_t alphabet_size,
                        const std::function<double(const std::vector<Symbol>&)>& f);

/// Σ f over all s^length sequences.
double sum_over_sequences(std::size_t length, std::size_t alphabet_size,
                          const std::function<double(const std::vector<Symbol>&)>& f);

// Random material.

struct Shape {
  Index n, s, w;
  Field field = Field::kComplex;
  EmissionKind emission = EmissionKind::kEdge;
};

/// The shape in each of the four kinds of model.
std::vector<Shape> of_every_kind(const Shape& shape);

KrausSet random_set(const Shape& shape, RandomStream& random);

/// Every shape up to n = 3, s = 3, w = 3.
std::vector<Shape> small_shapes();

Hqmm random_hqmm(const Shape& shape, RandomStream& random);

/// Three Kraus sets behind a map of four entries.
Hqmm random_positional_hqmm(const Shape& shape, PositionMap::Anchor anchor, RandomStream& random);

/// A stack pushed off the manifold by noise: probabilities no longer sum to one.
void make_infeasible(Hqmm& model, RandomStream& random);

/// An HMM whose start is random too.
Hmm random_started_hmm(Index n, Index s, RandomStream& random);

EdgeHmm random_started_edge_hmm(Index n, Index s, RandomStream& random);

std::vector<Symbol> random_symbols(std::size_t length, Index alphabet_size, RandomStream& random,
                                   double missing_share = 0.0);

}  // namespace hqmm::detail::testing

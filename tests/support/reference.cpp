#include "support/reference.hpp"

#include <algorithm>

namespace hqmm::detail::testing {

WideMatrix widen(const Matrix& matrix) {
  WideMatrix out(static_cast<std::size_t>(matrix.rows()));
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j)
      out[static_cast<std::size_t>(i)].emplace_back(matrix(i, j));
  }
  return out;
}

long double trace(const WideMatrix& matrix) {
  Wide sum = 0;
  for (std::size_t i = 0; i < matrix.size(); ++i) sum += matrix[i][i];
  return sum.real();
}

namespace {

/// K[y][q], from V and C where it is made of them: K_ia = c_yi V_ia.
WideMatrix operator_of(const KrausSet& set, Symbol y, Index q) {
  if (set.emits_on() == EmissionKind::kEdge) return widen(set.op(y, q));
  const Index n = set.latent_dim();
  WideMatrix out = widen(set.transition().middleRows(q * n, n));
  for (Index i = 0; i < n; ++i)
    for (Wide& entry : out[static_cast<std::size_t>(i)]) entry *= set.emission()(y, i);
  return out;
}

}  // namespace

void add_symbol_map(const KrausSet& set, Symbol y, const WideMatrix& rho, WideMatrix& out) {
  const std::size_t n = rho.size();
  for (Index q = 0; q < set.kraus_rank(); ++q) {
    const WideMatrix k = operator_of(set, y, q);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t a = 0; a < n; ++a) {
          for (std::size_t b = 0; b < n; ++b) out[i][j] += k[i][a] * rho[a][b] * std::conj(k[j][b]);
        }
      }
    }
  }
}

WideMatrix symbol_map(const KrausSet& set, Symbol y, const WideMatrix& rho) {
  WideMatrix out(rho.size(), std::vector<Wide>(rho.size()));
  add_symbol_map(set, y, rho, out);
  return out;
}

WideMatrix total_map(const KrausSet& set, const WideMatrix& rho) {
  WideMatrix out(rho.size(), std::vector<Wide>(rho.size()));
  for (Index y = 0; y < set.alphabet_size(); ++y)
    add_symbol_map(set, static_cast<Symbol>(y), rho, out);
  return out;
}

std::vector<std::uint32_t> naive_sets(const PositionMap& map, std::size_t length) {
  std::vector<std::uint32_t> sets = map.entries();
  const bool from_end = map.anchor() == PositionMap::Anchor::kEnd;
  if (from_end) std::reverse(sets.begin(), sets.end());
  sets.resize(length, sets.back());
  if (from_end) std::reverse(sets.begin(), sets.end());
  return sets;
}

NaiveRun naive_run(const Hqmm& model, const std::vector<Symbol>& symbols) {
  const std::vector<std::uint32_t> sets = naive_sets(model.positions, symbols.size());
  NaiveRun run;
  run.state = widen(model.initial_state);
  for (std::size_t t = 0; t < symbols.size(); ++t) {
    const KrausSet& set = model.sets[sets[t]];
    const bool missing = symbols[t] == kMissing;
    const WideMatrix unseen = total_map(set, run.state);
    const WideMatrix next = missing ? unseen : symbol_map(set, symbols[t], run.state);
    run.raw.push_back(missing ? 1.0L : trace(next) / trace(run.state));
    run.total.push_back(missing ? 1.0L : trace(unseen) / trace(run.state));
    run.state = next;
  }
  return run;
}

double naive_probability(const Hqmm& model, const std::vector<Symbol>& symbols) {
  return static_cast<double>(trace(naive_run(model, symbols).state));
}

long double sum_over_paths(const Hmm& hmm, const std::vector<Symbol>& symbols, std::size_t t,
                           Index from) {
  if (t == symbols.size()) return 1.0L;
  long double sum = 0.0L;
  for (Index to = 0; to < hmm.latent_dim(); ++to) {
    const long double emitted = symbols[t] == kMissing ? 1.0L : hmm.emission(symbols[t], to);
    sum += hmm.transition(to, from) * emitted * sum_over_paths(hmm, symbols, t + 1, to);
  }
  return sum;
}

double naive_probability(const Hmm& hmm, const std::vector<Symbol>& symbols) {
  long double sum = 0.0L;
  for (Index x = 0; x < hmm.latent_dim(); ++x)
    sum += hmm.initial(x) * sum_over_paths(hmm, symbols, 0, x);
  return static_cast<double>(sum);
}

long double sum_over_paths(const EdgeHmm& hmm, const std::vector<Symbol>& symbols, std::size_t t,
                           Index from) {
  if (t == symbols.size()) return 1.0L;
  long double sum = 0.0L;
  for (std::size_t y = 0; y < hmm.edges.size(); ++y) {
    if (symbols[t] != kMissing && symbols[t] != y) continue;
    for (Index to = 0; to < hmm.latent_dim(); ++to)
      sum += hmm.edges[y](to, from) * sum_over_paths(hmm, symbols, t + 1, to);
  }
  return sum;
}

double naive_probability(const EdgeHmm& hmm, const std::vector<Symbol>& symbols) {
  long double sum = 0.0L;
  for (Index x = 0; x < hmm.latent_dim(); ++x)
    sum += hmm.initial(x) * sum_over_paths(hmm, symbols, 0, x);
  return static_cast<double>(sum);
}

double sum_over_missing(std::vector<Symbol> symbols, std::size_t alphabet_size,
                        const std::function<double(const std::vector<Symbol>&)>& f) {
  const auto hole = std::find(symbols.begin(), symbols.end(), kMissing);
  if (hole == symbols.end()) return f(symbols);
  double sum = 0.0;
  for (std::size_t y = 0; y < alphabet_size; ++y) {
    *hole = static_cast<Symbol>(y);
    sum += sum_over_missing(symbols, alphabet_size, f);
  }
  return sum;
}

double sum_over_sequences(std::size_t length, std::size_t alphabet_size,
                          const std::function<double(const std::vector<Symbol>&)>& f) {
  return sum_over_missing(std::vector<Symbol>(length, kMissing), alphabet_size, f);
}

std::vector<Shape> small_shapes() {
  std::vector<Shape> out;
  for (Index n = 1; n <= 3; ++n) {
    for (Index s = 1; s <= 3; ++s) {
      for (Index w = 1; w <= 3; ++w) out.push_back({n, s, w});
    }
  }
  return out;
}

std::vector<Shape> of_every_kind(const Shape& shape) {
  std::vector<Shape> out;
  for (const Field field : {Field::kComplex, Field::kReal})
    for (const EmissionKind emission : {EmissionKind::kEdge, EmissionKind::kState})
      out.push_back({shape.n, shape.s, shape.w, field, emission});
  return out;
}

KrausSet random_set(const Shape& shape, RandomStream& random) {
  if (shape.emission == EmissionKind::kEdge)
    return random_kraus(shape.s, shape.w, shape.n, random, shape.field);
  KrausSet set = random_state_kraus(shape.s, shape.w, shape.n, random, shape.field);
  for (Index k = 0; k < set.emission().size(); ++k)  // signs say something, too
    if (random.uniform() < 0.5) set.emission().data()[k] *= -1.0;
  return set;
}

Hqmm random_hqmm(const Shape& shape, RandomStream& random) {
  KrausSet set = random_set(shape, random);
  return stationary_hqmm(Alphabet::integers(static_cast<std::size_t>(shape.s)), std::move(set),
                         random_density_matrix(shape.n, random, shape.field), shape.field);
}

Hqmm random_positional_hqmm(const Shape& shape, PositionMap::Anchor anchor, RandomStream& random) {
  Hqmm model = random_hqmm(shape, random);
  while (model.sets.size() < 3) model.sets.push_back(random_set(shape, random));
  model.positions = PositionMap({2, 0, 2, 1}, anchor);
  return model;
}

void make_infeasible(Hqmm& model, RandomStream& random) {
  for (KrausSet& set : model.sets) {
    for (Index i = 0; i < set.stack().size(); ++i) {
      const double re = random.normal();
      const double im = model.field == Field::kReal ? 0.0 : random.normal();
      set.stack().data()[i] += 0.2 * Complex(re, im);
    }
    if (set.emits_on() == EmissionKind::kEdge) continue;
    for (Index i = 0; i < set.emission().size(); ++i)
      set.emission().data()[i] += 0.2 * random.normal();
  }
}

Hmm random_started_hmm(Index n, Index s, RandomStream& random) {
  Hmm hmm = random_hmm(Alphabet::integers(static_cast<std::size_t>(s)), n, random);
  for (double& x : hmm.initial) x = random.uniform() + 1e-3;
  hmm.initial /= hmm.initial.sum();
  return hmm;
}

EdgeHmm random_started_edge_hmm(Index n, Index s, RandomStream& random) {
  EdgeHmm hmm = random_edge_hmm(Alphabet::integers(static_cast<std::size_t>(s)), n, random);
  for (double& x : hmm.initial) x = random.uniform() + 1e-3;
  hmm.initial /= hmm.initial.sum();
  return hmm;
}

std::vector<Symbol> random_symbols(std::size_t length, Index alphabet_size, RandomStream& random,
                                   double missing_share) {
  std::vector<Symbol> out(length);
  for (Symbol& symbol : out) {
    const bool missing = random.uniform() < missing_share;
    symbol = missing ? kMissing
                     : static_cast<Symbol>(random.below(static_cast<std::uint64_t>(alphabet_size)));
  }
  return out;
}

}  // namespace hqmm::detail::testing

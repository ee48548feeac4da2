#include "hqmm/engine/quantum/superoperator.hpp"

#include <algorithm>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/quantum/state_channel.hpp"
#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm::detail {
namespace {

std::size_t alphabet_size_of(const Hqmm& model) {
  return static_cast<std::size_t>(model.alphabet_size());
}

/// The coordinates of a Hermitian matrix that a form has, without padding.
void write_coordinates(const Matrix& hermitian, Index rows, double* out) {
  Eigen::Map<RealVector>(out, rows) = to_coordinates(hermitian).head(rows);
}

/// A form of fewer than n² coordinates leaves out imaginary parts; at n = 1 there are none.
bool is_real(const TraceForm& form, const Hqmm& model) {
  return form.rows() < model.latent_dim() * model.latent_dim();
}

/// R of a missing symbol: the sum over all symbols.
void write_missing(const Hqmm& model, TraceForm& form) {
  const std::size_t s = alphabet_size_of(model);
  for (std::size_t set = 0; set < model.sets.size(); ++set) {
    double* out = form.forward_matrix(model.sets.size() * s + set);
    std::fill_n(out, form.operator_size(), 0.0);
    for (std::size_t y = 0; y < s; ++y) {
      const double* r = form.forward_matrix(set * s + y);
      for (std::size_t i = 0; i < form.operator_size(); ++i) out[i] += r[i];
    }
    form.transpose(model.sets.size() * s + set);
  }
}

/// body(channel, i) for i < count, on threads when there are enough numbers. Each is by itself, so
/// that it does not matter how many blocks there are.
template <typename Body>
void for_each_channel(const Hqmm& model, const TraceForm& form, std::size_t count, int threads,
                      SymbolScratch& scratch, Body body) {
  const std::size_t numbers = count * form.operator_size();
  const std::size_t blocks = numbers > 1000 && threads > 1 ? std::min<std::size_t>(count, 64) : 1;
  parallel_for(blocks, threads, [&](std::size_t block) {
    SymbolScratch own;
    SymbolChannel channel(model.latent_dim(), model.kraus_rank(), is_real(form, model),
                          block == 0 ? scratch : own);
    for (std::size_t i = block; i < count; i += blocks) body(channel, i);
  });
}

void write_on_edges(const Hqmm& model, int threads, SymbolScratch& scratch, TraceForm& form) {
  const std::size_t s = alphabet_size_of(model);
  const Index block = model.kraus_rank() * model.latent_dim() * model.latent_dim();
  for_each_channel(
      model, form, model.sets.size() * s, threads, scratch,
      [&](SymbolChannel& channel, std::size_t op) {
        channel.load(model.sets[op / s].gamma().data() + static_cast<Index>(op % s) * block);
        channel.write_operator(form.forward_matrix(op));
        form.transpose(op);
      });
}

void gradient_on_edges(const Hqmm& model, const TraceForm& form, const GradientTable& table,
                       int threads, SymbolScratch& scratch, BatchGradient& out) {
  const std::size_t s = alphabet_size_of(model);
  const Index block = model.kraus_rank() * model.latent_dim() * model.latent_dim();
  for_each_channel(model, form, model.sets.size() * s, threads, scratch,
                   [&](SymbolChannel& channel, std::size_t op) {
                     if (!table.used(op)) return;
                     const Index at = static_cast<Index>(op % s) * block;
                     channel.load(model.sets[op / s].gamma().data() + at);
                     channel.add_gradient(table.values(op), out.sets[op / s].data() + at);
                   });
}

StateChannel state_channel(const Hqmm& model, const TraceForm& form, SymbolScratch& scratch) {
  return {model.latent_dim(), model.kraus_rank(), is_real(form, model), scratch};
}

/// R_y = diag(e_y) C
void write_on_states(const Hqmm& model, SymbolScratch& scratch, TraceForm& form) {
  StateChannel channel = state_channel(model, form, scratch);
  std::size_t op = 0;
  for (const KrausSet& set : model.sets) {
    channel.load(set);
    for (Index y = 0; y < set.alphabet_size(); ++y, ++op) {
      const RealVector scale = channel.factors(y);
      const double* from = channel.matrix();
      double* to = form.forward_matrix(op);
      for (Index col = 0; col < form.rows(); ++col, from += form.stride(), to += form.stride())
        for (Index row = 0; row < form.rows(); ++row) to[row] = scale(row) * from[row];
      form.transpose(op);
    }
  }
}

/// ∂C += diag(e_y) G, and the rows of G times those of C, which are ∂ℓ/∂e_y.
RealVector fold_symbol(const StateChannel& channel, Index y, const double* g, double* by_matrix) {
  const RealVector scale = channel.factors(y);
  RealVector by_factor = RealVector::Zero(channel.rows());
  const double* matrix = channel.matrix();
  for (Index col = 0; col < channel.rows(); ++col) {
    for (Index row = 0; row < channel.rows(); ++row) {
      by_matrix[row] += scale(row) * g[row];
      by_factor(row) += matrix[row] * g[row];
    }
    matrix += channel.stride();
    g += channel.stride();
    by_matrix += channel.stride();
  }
  return by_factor;
}

void gradient_on_states(const Hqmm& model, const TraceForm& form, const GradientTable& table,
                        SymbolScratch& scratch, BatchGradient& out) {
  StateChannel channel = state_channel(model, form, scratch);
  AlignedDoubles by_matrix(channel.matrix_size());
  std::size_t op = 0;
  for (std::size_t i = 0; i < model.sets.size(); ++i) {
    const KrausSet& set = model.sets[i];
    RealMatrix& by_c =
        out.emissions.emplace_back(RealMatrix::Zero(set.alphabet_size(), set.latent_dim()));
    channel.load(set);
    std::fill_n(by_matrix.data(), by_matrix.size(), 0.0);
    for (Index y = 0; y < set.alphabet_size(); ++y, ++op) {
      if (!table.used(op)) continue;
      channel.add_by_factors(y, fold_symbol(channel, y, table.values(op), by_matrix.data()), by_c);
    }
    channel.add_by_matrix(by_matrix.data(), out.sets[i]);
  }
}

}  // namespace

void write_superoperators(const Hqmm& model, const Program& program, bool feasible, bool real,
                          int threads, SymbolScratch& scratch, TraceForm& form) {
  const Index n = model.latent_dim();
  form.reshape(coordinate_count(n, real), 1, n, program.operators());
  if (model.emits_on() == EmissionKind::kEdge) {
    write_on_edges(model, threads, scratch, form);
  } else {
    write_on_states(model, scratch, form);
  }
  if (program.missing) write_missing(model, form);
  write_coordinates(model.initial_state, form.rows(), form.initial());
  if (feasible) return;
  std::vector<AlignedDoubles> totals;
  totals.reserve(model.sets.size());
  for (const KrausSet& set : model.sets) {
    AlignedDoubles& total = totals.emplace_back(static_cast<std::size_t>(form.state_size()));
    std::fill_n(total.data(), total.size(), 0.0);  // padding is multiplied along
    write_coordinates(set.gram(), form.rows(), total.data());
  }
  form.set_totals(static_cast<std::uint32_t>(model.alphabet_size()), std::move(totals));
}

void superoperator_gradient(const Hqmm& model, const TraceForm& form, GradientTable& table,
                            const std::vector<double>& initial, int threads, SymbolScratch& scratch,
                            BatchGradient& out) {
  const Index n = model.latent_dim();
  const std::size_t s = alphabet_size_of(model);
  const std::size_t symbols = model.sets.size() * s;
  for (std::size_t set = 0; set < model.sets.size(); ++set) {
    out.sets.push_back(Stack::Zero(model.sets[set].stack().rows(), n));
    if (!table.used(symbols + set)) continue;
    for (std::size_t y = 0; y < s; ++y) table.add(set * s + y, table.values(symbols + set));
  }
  if (model.emits_on() == EmissionKind::kEdge) {
    gradient_on_edges(model, form, table, threads, scratch, out);
  } else {
    gradient_on_states(model, form, table, scratch, out);
  }
  if (initial.empty()) return;
  RealVector coordinates = RealVector::Zero(n * n);
  coordinates.head(form.rows()) = Eigen::Map<const RealVector>(initial.data(), form.rows());
  out.initial_state = -from_coordinates(coordinates);
}

}  // namespace hqmm::detail

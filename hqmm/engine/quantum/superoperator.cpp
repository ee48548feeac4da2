#include "hqmm/engine/quantum/superoperator.hpp"

#include <algorithm>

#include "hqmm/core/parallel.hpp"
#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm {
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

/// body(channel, i) for i < count, on threads when there are enough numbers.
template <typename Body>
void for_each_channel(const Hqmm& model, const TraceForm& form, std::size_t count, int threads,
                      SymbolScratch& scratch, Body body) {
  const std::size_t numbers = count * form.operator_size();
  const std::size_t blocks = numbers > 200'000 ? std::min<std::size_t>(count, 64) : 1;
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

/// Emission on states: one channel for all symbols of a set, with rows scaled by e_y. What D_y H
/// D_y does to coordinates, e_y, is c_i² on the diagonal and c_a c_b beside it.
class StateChannel {
 public:
  StateChannel(const Hqmm& model, const TraceForm& form, SymbolScratch& scratch)
      : n_(model.latent_dim()),
        rows_(form.rows()),
        stride_(form.stride()),
        symbols_(alphabet_size_of(model)),
        channel_(n_, model.kraus_rank(), is_real(form, model), scratch),
        matrix_(form.operator_size()) {}

  void load(const KrausSet& set) {
    set_ = &set;
    channel_.load(set.transition().data());
    channel_.write_operator(matrix_.data());
  }

  /// R of a symbol, the first of the set's being `first`.
  void write_operator(std::size_t first, std::size_t y, TraceForm& form) const {
    const RealVector scale = factors(y);
    double* out = form.forward_matrix(first + y);
    for (Index col = 0; col < rows_; ++col) {
      for (Index row = 0; row < rows_; ++row)
        out[col * stride_ + row] =
            scale(row) * matrix_[static_cast<std::size_t>(col * stride_ + row)];
    }
    form.transpose(first + y);
  }

  /// ∂loss by V and by C, from ∂ℓ by the symbols' R.
  void add_gradient(std::size_t first, const GradientTable& table, Stack& by_v, RealMatrix& by_c) {
    AlignedDoubles by_channel(matrix_.size());
    std::fill_n(by_channel.data(), by_channel.size(), 0.0);
    for (std::size_t y = 0; y < symbols_; ++y) {
      if (!table.used(first + y)) continue;
      const double* g = table.values(first + y);
      const RealVector scale = factors(y);
      RealVector by_factor = RealVector::Zero(rows_);
      for (Index col = 0; col < rows_; ++col) {
        const double* column = g + col * stride_;
        const double* of_channel = matrix_.data() + col * stride_;
        double* to = by_channel.data() + col * stride_;
        for (Index row = 0; row < rows_; ++row) {
          to[row] += scale(row) * column[row];
          by_factor(row) += of_channel[row] * column[row];
        }
      }
      subtract_by_emission(static_cast<Index>(y), by_factor, by_c);
    }
    channel_.add_gradient(by_channel.data(), by_v.data());
  }

 private:
  /// e_y
  [[nodiscard]] RealVector factors(std::size_t y) const {
    const auto c = set_->emission().row(static_cast<Index>(y));
    const HermitianCoordinates at(n_);
    RealVector out(rows_);
    for (Index a = 0; a < n_; ++a) {
      out(a) = c(a) * c(a);
      for (Index b = a + 1; b < n_; ++b) {
        out(at.re(a, b)) = c(a) * c(b);
        if (at.im(a, b) < rows_) out(at.im(a, b)) = c(a) * c(b);
      }
    }
    return out;
  }

  void subtract_by_emission(Index y, const RealVector& by_factor, RealMatrix& by_c) const {
    const auto c = set_->emission().row(y);
    const HermitianCoordinates at(n_);
    for (Index a = 0; a < n_; ++a) {
      by_c(y, a) -= 2.0 * c(a) * by_factor(a);
      for (Index b = a + 1; b < n_; ++b) {
        double by = by_factor(at.re(a, b));
        if (at.im(a, b) < rows_) by += by_factor(at.im(a, b));
        by_c(y, a) -= c(b) * by;
        by_c(y, b) -= c(a) * by;
      }
    }
  }

  Index n_, rows_, stride_;
  std::size_t symbols_;
  SymbolChannel channel_;
  AlignedDoubles matrix_;
  const KrausSet* set_ = nullptr;
};

void write_on_states(const Hqmm& model, SymbolScratch& scratch, TraceForm& form) {
  const std::size_t s = alphabet_size_of(model);
  StateChannel channel(model, form, scratch);
  for (std::size_t set = 0; set < model.sets.size(); ++set) {
    channel.load(model.sets[set]);
    for (std::size_t y = 0; y < s; ++y) channel.write_operator(set * s, y, form);
  }
}

void gradient_on_states(const Hqmm& model, const TraceForm& form, const GradientTable& table,
                        SymbolScratch& scratch, BatchGradient& out) {
  const std::size_t s = alphabet_size_of(model);
  StateChannel channel(model, form, scratch);
  for (std::size_t set = 0; set < model.sets.size(); ++set) {
    RealMatrix& by_c =
        out.emissions.emplace_back(RealMatrix::Zero(model.alphabet_size(), model.latent_dim()));
    channel.load(model.sets[set]);
    channel.add_gradient(set * s, table, out.sets[set], by_c);
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

}  // namespace hqmm

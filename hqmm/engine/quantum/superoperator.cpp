#include "hqmm/engine/quantum/superoperator.hpp"

#include <algorithm>
#include <numbers>

#include "hqmm/core/parallel.hpp"
#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm {
namespace {

constexpr double kRoot2 = std::numbers::sqrt2;

/// The channel of one symbol: its operators and the n² × n² matrices made of them, real and
/// imaginary plane.
class SymbolChannel {
 public:
  SymbolChannel(Index n, Index w, SymbolScratch& scratch)
      : n_(n),
        w_(w),
        size_(n * n),
        stride_(column_stride(size_)),
        kernel_(panel_kernel()),
        u_(scratch.u),
        turned_(scratch.turned),
        by_im_(scratch.by_im),
        re_(scratch.re),
        im_(scratch.im) {
    for (AlignedDoubles* columns : {&u_, &turned_, &by_im_})
      columns->resize(static_cast<std::size_t>(2 * w * stride_));
    for (AlignedDoubles* matrix : {&re_, &im_})
      matrix->resize(static_cast<std::size_t>(size_ * stride_));
    // what pads the columns is multiplied along
    std::fill_n(u_.data(), u_.size(), 0.0);
    if (padded_rows(size_) == size_) return;
    for (AlignedDoubles* matrix : {&re_, &im_}) std::fill_n(matrix->data(), matrix->size(), 0.0);
  }

  /// u_q of symbol y: columns 2q (real) and 2q + 1 (imaginary), rows (i, a) = i·n + a.
  void load(const KrausSet& set, Index y) {
    const Complex* k = set.gamma().data() + y * w_ * size_;
    for (Index q = 0; q < w_; ++q) {
      double* re = u_.data() + 2 * q * stride_;
      double* im = re + stride_;
      for (Index a = 0; a < n_; ++a) {
        for (Index i = 0; i < n_; ++i, ++k) {
          re[i * n_ + a] = k->real();
          im[i * n_ + a] = k->imag();
        }
      }
    }
  }

  /// R of the symbol into `out`.
  void write_operator(double* out) {
    outer();
    const HermitianCoordinates at(n_);
    for (Index i = 0; i < n_; ++i) {
      write_diagonal(i, out + i * stride_);
      for (Index j = i + 1; j < n_; ++j)
        write_pair(i, j, out + at.re(i, j) * stride_, out + at.im(i, j) * stride_);
    }
  }

  /// −2 · the gradient by the operators of a symbol whose ∂ℓ/∂R is g, added to `out`, the rows of
  /// ∂loss/∂Γ that belong to it.
  void add_gradient(const double* g, Complex* out) {
    gather(g);
    product_with_u();
    for (Index q = 0; q < w_; ++q) {
      const double* re = turned_.data() + 2 * q * stride_;
      const double* im = re + stride_;
      for (Index a = 0; a < n_; ++a)
        for (Index i = 0; i < n_; ++i, ++out) *out -= Complex(re[i * n_ + a], im[i * n_ + a]);
    }
  }

 private:
  // 𝕡 at (row (i,a), column (j,b)) is stored with (j,b) running fastest.
  [[nodiscard]] Index at(Index i, Index a, Index j, Index b) const {
    return (i * n_ + a) * stride_ + j * n_ + b;
  }

  /// 𝕡 = Σ_q u_q u_q†
  void outer() {
    PanelProduct product{.rows = padded_rows(size_), .depth = 2 * w_, .cols = size_};
    product.left = u_.data();
    product.left_stride = product.depth_step = product.out_stride = stride_;
    product.right = u_.data();
    product.col_step = 1;
    product.out = re_.data();
    kernel_(product);
    // imaginary part: Σ_q Im u(row) Re u(col) − Re u(row) Im u(col)
    for (Index q = 0; q < w_; ++q) {
      const double* re = u_.data() + 2 * q * stride_;
      double* first = turned_.data() + 2 * q * stride_;
      for (Index k = 0; k < size_; ++k) {
        first[k] = re[stride_ + k];
        first[stride_ + k] = -re[k];
      }
    }
    product.right = turned_.data();
    product.out = im_.data();
    kernel_(product);
  }

  void write_diagonal(Index i, double* column) const {
    const HermitianCoordinates to(n_);
    for (Index a = 0; a < n_; ++a) {
      const double* re = re_.data() + at(i, a, i, 0);
      const double* im = im_.data() + at(i, a, i, 0);
      column[a] = re[a];
      double* to_re = column + to.re(a, 0);
      double* to_im = column + to.im(a, 0);
      for (Index b = a + 1; b < n_; ++b) {
        to_re[b] = kRoot2 * re[b];
        to_im[b] = kRoot2 * im[b];
      }
    }
  }

  /// The images of the basis matrices of Re H_ij and of Im H_ij.
  void write_pair(Index i, Index j, double* of_re, double* of_im) const {
    const HermitianCoordinates to(n_);
    for (Index a = 0; a < n_; ++a) {
      const double* re_ij = re_.data() + at(i, a, j, 0);
      const double* im_ij = im_.data() + at(i, a, j, 0);
      const double* re_ji = re_.data() + at(j, a, i, 0);
      const double* im_ji = im_.data() + at(j, a, i, 0);
      of_re[a] = kRoot2 * re_ij[a];
      of_im[a] = -kRoot2 * im_ij[a];
      const Index re = to.re(a, 0);
      const Index im = to.im(a, 0);
      for (Index b = a + 1; b < n_; ++b) {
        of_re[re + b] = re_ij[b] + re_ji[b];
        of_re[im + b] = im_ij[b] + im_ji[b];
        of_im[re + b] = im_ji[b] - im_ij[b];
        of_im[im + b] = re_ij[b] - re_ji[b];
      }
    }
  }

  /// S = D + D†, D the gradient by 𝕡 of everything written above.
  void gather(const double* g) {
    const HermitianCoordinates from(n_);
    for (Index i = 0; i < n_; ++i) {
      gather_diagonal(i, g + i * stride_);
      for (Index j = i + 1; j < n_; ++j)
        gather_pair(i, j, g + from.re(i, j) * stride_, g + from.im(i, j) * stride_);
    }
  }

  void put(Index i, Index a, Index j, Index b, double re, double im) {
    double* to_re = re_.data();
    double* to_im = im_.data();
    to_re[at(i, a, j, b)] = to_re[at(j, b, i, a)] = re;
    to_im[at(i, a, j, b)] = im;
    to_im[at(j, b, i, a)] = -im;
  }

  void gather_diagonal(Index i, const double* column) {
    const HermitianCoordinates from(n_);
    for (Index a = 0; a < n_; ++a) {
      put(i, a, i, a, 2.0 * column[a], 0.0);
      for (Index b = a + 1; b < n_; ++b)
        put(i, a, i, b, kRoot2 * column[from.re(a, b)], kRoot2 * column[from.im(a, b)]);
    }
  }

  void gather_pair(Index i, Index j, const double* of_re, const double* of_im) {
    const HermitianCoordinates from(n_);
    for (Index a = 0; a < n_; ++a) {
      put(i, a, j, a, kRoot2 * of_re[a], -kRoot2 * of_im[a]);
      const Index re = from.re(a, 0);
      const Index im = from.im(a, 0);
      for (Index b = a + 1; b < n_; ++b) {
        put(i, a, j, b, of_re[re + b] + of_im[im + b], of_re[im + b] - of_im[re + b]);
        put(j, a, i, b, of_re[re + b] - of_im[im + b], of_re[im + b] + of_im[re + b]);
      }
    }
  }

  /// S u_q for every q. S is stored transposed, that is conjugated: S u = conj(Sᵀ conj(u)).
  void product_with_u() {
    PanelProduct product{.rows = padded_rows(size_), .depth = size_, .cols = 2 * w_};
    product.left_stride = product.col_step = product.out_stride = stride_;
    product.right = u_.data();
    product.left = re_.data();
    product.out = turned_.data();
    kernel_(product);
    product.left = im_.data();
    product.out = by_im_.data();
    kernel_(product);
    for (Index q = 0; q < w_; ++q) {
      double* re = turned_.data() + 2 * q * stride_;
      double* im = re + stride_;
      const double* im_re = by_im_.data() + 2 * q * stride_;
      const double* im_im = im_re + stride_;
      for (Index k = 0; k < size_; ++k) {
        re[k] += im_im[k];
        im[k] -= im_re[k];
      }
    }
  }

  Index n_, w_, size_, stride_;
  PanelKernel kernel_;
  AlignedDoubles &u_, &turned_, &by_im_, &re_, &im_;
};

std::size_t alphabet_size_of(const Hqmm& model) {
  return static_cast<std::size_t>(model.alphabet_size());
}

/// The coordinates of a Hermitian matrix, without padding.
void write_coordinates(const Matrix& hermitian, double* out) {
  Eigen::Map<RealVector>(out, hermitian.size()) = to_coordinates(hermitian);
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

/// body(symbol, op) for every symbol of every set, on threads when there are enough numbers.
template <typename Body>
void for_each_symbol(const Hqmm& model, std::size_t numbers, int threads, SymbolScratch& scratch,
                     Body body) {
  const std::size_t symbols = model.sets.size() * alphabet_size_of(model);
  const std::size_t blocks = numbers > 200'000 ? std::min<std::size_t>(symbols, 64) : 1;
  parallel_for(blocks, threads, [&](std::size_t block) {
    SymbolScratch own;
    SymbolChannel symbol(model.latent_dim(), model.kraus_rank(), block == 0 ? scratch : own);
    for (std::size_t op = block; op < symbols; op += blocks) body(symbol, op);
  });
}

}  // namespace

void write_superoperators(const Hqmm& model, const Program& program, bool feasible, int threads,
                          SymbolScratch& scratch, TraceForm& form) {
  const Index n = model.latent_dim();
  const std::size_t s = alphabet_size_of(model);
  form.reshape(n * n, 1, n, program.operators());
  for_each_symbol(model, model.sets.size() * s * form.operator_size(), threads, scratch,
                  [&](SymbolChannel& symbol, std::size_t op) {
                    symbol.load(model.sets[op / s], static_cast<Index>(op % s));
                    symbol.write_operator(form.forward_matrix(op));
                    form.transpose(op);
                  });
  if (program.missing) write_missing(model, form);
  write_coordinates(model.initial_state, form.initial());
  if (feasible) return;
  std::vector<AlignedDoubles> totals;
  for (const KrausSet& set : model.sets) {
    AlignedDoubles& total = totals.emplace_back(static_cast<std::size_t>(form.state_size()));
    write_coordinates(set.gamma().adjoint() * set.gamma(), total.data());
  }
  form.set_totals(static_cast<std::uint32_t>(s), std::move(totals));
}

void superoperator_gradient(const Hqmm& model, const TraceForm& form, GradientTable& table,
                            const std::vector<double>& initial, int threads, SymbolScratch& scratch,
                            BatchGradient& out) {
  const Index n = model.latent_dim();
  const Index block = model.kraus_rank() * n * n;
  const std::size_t s = alphabet_size_of(model);
  const std::size_t symbols = model.sets.size() * s;
  for (std::size_t set = 0; set < model.sets.size(); ++set) {
    out.sets.push_back(Stack::Zero(model.sets[set].gamma().rows(), n));
    if (!table.used(symbols + set)) continue;
    for (std::size_t y = 0; y < s; ++y) table.add(set * s + y, table.values(symbols + set));
  }
  for_each_symbol(model, symbols * form.operator_size(), threads, scratch,
                  [&](SymbolChannel& symbol, std::size_t op) {
                    if (!table.used(op)) return;
                    const auto y = static_cast<Index>(op % s);
                    symbol.load(model.sets[op / s], y);
                    symbol.add_gradient(table.values(op), out.sets[op / s].data() + y * block);
                  });
  if (!initial.empty())
    out.initial_state = -from_coordinates(Eigen::Map<const RealVector>(initial.data(), n * n));
}

}  // namespace hqmm

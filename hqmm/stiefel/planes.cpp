#include "hqmm/stiefel/planes.hpp"

#include <cassert>
#include <cmath>
#include <cstring>

namespace hqmm {
namespace {

constexpr Index kRowBlock = 4;  // 4 rows × one vector, real and imaginary: 8 accumulators

constexpr Index round_up(Index value, Index unit) { return (value + unit - 1) / unit * unit; }

/// op(A)·B on planes: A's element (i,k) is at i·row_step + k·depth_step.
struct Operands {
  const double *a_re, *a_im;
  Index row_step, depth_step;
  const double *b_re, *b_im;
  double *c_re, *c_im;
  Index b_stride, c_stride;  // B and C: whole vectors per row
  Index rows, depth;         // rows: whole blocks
  bool upper;                // leave out blocks wholly below the diagonal
};

struct TwoLanes {
  static constexpr Index kCount = 2;
  typedef double Vector __attribute__((vector_size(16)));
};
struct FourLanes {
  static constexpr Index kCount = 4;
  typedef double Vector __attribute__((vector_size(32)));
};
struct EightLanes {
  static constexpr Index kCount = 8;
  typedef double Vector __attribute__((vector_size(64)));
};

/// Inlined into one function per instruction set, which decides what a Vector becomes.
template <typename Lanes, bool kAdjoint>
[[gnu::always_inline]] inline void run(const Operands& o) {
  using V = typename Lanes::Vector;
  for (Index i = 0; i < o.rows; i += kRowBlock) {
    const Index first = o.upper ? i / Lanes::kCount * Lanes::kCount : 0;
    for (Index j = first; j < o.c_stride; j += Lanes::kCount) {
      V re[kRowBlock] = {};
      V im[kRowBlock] = {};
      const double* a_re = o.a_re + i * o.row_step;
      const double* a_im = o.a_im + i * o.row_step;
      const double* from_re = o.b_re + j;
      const double* from_im = o.b_im + j;
      for (Index k = 0; k < o.depth; ++k) {
        V b_re;
        V b_im;
        std::memcpy(&b_re, from_re, sizeof(V));
        std::memcpy(&b_im, from_im, sizeof(V));
        for (Index r = 0; r < kRowBlock; ++r) {
          const double x = a_re[r * o.row_step];
          const double y = kAdjoint ? -a_im[r * o.row_step] : a_im[r * o.row_step];
          re[r] += x * b_re;
          re[r] -= y * b_im;
          im[r] += x * b_im;
          im[r] += y * b_re;
        }
        a_re += o.depth_step;
        a_im += o.depth_step;
        from_re += o.b_stride;
        from_im += o.b_stride;
      }
      for (Index r = 0; r < kRowBlock; ++r) {
        std::memcpy(o.c_re + (i + r) * o.c_stride + j, &re[r], sizeof(V));
        std::memcpy(o.c_im + (i + r) * o.c_stride + j, &im[r], sizeof(V));
      }
    }
  }
}

using Kernel = void (*)(const Operands&);
struct Kernels {
  Kernel plain_four, adjoint_four;    // strides that are multiples of 4
  Kernel plain_eight, adjoint_eight;  // of 8
};

template <bool kAdjoint>
void run_portable(const Operands& o) {
  run<TwoLanes, kAdjoint>(o);
}
#if defined(__x86_64__)
template <bool kAdjoint>
[[gnu::target("avx2,fma")]] void run_avx2(const Operands& o) {
  run<FourLanes, kAdjoint>(o);
}
template <bool kAdjoint>
[[gnu::target("avx512f")]] void run_avx512(const Operands& o) {
  run<EightLanes, kAdjoint>(o);
}
#endif

Kernels pick_kernels() {
  Kernels out{run_portable<false>, run_portable<true>, run_portable<false>, run_portable<true>};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    out = {run_avx2<false>, run_avx2<true>, run_avx2<false>, run_avx2<true>};
    if (__builtin_cpu_supports("avx512f")) {
      out.plain_eight = run_avx512<false>;
      out.adjoint_eight = run_avx512<true>;
    }
  }
#endif
  return out;
}

void run_best(const Operands& o, bool adjoint) {
  static const Kernels kernels = pick_kernels();
  if (o.c_stride % 8 == 0) {
    (adjoint ? kernels.adjoint_eight : kernels.plain_eight)(o);
  } else {
    (adjoint ? kernels.adjoint_four : kernels.plain_four)(o);
  }
}

/// The lower triangle from the upper one, and a real diagonal.
void mirror(Planes& c) {
  const Index stride = c.stride();
  double* re = c.re();
  double* im = c.im();
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      re[i * stride + j] = re[j * stride + i];
      im[i * stride + j] = -im[j * stride + i];
    }
    im[i * stride + i] = 0.0;
  }
}

void multiply_plain(const Planes& a, const Planes& b, Planes& c, bool upper) {
  assert(a.cols() == b.rows() && c.rows() == a.rows() && c.cols() == b.cols());
  run_best({a.re(), a.im(), a.stride(), 1, b.re(), b.im(), c.re(), c.im(), b.stride(), c.stride(),
            c.padded_rows(), b.rows(), upper},
           false);
}

void multiply_adjoint(const Planes& a, const Planes& b, Planes& c, bool upper) {
  assert(a.rows() == b.rows() && c.rows() == a.cols() && c.cols() == b.cols());
  run_best({a.re(), a.im(), 1, a.stride(), b.re(), b.im(), c.re(), c.im(), b.stride(), c.stride(),
            c.padded_rows(), b.rows(), upper},
           true);
}

}  // namespace

Planes::Planes(Index rows, Index cols)
    : rows_(rows),
      cols_(cols),
      padded_rows_(round_up(rows, kRowBlock)),
      stride_(round_up(cols, cols <= 4 ? 4 : 8)),
      values_(static_cast<std::size_t>(2 * padded_rows_ * stride_), 0.0) {}

Planes::Planes(const Stack& z) : Planes(z.rows(), z.cols()) {
  for (Index i = 0; i < rows_; ++i) {
    double* to_re = re() + i * stride_;
    double* to_im = im() + i * stride_;
    for (Index j = 0; j < cols_; ++j) {
      to_re[j] = z(i, j).real();
      to_im[j] = z(i, j).imag();
    }
  }
}

Stack Planes::to_stack() const {
  Stack out(rows_, cols_);
  for (Index i = 0; i < rows_; ++i) {
    const double* from_re = re() + i * stride_;
    const double* from_im = im() + i * stride_;
    for (Index j = 0; j < cols_; ++j) out(i, j) = {from_re[j], from_im[j]};
  }
  return out;
}

void multiply(const Planes& a, const Planes& b, Planes& c) { multiply_plain(a, b, c, false); }

void multiply_hermitian(const Planes& a, const Planes& b, Planes& c) {
  multiply_plain(a, b, c, true);
  mirror(c);
}

void multiply_adjoint(const Planes& a, const Planes& b, Planes& c) {
  multiply_adjoint(a, b, c, false);
}

void gram(const Planes& z, Planes& c) {
  multiply_adjoint(z, z, c, true);
  mirror(c);
}

double distance_from_identity(const Planes& h) {
  double sum = 0.0;
  for (Index i = 0; i < h.rows(); ++i) {
    const double* re = h.re() + i * h.stride();
    const double* im = h.im() + i * h.stride();
    for (Index j = 0; j < h.cols(); ++j) {
      const double off = re[j] - (i == j ? 1.0 : 0.0);
      sum += off * off + im[j] * im[j];
    }
  }
  return std::sqrt(sum);
}

}  // namespace hqmm

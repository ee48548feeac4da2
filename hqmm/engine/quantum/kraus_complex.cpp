// The Kraus form of complex models: products by planes (core/planes.hpp).
//
// What the first product of a pair gives for w matrices is one below the other in each column of a
// stack, so that the second one is a single product of w·n terms.
#include "hqmm/engine/quantum/kraus_form.hpp"

namespace hqmm::detail {

/// K or K† by columns: the planes of real parts, imaginary parts and their sums.
void KrausForm::write_planes(const Complex* k, bool adjoint, double* out) const {
  for (Index i = 0; i < n_; ++i) {
    for (Index j = 0; j < n_; ++j, ++k) {
      double* to = adjoint ? out + i * matrix_stride_ + j : out + j * matrix_stride_ + i;
      to[0] = k->real();
      to[plane_] = adjoint ? -k->imag() : k->imag();
      to[2 * plane_] = to[0] + to[plane_];
    }
  }
}

/// A state times an operator.
PlaneProduct KrausForm::to_stack(const double* left, const double* right, double* out) const {
  PlaneProduct product{.rows = plane_, .depth = n_, .cols = n_};
  product.left = left;
  product.left_stride = stride_;
  product.right = right;
  product.col_step = matrix_stride_;
  product.left_plane = product.right_plane = plane_;
  product.out = out;
  product.out_stride = stack_stride_;
  product.out_plane = stack_plane_;
  product.sums = true;
  return product;
}

/// w operators side by side times a stack: the lower half of a Hermitian matrix.
PlaneProduct KrausForm::from_stack(const double* left, const double* stack, double* out) const {
  PlaneProduct product{.rows = plane_, .depth = static_cast<Index>(rank_) * n_, .cols = n_};
  product.left = left;
  product.left_stride = matrix_stride_;
  product.left_plane = plane_;
  product.right = stack;
  product.col_step = stack_stride_;
  product.right_plane = stack_plane_;
  product.out = out;
  product.out_stride = stride_;
  product.out_plane = plane_;
  product.lower = true;
  return product;
}

/// Σ_q K_q (ρ K_q†) over w matrices.
void KrausForm::complex_channel(const double* rho, std::size_t first, bool add,
                                FormScratch& scratch, double* out) const {
  scratch.images.resize(static_cast<std::size_t>(n_ * stack_stride_));
  double* stack = scratch.images.data();
  for (std::size_t q = 0; q < rank_; ++q)
    planes_.multiply(to_stack(rho, adjoint(first + q), stack + static_cast<Index>(q) * n_));
  PlaneProduct sum = from_stack(matrix(first), stack, out);
  sum.add = add;
  planes_.multiply(sum);
}

void KrausForm::complex_back(const Step& step, std::size_t first, const StatesBack& back,
                             GradientTable& gradients, FormScratch& scratch) const {
  const auto stack_size = static_cast<std::size_t>(n_ * stack_stride_);
  scratch.products.resize(back.count * stack_size);
  double* stacks = scratch.products.data();
  const double* turned = scaled_adjoints(step, first, scratch);
  for (std::size_t i = 0; i < back.count; ++i) {
    double* stack = stacks + i * stack_size;
    for (std::size_t q = 0; q < rank_; ++q)
      planes_.multiply(
          to_stack(back.lefts[i], matrix(first + q), stack + static_cast<Index>(q) * n_));
    PlaneProduct sum = from_stack(turned, stack, back.previous[i]);
    sum.add = back.add;
    planes_.multiply(sum);
  }
  for (std::size_t q = 0; q < rank_; ++q)
    add_by_complex_matrix(step, first + q, stacks + static_cast<Index>(q) * n_, back, gradients,
                          scratch);
}

/// (U ρ)ᵀ = Σ_j ρ*_j u_jᵀ over the columns of all states. On states its columns times c add to what
/// is known by V_q, and its products with those of V_qᵀ to what is known by c.
void KrausForm::add_by_complex_matrix(const Step& step, std::size_t block, const double* moved,
                                      const StatesBack& back, GradientTable& gradients,
                                      FormScratch& scratch) const {
  PlaneProduct sum{.rows = plane_, .depth = n_ * static_cast<Index>(back.count), .cols = n_};
  sum.left = back.states;
  sum.left_stride = sum.out_stride = stride_;
  sum.left_plane = sum.out_plane = plane_;
  sum.conjugate = true;
  sum.right = moved;
  sum.depth_step = stack_stride_;
  sum.col_step = 1;
  sum.right_plane = stack_plane_;
  if (step.scale != nullptr) {
    scratch.sums.resize(size());
    sum.out = scratch.sums.data();
    planes_.multiply(sum);
    const Columns shape{.rows = plane_, .cols = n_, .stride = stride_};
    kernels_.fold_planes(shape, sum.out, {adjoint(block), matrix_stride_}, step.scale,
                         gradients.started(block), emission_gradient(step, gradients));
    return;
  }
  const OperatorGradient gradient = gradients.of(block);
  sum.out = gradient.values;
  sum.add = *gradient.used != 0;
  planes_.multiply(sum);
  *gradient.used = 1;
}

}  // namespace hqmm::detail

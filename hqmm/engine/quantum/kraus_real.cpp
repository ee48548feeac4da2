// The Kraus form of real models: products of n × n numbers.
#include "hqmm/engine/quantum/kraus_form.hpp"

namespace hqmm::detail {

/// n × n times n × n.
PanelProduct KrausForm::real_product() const {
  PanelProduct out{.rows = padded_rows(n_), .depth = n_, .cols = n_};
  out.left_stride = out.col_step = out.out_stride = stride_;
  return out;
}

/// Σ_q (K_q ρ) K_qᵀ over w matrices, the lower half.
void KrausForm::real_channel(const double* rho, std::size_t first, bool add, FormScratch& scratch,
                             double* out) const {
  scratch.images.resize(rank_ * matrix_size());
  PanelProduct moved = real_product();
  moved.right = rho;
  for (std::size_t q = 0; q < rank_; ++q) {
    moved.left = matrix(first + q);
    moved.out = scratch.images.data() + q * matrix_size();
    kernel_(moved);
  }
  // the images lie side by side, and so do the matrices, read by rows
  PanelProduct back = real_product();
  back.depth = static_cast<Index>(rank_) * n_;
  back.left = scratch.images.data();
  back.right = matrix(first);
  back.depth_step = stride_;
  back.col_step = 1;
  back.out = out;
  back.add = add;
  back.lower = true;
  kernel_(back);
}

void KrausForm::real_back(const Step& step, std::size_t first, const StatesBack& back,
                          GradientTable& gradients, FormScratch& scratch) const {
  scratch.products.resize(rank_ * back.count * size());
  const double* turned = scaled_adjoints(step, first, scratch);
  for (std::size_t q = 0; q < rank_; ++q) {
    double* moved = scratch.products.data() + q * back.count * size();
    PanelProduct down = real_product();
    down.right = matrix(first + q);
    PanelProduct up = real_product();
    up.left = turned + q * matrix_size();
    up.add = back.add || q > 0;
    up.lower = true;
    for (std::size_t i = 0; i < back.count; ++i) {
      down.left = back.lefts[i];
      down.out = moved + i * size();
      kernel_(down);
      up.right = down.out;
      up.out = back.previous[i];
      kernel_(up);
    }
    add_by_real_matrix(step, first + q, moved, back, gradients, scratch);
  }
}

/// U ρ = Σ_j u_j ρ_jᵀ over the columns of all states. On states D·(U ρ) adds to what is known by
/// V_q, and its rows times those of V_q to what is known by c.
void KrausForm::add_by_real_matrix(const Step& step, std::size_t block, const double* moved,
                                   const StatesBack& back, GradientTable& gradients,
                                   FormScratch& scratch) const {
  PanelProduct sum = real_product();
  sum.depth = n_ * static_cast<Index>(back.count);
  sum.depth_step = stride_;
  sum.col_step = 1;
  sum.left = moved;
  sum.right = back.states;
  if (step.scale != nullptr) {
    scratch.sums.resize(matrix_size());
    sum.out = scratch.sums.data();
    kernel_(sum);
    kernels_.fold(columns(n_), sum.out, matrix(block), step.scale, gradients.started(block),
                  emission_gradient(step, gradients));
    return;
  }
  const OperatorGradient gradient = gradients.of(block);
  sum.out = gradient.values;
  sum.add = *gradient.used != 0;
  kernel_(sum);
  *gradient.used = 1;
}

}  // namespace hqmm::detail

#include "hqmm/core/krylov.hpp"

#include <algorithm>

// GCC 12 at -O2 sees a phantom use after free where Spectra resizes an Eigen vector.
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuse-after-free"
#endif
#include <Spectra/GenEigsSolver.h>
#pragma GCC diagnostic pop

#include "hqmm/core/interruption.hpp"

namespace hqmm::detail {
namespace {

/// A LinearMap as Spectra wants it.
class SpectraOperator {
 public:
  using Scalar = double;
  explicit SpectraOperator(const LinearMap& map) : map_(map) {}
  [[nodiscard]] Index rows() const { return map_.order; }
  [[nodiscard]] Index cols() const { return map_.order; }
  void perform_op(const double* x, double* y) const {
    check_interruption();
    map_.apply(x, y);
  }

 private:
  const LinearMap& map_;
};

/// Lends the values that have not converged as well.
class Solver : public Spectra::GenEigsSolver<SpectraOperator> {
 public:
  using GenEigsSolver::GenEigsSolver;
  [[nodiscard]] detail::Vector ritz_values(hqmm::Index count) const {
    return m_ritz_val.head(count);
  }
};

}  // namespace

std::optional<KrylovEigen> leading_eigen(const LinearMap& map, Leading which,
                                         const KrylovOptions& options) {
  SpectraOperator op(map);
  Solver solver(op, options.wanted, options.space);
  if (options.start != nullptr) {
    solver.init(options.start);
  } else {
    solver.init();
  }
  const auto rule = which == Leading::kLargestReal ? Spectra::SortRule::LargestReal
                                                   : Spectra::SortRule::LargestMagn;
  const Index most = std::max<Index>(options.most_products / options.space, 1);
  try {
    solver.compute(rule, most, options.tolerance);
  } catch (const std::exception&) {  // Spectra reports some failures by exceptions of its own
    return {};
  }
  if (solver.info() == Spectra::CompInfo::Successful)
    return KrylovEigen{solver.eigenvalues(), solver.eigenvectors(), true};
  return KrylovEigen{solver.ritz_values(options.wanted), {}, false};
}

}  // namespace hqmm::detail

#include "hqmm/engine/classical/hmm_tables.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/panels.hpp"

namespace hqmm::detail {
namespace {

AlignedDoubles zeros(std::size_t size) { return AlignedDoubles(size, 0.0); }

bool sums_to_one(const Eigen::Ref<const RealVector>& x) { return std::abs(x.sum() - 1.0) < 1e-13; }

}  // namespace

HmmTables::HmmTables(const Hmm& model)
    : states(static_cast<std::size_t>(model.latent_dim())),
      symbols(static_cast<std::size_t>(model.alphabet_size())),
      stride(static_cast<std::size_t>(column_stride(model.latent_dim()))),
      columns(zeros(states * stride)),
      rows(zeros(states * stride)),
      emission(zeros(emission_size())),
      initial(zeros(stride)),
      conserving(sums_to_one(model.initial)) {
  const auto n = static_cast<Index>(states);
  const auto step = static_cast<Index>(stride);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      columns[static_cast<std::size_t>(j * step + i)] = model.transition(i, j);
      rows[static_cast<std::size_t>(i * step + j)] = model.transition(i, j);
    }
    conserving = conserving && sums_to_one(model.transition.col(j));
  }
  for (std::size_t i = 0; i < states; ++i) emission[symbols * stride + i] = 1.0;
  // s can be 65535 and the model's C is column-major: in blocks, so that neither side leaves the
  // cache.
  for (std::size_t begin = 0; begin < symbols; begin += kSymbolBlock) {
    const std::size_t end = std::min(symbols, begin + kSymbolBlock);
    for (std::size_t i = 0; i < states; ++i) {
      const double* column = model.emission.col(static_cast<Index>(i)).data();
      for (std::size_t y = begin; y < end; ++y) emission[y * stride + i] = column[y];
    }
  }
  std::copy_n(model.initial.data(), states, initial.data());
}

}  // namespace hqmm::detail

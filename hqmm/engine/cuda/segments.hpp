// How a batch is cut so that its states fit the GPU's memory, and how matrices are padded for the
// kernels.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hqmm/engine/cuda/matrix_pass.hpp"

namespace hqmm::detail {

struct SegmentRequest {
  std::size_t sequences = 0, together = 1;  // together: as many as the GPU works on at once
  std::size_t longest = 0, pace = 16;
  std::size_t state_bytes = 0, memory = 0;
  std::size_t fixed = 2;  // states of a sequence beside those of its steps
  bool backward = true;
};

/// So many sequences at a time, and so many steps of them whose states are kept; the others are
/// computed anew from one state per segment.
struct Segments {
  std::size_t sequences = 1;
  std::size_t steps = 1;
};

/// Throws kUsage when not even one step of as many sequences as the GPU works on fits.
[[nodiscard]] Segments cut_segments(const SegmentRequest& request);

/// Square matrices of the model with zeros below and beside them, and back.
[[nodiscard]] std::vector<double> padded(const MatrixModel& model, std::span<const double> from,
                                         std::size_t side);
[[nodiscard]] std::vector<double> unpadded(const MatrixModel& model, std::span<const double> from,
                                           std::size_t side);
/// The same for the vectors of emission.
[[nodiscard]] std::vector<double> padded_rows_of(const MatrixModel& model, std::size_t side);
[[nodiscard]] std::vector<double> unpadded_rows_of(const MatrixModel& model,
                                                   std::span<const double> from, std::size_t side);

/// What the kernels found of each sequence of the batch, which has them in another order.
void take_in(const DeviceBatch& batch, std::span<const double> log_likelihoods,
             std::span<const char> suspects, MatrixResult& out);

/// What the kernels left in the word of failures.
void note_failure(unsigned long long failure, MatrixResult& out);

}  // namespace hqmm::detail

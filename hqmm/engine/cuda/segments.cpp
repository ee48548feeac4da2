#include "hqmm/engine/cuda/segments.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/engine/cuda/cuda_errors.hpp"

namespace hqmm::detail {
namespace {

/// Rows of n numbers become rows of `side`, and every n of them `rows`.
std::vector<double> change_rows(std::span<const double> from, std::size_t count,
                                std::size_t from_rows, std::size_t from_columns,
                                std::size_t to_rows, std::size_t to_columns) {
  std::vector<double> out(count * to_rows * to_columns, 0.0);
  const std::size_t rows = std::min(from_rows, to_rows),
                    columns = std::min(from_columns, to_columns);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(from.data() + (k * from_rows + i) * from_columns, columns,
                  out.data() + (k * to_rows + i) * to_columns);
  return out;
}

/// Steps of a segment such that its states and one per segment are at most `states`; 0: there is no
/// such number.
std::size_t segment_steps(std::size_t states, std::size_t longest, std::size_t pace) {
  for (std::size_t steps = states / pace * pace; steps > 0; steps -= pace) {
    const std::size_t segments = (longest + steps - 1) / steps;
    if (steps + 1 + segments <= states) return steps;
    if (segments > states) break;
  }
  return 0;
}

}  // namespace

Segments cut_segments(const SegmentRequest& request) {
  const std::size_t all = std::max<std::size_t>(1, request.sequences);
  const std::size_t longest = std::max<std::size_t>(1, request.longest);
  const std::size_t states = request.memory / request.state_bytes;
  // so many states fit for each of `count` sequences, beside the fixed ones
  const auto each = [&](std::size_t count) {
    const std::size_t mine = states / count;
    return mine > request.fixed ? mine - request.fixed : 0;
  };
  const std::size_t needed = request.backward ? longest : 1;
  if (each(all) >= needed) return {all, longest};
  const std::size_t most = states / (needed + request.fixed);
  const std::size_t together = std::min(all, request.together);
  if (most >= together) return {most / together * together, longest};
  for (std::size_t count = together; count > 0; count /= 2) {
    if (each(count) >= needed) return {count, longest};
    if (const std::size_t steps = segment_steps(each(count), longest, request.pace); steps > 0)
      return {count, steps};
  }
  const auto root = static_cast<std::size_t>(2.0 * std::sqrt(static_cast<double>(longest)));
  throw_gpu_memory((root + 2 * request.pace + request.fixed) * request.state_bytes, request.memory);
}

std::vector<double> padded(const MatrixModel& model, std::span<const double> from,
                           std::size_t side) {
  const auto n = static_cast<std::size_t>(model.n);
  return change_rows(from, from.size() / (n * n), n, n, side, side);
}

std::vector<double> unpadded(const MatrixModel& model, std::span<const double> from,
                             std::size_t side) {
  const auto n = static_cast<std::size_t>(model.n);
  return change_rows(from, from.size() / (side * side), side, side, n, n);
}

std::vector<double> padded_rows_of(const MatrixModel& model, std::size_t side) {
  const auto n = static_cast<std::size_t>(model.n);
  return change_rows(model.emission, model.emission.size() / n, 1, n, 1, side);
}

std::vector<double> unpadded_rows_of(const MatrixModel& model, std::span<const double> from,
                                     std::size_t side) {
  return change_rows(from, from.size() / side, 1, side, 1, static_cast<std::size_t>(model.n));
}

void take_in(const DeviceBatch& batch, std::span<const double> log_likelihoods,
             std::span<const char> suspects, MatrixResult& out) {
  out.log_likelihoods.assign(batch.sequences.size(), 0.0);
  out.suspects.assign(batch.sequences.size(), 0);
  for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
    out.log_likelihoods[batch.sequences[i].index] = log_likelihoods[i];
    out.suspects[batch.sequences[i].index] = suspects[i];
  }
}

void note_failure(unsigned long long failure, MatrixResult& out) {
  out.failed = failure != ~0ULL;
  out.failed_sequence = static_cast<std::size_t>(failure >> 32);
  out.failed_step = static_cast<std::size_t>(failure & 0xFFFFFFFFULL);
}

}  // namespace hqmm::detail

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

}  // namespace

Segments cut_segments(const SegmentRequest& request) {
  const std::size_t all = std::max<std::size_t>(1, request.sequences);
  const std::size_t longest = std::max<std::size_t>(1, request.longest);
  if (!request.backward) return {all, longest};
  // a state before and an adjoint after the segment of every sequence
  const std::size_t fixed = 2 * all * request.state_bytes;
  const std::size_t left = request.memory > fixed ? request.memory - fixed : 0;
  const std::size_t states = left / request.state_bytes;
  if (states >= all * longest) return {all, longest};
  const std::size_t together = std::min(all, request.together);
  // whole sequences, as many as fit; or segments of the square root of what is there, with a
  // checkpoint each
  if (states / longest >= together) return {states / longest / together * together, longest};
  const std::size_t each = states / together;
  const double half =
      (static_cast<double>(each) +
       std::sqrt(std::max(0.0, static_cast<double>(each) * static_cast<double>(each) -
                                   4.0 * static_cast<double>(longest)))) /
      2.0;
  const std::size_t steps = static_cast<std::size_t>(half) / request.pace * request.pace;
  if (steps == 0 || each * each < 4 * longest)
    throw_gpu_memory(
        fixed + together * request.state_bytes *
                    (static_cast<std::size_t>(2.0 * std::sqrt(static_cast<double>(longest))) +
                     2 * request.pace),
        request.memory);
  return {together, steps};
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

void note_failure(unsigned long long failure, MatrixResult& out) {
  out.failed = failure != ~0ULL;
  out.failed_sequence = static_cast<std::size_t>(failure >> 32);
  out.failed_step = static_cast<std::size_t>(failure & 0xFFFFFFFFULL);
}

}  // namespace hqmm::detail

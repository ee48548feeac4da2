#include "hqmm/engine/cuda/matrix_model.hpp"

#include <algorithm>
#include <numeric>

namespace hqmm::detail {
namespace {

/// Below this a quotient by an entry of C is not to be trusted.
constexpr double kLeastEmission = 1e-100;

void append(const Complex* from, std::size_t numbers, bool real, std::vector<double>& out) {
  for (std::size_t i = 0; i < numbers; ++i) out.push_back(from[i].real());
  if (real) return;
  for (std::size_t i = 0; i < numbers; ++i) out.push_back(from[i].imag());
}

/// Of one matrix, row by row.
Complex entry(const MatrixModel& model, std::span<const double> from, std::size_t i) {
  return {from[i], model.real ? 0.0 : from[from.size() / 2 + i]};
}

}  // namespace

bool keeps_emission(const Hqmm& model, const Program& program) {
  if (program.missing || model.sets.size() != 1) return false;
  return model.sets.front().emission().cwiseAbs().minCoeff() > kLeastEmission;
}

void write_matrix_model(const Hqmm& model, MatrixModel& out) {
  const auto n = static_cast<std::size_t>(model.latent_dim());
  const auto s = static_cast<std::size_t>(model.alphabet_size());
  const auto w = static_cast<std::uint32_t>(model.kraus_rank());
  const bool on_states = model.emits_on() == EmissionKind::kState;
  out.real = model.field == Field::kReal;
  out.n = static_cast<int>(n);
  out.matrices.clear();
  out.first.clear();
  out.count.clear();
  out.emission.clear();
  out.initial.clear();
  for (const KrausSet& set : model.sets)
    for (Index row = 0; row < set.stack().rows(); row += static_cast<Index>(n))
      append(set.stack().data() + row * static_cast<Index>(n), n * n, out.real, out.matrices);
  for (std::size_t op = 0; op < model.sets.size() * s; ++op) {
    out.first.push_back(on_states ? 0 : static_cast<std::uint32_t>(op) * w);
    out.count.push_back(w);
  }
  if (on_states) {
    const RealMatrix& c = model.sets.front().emission();
    for (Index y = 0; y < c.rows(); ++y)
      for (Index i = 0; i < c.cols(); ++i) out.emission.push_back(c(y, i));
  } else {
    // the step of a missing symbol is the sum over all of its set
    const std::uint32_t all = static_cast<std::uint32_t>(s) * w;
    for (std::size_t set = 0; set < model.sets.size(); ++set) {
      out.first.push_back(static_cast<std::uint32_t>(set) * all);
      out.count.push_back(all);
    }
  }
  const Stack initial = model.initial_state;
  append(initial.data(), n * n, out.real, out.initial);
}

DeviceBatch device_batch(const Program& program) {
  std::vector<std::uint32_t> order(program.sequences());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return program.length(a) > program.length(b); });
  DeviceBatch out;
  out.steps = program.steps;
  out.sequences.reserve(order.size());
  for (const std::uint32_t i : order) {
    DeviceSequence& s = out.sequences.emplace_back();
    s.first_step = program.offsets[i];
    s.first_mark = program.mark_offsets[i];
    s.weight = program.weights[i];
    s.length = static_cast<std::uint32_t>(program.length(i));
    s.marks = static_cast<std::uint32_t>(program.marks_of(i).size());
    s.index = i;
  }
  out.marks.reserve(program.marks.size());
  for (const Mark& mark : program.marks)
    out.marks.push_back({mark.coefficient, static_cast<std::uint32_t>(mark.step),
                         static_cast<std::uint32_t>(mark.stops_gradient)});
  return out;
}

void write_gradient(const Hqmm& model, const MatrixModel& matrices, const MatrixResult& found,
                    bool want_initial, BatchGradient& out) {
  const auto n = static_cast<Index>(matrices.n);
  const std::size_t size = matrices.matrix_size();
  std::span<const double> rest = found.gradients;
  for (const KrausSet& set : model.sets) {
    Stack& by = out.sets.emplace_back(Stack::Zero(set.stack().rows(), n));
    for (Index row = 0; row < by.rows(); row += n, rest = rest.subspan(size))
      for (std::size_t i = 0; i < static_cast<std::size_t>(n * n); ++i)
        by.data()[row * n + static_cast<Index>(i)] = -2.0 * entry(matrices, rest.first(size), i);
  }
  if (!matrices.emission.empty()) {
    const RealMatrix& c = model.sets.front().emission();
    RealMatrix& by = out.emissions.emplace_back(RealMatrix::Zero(c.rows(), n));
    for (Index y = 0; y < c.rows(); ++y)
      for (Index i = 0; i < n; ++i)
        by(y, i) = -2.0 * found.by_emission[static_cast<std::size_t>(y * n + i)] / c(y, i);
  }
  if (!want_initial) return;
  Matrix s(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      s(i, j) = entry(matrices, found.initial, static_cast<std::size_t>(i * n + j));
  out.initial_state = -0.5 * (s + s.adjoint());
}

}  // namespace hqmm::detail

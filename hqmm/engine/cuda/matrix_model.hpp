// A model and a batch as the passes over matrices take them, and the way back to gradients of the
// model.
#pragma once

#include "hqmm/engine/chain/program.hpp"
#include "hqmm/engine/cuda/matrix_pass.hpp"
#include "hqmm/engine/quantum/gradient.hpp"

namespace hqmm::detail {

/// Whether emission on states can stay as it is: one set, no missing symbols, and no entry of C too
/// small to divide by.
[[nodiscard]] bool keeps_emission(const Hqmm& model, const Program& program);

/// Operators in the order of a program's; a model that emits on states must be one that
/// keeps_emission().
void write_matrix_model(const Hqmm& model, MatrixModel& out);

/// The longest sequence first.
[[nodiscard]] DeviceBatch device_batch(const Program& program);

/// ∂loss by Γ, or by V and C, and by the initial state if it is wanted.
void write_gradient(const Hqmm& model, const MatrixModel& matrices, const MatrixResult& found,
                    bool want_initial, BatchGradient& out);

}  // namespace hqmm::detail

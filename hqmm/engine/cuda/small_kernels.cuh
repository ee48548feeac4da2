// What the kernels of SmallPass are told, and how they are started.
#pragma once

#include "hqmm/engine/cuda/device.cuh"
#include "hqmm/engine/cuda/small_device.hpp"

namespace hqmm::detail {

/// A state of `lanes` · `rows` numbers, padded with zeros, moved by so many lanes with so many rows
/// each. In the tables of operators a matrix takes `pitch` numbers.
struct SmallShape {
  int lanes = 0, rows = 0, pitch = 0;
  int most_threads = 0;  // of a block

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(lanes * rows); }
};

/// The smallest shape for so many coordinates.
[[nodiscard]] SmallShape small_shape(int rows);

/// States of so many numbers have their gradients added up on the way back (small_sums.cuh), when
/// there are not too many operators.
inline constexpr int kSumsSize = 4;
[[nodiscard]] bool sums_on_the_way(const SmallShape& shape, std::size_t operators);

/// Words that tell the host of trouble.
struct SmallHeader {
  unsigned failed = 0, strange = 0;
  unsigned unused[2] = {};
};

/// Arrays by sequence are by its place in the part, but for outcomes, which are by that in the
/// batch.
struct SmallWalk {
  const SmallSequence* sequences;
  const std::uint64_t* tile_first;
  std::uint32_t* steps;              // [item]: operators
  const double *forward, *backward;  // tables of matrices and of their transposes
  const double* initial;
  const std::uint32_t* set_of;
  double *states, *adjoints;  // [item]
  double* powers;             // [rescaling of the segment][sequence]
  const double* carried;      // [sequence]: the state at `begin`; of the first segment none
  double* carried_on;         // at `end`
  double* adjoint_carried;    // [sequence]
  double* sums;               // [tile][operator][column][row], or null: adjoints are kept
  char* used;                 // [operator], along with `sums`
  SmallOutcome* outcomes;
  SmallDetail* details;  // [sequence of the part]
  SmallHeader* header;
  double suspect_below;
  std::uint32_t count, width, tiles;
  std::uint32_t begin, end;  // steps of the segment
  std::uint32_t burn_in, pace_mask;
  std::uint32_t operators, plain, symbols;  // plain: operators of symbols that are not missing
  std::uint32_t set_entries, traced;
  bool from_end, through_burn_in, tangent_only;
  bool keep;         // states and powers, for the way back
  bool first_sweep;  // not only to have states again
  bool whole;        // SmallPart::whole
};

/// Raw matrices as they came from the host.
struct SmallTables {
  const double *matrices, *initial;
  double *forward, *backward, *padded_initial;
  int rows, stride, size, pitch;
};
void write_tables(const SmallTables& tables, std::size_t operators, bool backward,
                  cudaStream_t stream);
/// The operators of a segment; `operators` where a sequence has no step.
void write_steps(const SmallWalk& walk, std::uint32_t longest, cudaStream_t stream);
/// 0, 1, 2, …
void write_numbers(std::uint32_t* to, std::size_t count, cudaStream_t stream);

void walk_forward(const SmallWalk& walk, const SmallShape& shape, cudaStream_t stream);
void walk_backward(const SmallWalk& walk, const SmallShape& shape, cudaStream_t stream);

struct SmallSort {
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  const std::uint32_t *steps = nullptr, *numbers = nullptr;
  std::uint32_t *sorted_steps = nullptr, *sorted_items = nullptr;
  std::size_t items = 0;
  std::uint32_t largest = 0;
};
[[nodiscard]] std::size_t sort_scratch_bytes(const SmallSort& sort, cudaStream_t stream);
/// Items by their operators, those of an operator in their order.
void sort_steps(const SmallSort& sort, cudaStream_t stream);

struct SmallProducts {
  const std::uint32_t *sorted_steps, *sorted_items;
  const double *states, *adjoints;
  double* partial;
  double* gradients;  // += by operators
  char* used;
  std::uint32_t steps, chunk;  // sorted steps that count; so many make a chunk
  std::uint32_t operators;
  int rows, stride, size;
};
/// Sets `chunk`; returns the most doubles of `partial` for this model.
[[nodiscard]] std::size_t choose_chunk(SmallProducts& products);
void add_products(const SmallProducts& products, cudaStream_t stream);
/// gradients[operator] += Σ over tiles, of what a walk back added up.
struct SmallSums {
  const double* sums;
  double* gradients;
  std::uint32_t tiles, operators;
  int rows, stride;
};
void add_sums(const SmallSums& sums, cudaStream_t stream);
/// to[i] += Σ_b from[b · size + i], i < rows
void add_initial(const double* from, std::size_t count, int size, int rows, double* to,
                 cudaStream_t stream);

}  // namespace hqmm::detail

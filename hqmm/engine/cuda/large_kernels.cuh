// The kernels of large_pass.cu: each does one product, or what lies between two, for all sequences
// of a step.
//
// Matrices are side × side, side a multiple of 64, with zeros beyond n; a block of threads makes
// one 64 × 64 block of one of them. Of what is Hermitian only the blocks on and below the diagonal
// are made, and mirrored.
#pragma once

#include "hqmm/engine/cuda/block_product.cuh"
#include "hqmm/engine/cuda/matrix_pass.hpp"

namespace hqmm::detail {

struct LargeArguments {
  const double* matrices;
  const std::uint32_t *first, *count, *steps;
  const std::int32_t* mark_at;  // [step]: the mark before it, or −1
  const double* emission;       // [operator][side]; none on edges
  const DeviceSequence* sequences;
  const DeviceMark* marks;
  double* history;   // [slot][sequence]
  double* products;  // [sequence][matrix of the operator]
  double* adjoints;  // [sequence]: R of the step at hand
  double* powers;    // [sequence][step / pace]
  double* slopes;    // [mark]: what its logarithm adds to the adjoint's diagonal
  int* exponents;
  double* log_likelihoods;
  char* suspects;
  double* watched;  // the weight before, in the scale of the state; of suspect_below
  double suspect_below;
  double* by_emission;  // [step − begin + 1][sequence][block][side]: row sums of S ∘ ρ'
  double* gradients;    // [share][matrix]
  unsigned long long* failure;
  std::size_t matrix_count, powers_each, state, most_count;
  int n, side, blocks, shares;
  std::uint32_t sequence_count, begin, pace;
  bool keep, count_marks;

  __device__ double* state_before(std::uint32_t t, std::uint32_t b) const {
    const std::size_t slot = keep ? t - begin : t % 2;
    return history + (slot * sequence_count + b) * state;
  }
  __device__ double* product(std::uint32_t b, std::uint32_t q) const {
    return products + (b * most_count + q) * state;
  }
  __device__ std::uint32_t operator_of(const DeviceSequence& s, std::uint32_t t) const {
    return steps[s.first_step + t];
  }
  __device__ const double* matrix(std::uint32_t op, std::uint32_t q) const {
    return matrices + (first[op] + q) * state;
  }
  __device__ const double* emission_of(std::uint32_t op) const {
    return emission == nullptr ? nullptr : emission + op * static_cast<std::size_t>(side);
  }
  __device__ double* row_sums(std::uint32_t t, std::uint32_t b, int block) const {
    return by_emission +
           ((std::size_t{t + 1 - begin} * sequence_count + b) * blocks + block) * side;
  }
};

/// Row and column of the i-th block on or below the diagonal.
__device__ inline int2 lower_block(int i) {
  int row = 0;
  while ((row + 1) * (row + 2) / 2 <= i) ++row;
  return make_int2(row, i - row * (row + 1) / 2);
}

template <typename Block>
__device__ void store_block(Block& block, double* to, int side, int row, int column) {
  block.for_each_pair([&](int i, int j, const double* re, const double* im) {
    double* at = to + static_cast<std::size_t>(row + i) * side + column + j;
    *reinterpret_cast<double2*>(at) = make_double2(re[0], re[1]);
    if constexpr (Block::kPlanes == 2)
      *reinterpret_cast<double2*>(at + static_cast<std::size_t>(side) * side) =
          make_double2(im[0], im[1]);
  });
}
template <typename Block>
__device__ void load_block(Block& block, const double* from, int side, int row, int column) {
  block.for_each_pair([&](int i, int j, double* re, double* im) {
    const double* at = from + static_cast<std::size_t>(row + i) * side + column + j;
    re[0] = at[0], re[1] = at[1];
    if constexpr (Block::kPlanes == 2) {
      at += static_cast<std::size_t>(side) * side;
      im[0] = at[0], im[1] = at[1];
    }
  });
}
/// The adjoint of the block where it belongs.
template <typename Block>
__device__ void store_mirrored(Block& block, double* to, int side, int row, int column) {
  block.for_each_pair([&](int i, int j, const double* re, const double* im) {
    double* at = to + static_cast<std::size_t>(column + j) * side + row + i;
    at[0] = re[0];
    at[side] = re[1];
    if constexpr (Block::kPlanes == 2) {
      at += static_cast<std::size_t>(side) * side;
      at[0] = -im[0];
      at[side] = -im[1];
    }
  });
}
template <typename Block>
__device__ void scale_block(Block& block, const double* c, int row, int column, double factor) {
  block.for_each_pair([&](int i, int j, double* re, double* im) {
    const double by_row = factor * (c == nullptr ? 1.0 : c[row + i]);
    const double first = by_row * (c == nullptr ? 1.0 : c[column + j]);
    const double second = by_row * (c == nullptr ? 1.0 : c[column + j + 1]);
    re[0] *= first, re[1] *= second;
    if constexpr (Block::kPlanes == 2) im[0] *= first, im[1] *= second;
  });
}

/// P_q = ρ K_q†. Grid: blocks of a matrix × matrices × sequences; the other products alike.
template <typename Block>
__global__ void __launch_bounds__(kBlockThreads, 2)
    half_forward_kernel(const LargeArguments a, std::uint32_t t) {
  extern __shared__ double shared[];
  const std::uint32_t b = blockIdx.z, q = blockIdx.y;
  const DeviceSequence& s = a.sequences[b];
  if (t >= s.length) return;
  const std::uint32_t op = a.operator_of(s, t);
  if (q >= a.count[op]) return;
  const int row = static_cast<int>(blockIdx.x) / a.blocks * Block::kSide;
  const int column = static_cast<int>(blockIdx.x) % a.blocks * Block::kSide;
  const Operands operands{a.state_before(t, b), a.matrix(op, q)};
  Block block;
  block.clear();
  block.template add<false, true>(shared, a.n, a.side, row, column, 1,
                                  [operands](int) { return operands; });
  store_block(block, a.product(b, q), a.side, row, column);
}

/// ρ ← D (Σ_q K_q P_q) D
template <typename Block>
__global__ void __launch_bounds__(kBlockThreads, 2)
    forward_step_kernel(const LargeArguments a, std::uint32_t t) {
  extern __shared__ double shared[];
  const std::uint32_t b = blockIdx.z;
  const DeviceSequence& s = a.sequences[b];
  if (t >= s.length) return;
  const std::uint32_t op = a.operator_of(s, t);
  const int2 at = lower_block(static_cast<int>(blockIdx.x));
  const int row = at.x * Block::kSide, column = at.y * Block::kSide;
  const Operands first{a.matrix(op, 0), a.product(b, 0)};
  Block block;
  block.clear();
  block.template add<false, false>(
      shared, a.n, a.side, row, column, static_cast<int>(a.count[op]), [=](int q) {
        return Operands{first.left + q * a.state, first.right + q * a.state};
      });
  if (a.emission != nullptr) scale_block(block, a.emission_of(op), row, column, 1.0);
  double* next = a.state_before(t + 1, b);
  store_block(block, next, a.side, row, column);
  if (row != column) store_mirrored(block, next, a.side, row, column);
}

/// The trace, in every thread of a block of any number of warps.
__device__ inline double block_trace(const double* state, int n, int side) {
  double sum = 0.0;
  for (int i = static_cast<int>(threadIdx.x) % 32; i < n; i += 32)
    sum += state[static_cast<std::size_t>(i) * side + i];
  return warp_sum(sum);
}

/// Before step t, or after the last one: rescaling, logarithms of weights and their slopes.
__global__ void between_steps_kernel(const LargeArguments a, std::uint32_t t) {
  const std::uint32_t b = blockIdx.x;
  const DeviceSequence& s = a.sequences[b];
  if (t > s.length || t == 0) return;
  const bool ends = t == s.length, rescales = !ends && t % a.pace == 0;
  std::int32_t mark = -1;
  if (!ends) {
    mark = a.mark_at[s.first_step + t];
  } else if (s.marks > 0 && a.marks[s.first_mark + s.marks - 1].step == t) {
    mark = static_cast<std::int32_t>(s.first_mark + s.marks - 1);
  }
  if (!ends && !rescales && mark < 0 && a.suspect_below == 0.0) return;
  double* state = a.state_before(t, b);
  double weight = block_trace(state, a.n, a.side);
  int exponent = a.exponents[b];
  __syncthreads();
  if (ends || rescales) {
    if (threadIdx.x == 0 && !usable(weight, a.pace == 1))
      atomicMin(a.failure, static_cast<unsigned long long>(s.index) << 32 | (t - 1));
  }
  if (a.suspect_below > 0.0 && threadIdx.x == 0 && !(weight > a.suspect_below * a.watched[b]))
    a.suspects[b] = 1;
  if (rescales) {
    const int by = ilogb(weight);
    const double factor = ldexp(1.0, -by);
    for (std::size_t i = threadIdx.x; i < a.state; i += blockDim.x) state[i] *= factor;
    weight *= factor;
    exponent += by;
    if (threadIdx.x == 0) {
      a.powers[b * a.powers_each + t / a.pace] = factor;
      a.exponents[b] = exponent;
    }
  }
  if (a.suspect_below > 0.0 && threadIdx.x == 0) a.watched[b] = weight;
  if (mark >= 0 && threadIdx.x == 0) {
    const double coefficient = a.marks[mark].coefficient;
    a.slopes[mark] = s.weight * coefficient / weight;
    if (a.count_marks && coefficient != 0.0)
      a.log_likelihoods[b] += coefficient * (log(weight) + exponent * kLogTwo);
  }
}

/// R of the last step of the sequences that end with step t: D (slope · I) D.
__global__ void start_adjoints_kernel(const LargeArguments a, std::uint32_t t) {
  const std::uint32_t b = blockIdx.x;
  const DeviceSequence& s = a.sequences[b];
  if (t + 1 != s.length) return;
  double* adjoint = a.adjoints + b * a.state;
  for (std::size_t i = threadIdx.x; i < a.state; i += blockDim.x) adjoint[i] = 0.0;
  if (s.marks == 0 || a.marks[s.first_mark + s.marks - 1].step != s.length) return;
  const double slope = a.slopes[s.first_mark + s.marks - 1];
  const double* c = a.emission_of(a.operator_of(s, t));
  const double* last = a.state_before(t + 1, b);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < a.n; i += static_cast<int>(blockDim.x)) {
    const std::size_t at = static_cast<std::size_t>(i) * a.side + i;
    adjoint[at] = slope * (c == nullptr ? 1.0 : c[i] * c[i]);
    if (c != nullptr) a.row_sums(t, b, 0)[i] = slope * last[at];
  }
}

/// U_q = R K_q
template <typename Block>
__global__ void __launch_bounds__(kBlockThreads, 2)
    half_backward_kernel(const LargeArguments a, std::uint32_t t) {
  extern __shared__ double shared[];
  const std::uint32_t b = blockIdx.z, q = blockIdx.y;
  const DeviceSequence& s = a.sequences[b];
  if (t >= s.length) return;
  const std::uint32_t op = a.operator_of(s, t);
  if (q >= a.count[op]) return;
  const int row = static_cast<int>(blockIdx.x) / a.blocks * Block::kSide;
  const int column = static_cast<int>(blockIdx.x) % a.blocks * Block::kSide;
  const Operands operands{a.adjoints + b * a.state, a.matrix(op, q)};
  Block block;
  block.clear();
  block.template add<false, false>(shared, a.n, a.side, row, column, 1,
                                   [operands](int) { return operands; });
  store_block(block, a.product(b, q), a.side, row, column);
}

/// What every row of the block adds up to with the state's, and every column.
template <typename Block>
__device__ void write_row_sums(Block& block, const LargeArguments& a, const double* state,
                               std::uint32_t t, std::uint32_t b, int2 at, double* shared) {
  // [row or column of the block][warp across it]
  double(*by_row)[4] = reinterpret_cast<double(*)[4]>(shared);
  double(*by_column)[2] = reinterpret_cast<double(*)[2]>(by_row + Block::kSide);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = Block::row(), warp_column = Block::column();
  double rows[2 * Block::kRows] = {}, columns[2 * Block::kColumns] = {};
  int visited = 0;
  block.for_each_pair([&](int i, int j, const double* re, const double* im) {
    const double* x = state + static_cast<std::size_t>(at.x * Block::kSide + i) * a.side +
                      at.y * Block::kSide + j;
    double first = re[0] * x[0], second = re[1] * x[1];
    if constexpr (Block::kPlanes == 2) {
      x += static_cast<std::size_t>(a.side) * a.side;
      first += im[0] * x[0], second += im[1] * x[1];
    }
    rows[visited / Block::kColumns] += first + second;
    columns[visited % Block::kColumns * 2] += first;
    columns[visited % Block::kColumns * 2 + 1] += second;
    ++visited;
  });
#pragma unroll
  for (int k = 0; k < 2 * Block::kRows; ++k) {
    double sum = rows[k];
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
    if (lane % 4 == 0) by_row[warp_row + k * 8 + lane / 4][warp_column / (Block::kSide / 4)] = sum;
  }
#pragma unroll
  for (int k = 0; k < 2 * Block::kColumns; ++k) {
    double sum = columns[k];
    for (int step = 4; step < 32; step *= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    if (lane < 4) by_column[warp_column + k / 2 * 8 + lane * 2 + k % 2][warp_row > 0] = sum;
  }
  __syncthreads();
  if (threadIdx.x < Block::kSide) {
    const int i = static_cast<int>(threadIdx.x);
    a.row_sums(t, b, at.y)[at.x * Block::kSide + i] =
        by_row[i][0] + by_row[i][1] + by_row[i][2] + by_row[i][3];
    if (at.x != at.y)
      a.row_sums(t, b, at.x)[at.y * Block::kSide + i] = by_column[i][0] + by_column[i][1];
  }
}

/// S ← Σ_q K_q† U_q, the mark and the power of two before step t, and R of the step before it.
template <typename Block>
__global__ void __launch_bounds__(kBlockThreads, 2)
    backward_step_kernel(const LargeArguments a, std::uint32_t t) {
  extern __shared__ double shared[];
  const std::uint32_t b = blockIdx.z;
  const DeviceSequence& s = a.sequences[b];
  if (t >= s.length) return;
  const std::uint32_t op = a.operator_of(s, t);
  const int2 at = lower_block(static_cast<int>(blockIdx.x));
  const int row = at.x * Block::kSide, column = at.y * Block::kSide;
  const Operands first{a.matrix(op, 0), a.product(b, 0)};
  Block block;
  block.clear();
  block.template add<true, false>(
      shared, a.n, a.side, row, column, static_cast<int>(a.count[op]), [=](int q) {
        return Operands{first.left + q * a.state, first.right + q * a.state};
      });
  const std::int32_t mark = t > 0 ? a.mark_at[s.first_step + t] : -1;
  if (mark >= 0) {
    const bool stops = a.marks[mark].stops_gradient != 0;
    const double slope = a.slopes[mark];
    block.for_each_pair([&](int i, int j, double* re, double* im) {
      if (stops) re[0] = re[1] = im[0] = im[1] = 0.0;
      if (stops || row != column || row + i >= a.n) return;
      if (i == j) re[0] += slope;
      if (i == j + 1) re[1] += slope;
    });
  }
  const double* c = nullptr;
  if (t > 0 && a.emission != nullptr) {
    write_row_sums(block, a, a.state_before(t, b), t - 1, b, at, shared);
    c = a.emission_of(a.operator_of(s, t - 1));
  }
  const double power = t > 0 && t % a.pace == 0 ? a.powers[b * a.powers_each + t / a.pace] : 1.0;
  if (c != nullptr || power != 1.0) scale_block(block, c, row, column, power);
  double* adjoint = a.adjoints + b * a.state;
  store_block(block, adjoint, a.side, row, column);
  if (row != column) store_mirrored(block, adjoint, a.side, row, column);
}

/// ∂ℓ/∂K += U ρ over those of a share of the sequences whose operator has the matrix. Grid: blocks
/// of a matrix × matrices × shares.
template <typename Block>
__global__ void __launch_bounds__(kBlockThreads, 2)
    gradient_kernel(const LargeArguments a, std::uint32_t t, std::uint32_t active) {
  extern __shared__ double shared[];
  const std::uint32_t each = (active + a.shares - 1) / a.shares;
  const std::uint32_t matrix = blockIdx.y, share = blockIdx.z;
  const std::uint32_t end = min(active, (share + 1) * each);
  const int row = static_cast<int>(blockIdx.x) / a.blocks * Block::kSide;
  const int column = static_cast<int>(blockIdx.x) % a.blocks * Block::kSide;
  double* to = a.gradients + (share * a.matrix_count + matrix) * a.state;
  Block block;
  bool loaded = false;
  for (std::uint32_t some = share * each; some < end; some += 32) {
    // every warp finds the same ones of the next 32
    const std::uint32_t mine = some + threadIdx.x % 32;
    bool meets = false;
    if (mine < end) {
      const std::uint32_t op = a.operator_of(a.sequences[mine], t);
      meets = matrix >= a.first[op] && matrix < a.first[op] + a.count[op];
    }
    const unsigned found = __ballot_sync(0xFFFFFFFFu, meets);
    if (found == 0) continue;
    if (!loaded) load_block(block, to, a.side, row, column);
    loaded = true;
    block.template add<false, false>(shared, a.n, a.side, row, column, __popc(found), [&](int i) {
      const std::uint32_t b = some + __fns(found, 0, i + 1);
      const std::uint32_t op = a.operator_of(a.sequences[b], t);
      return Operands{a.product(b, matrix - a.first[op]), a.state_before(t, b)};
    });
  }
  if (loaded) store_block(block, to, a.side, row, column);
}

/// Row sums of all steps of a segment by operator. Grid: operators × shares of the steps.
__global__ void add_row_sums_kernel(const LargeArguments a, std::uint32_t end, double* out,
                                    std::size_t operators) {
  const std::uint32_t op = blockIdx.x;
  double* to = out + (blockIdx.y * operators + op) * static_cast<std::size_t>(a.side);
  const std::uint32_t each = (end + 1 - a.begin + gridDim.y - 1) / gridDim.y;
  for (std::uint32_t k = blockIdx.y * each; k < min((blockIdx.y + 1) * each, end + 1 - a.begin);
       ++k) {
    if (a.begin + k == 0) continue;  // before the first step
    const std::uint32_t t = a.begin + k - 1;
    for (std::uint32_t b = 0; b < a.sequence_count; ++b) {
      const DeviceSequence& s = a.sequences[b];
      if (t >= s.length) break;  // so are all after it
      if (a.operator_of(s, t) != op) continue;
      for (int i = static_cast<int>(threadIdx.x); i < a.n; i += static_cast<int>(blockDim.x)) {
        double sum = 0.0;
        for (int block = 0; block < a.blocks; ++block) sum += a.row_sums(t, b, block)[i];
        to[i] += sum;
      }
    }
  }
}

}  // namespace hqmm::detail

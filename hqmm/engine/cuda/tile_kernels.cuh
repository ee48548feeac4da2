// The kernels of tile_pass.cu: one thread block walks one sequence after another, all matrices of a
// step in its shared memory, all products on tensor cores.
//
// A matrix is kSide × kSide, padded with zeros; in shared memory a row takes kSide + 4 numbers, so
// that the lanes of a warp read rows and columns alike without meeting in a bank.
#pragma once

#include "hqmm/engine/cuda/device.cuh"
#include "hqmm/engine/cuda/matrix_pass.hpp"

namespace hqmm::detail {

/// What every kernel of the pass is told. Arrays by sequence are those of the whole batch.
struct TileArguments {
  const double* matrices;
  const std::uint32_t *first, *count, *steps;
  const double* emission;
  const DeviceSequence* sequences;
  const DeviceMark* marks;
  double* history;   // [sequence of the part][step of the segment]: the state before the step
  double* carried;   // [sequence]: the state after the segment, or after the last step
  double* adjoints;  // [sequence]: the adjoint before the segment
  double* powers;    // [sequence][step / pace]
  int* exponents;    // [sequence]
  double* log_likelihoods;  // [sequence]
  char* suspects;           // [sequence]
  double suspect_below;
  double *gradients, *by_emission, *initial;  // [slot]
  unsigned long long* failure;
  std::size_t matrix_count, operators, powers_each;
  std::uint32_t first_sequence, sequence_count, begin, end, pace;
  bool keep, count_marks;
};

template <int kSide, bool kComplex, int kColumns>
struct Tile {
  static constexpr int kPlanes = kComplex ? 2 : 1;
  static constexpr int kRow = kSide + 4;
  static constexpr int kPlane = kSide * kRow;  // in shared memory
  static constexpr int kArea = kSide * kSide;  // in global memory
  static constexpr int kState = kPlanes * kArea;
  static constexpr int kBuffer = kPlanes * kPlane;
  static constexpr int kPieces = kColumns / 8;
  static constexpr int kAcross = kSide / kColumns;
  static constexpr int kThreads = kSide / 16 * kAcross * 32;
  /// The backward pass keeps states beside operators where both fit.
  static constexpr bool kRoomy = 4 * kBuffer * 8 <= 227 * 1024;
  static constexpr int kForwardBytes = 3 * kBuffer * 8;
  static constexpr int kBackwardBytes = (kRoomy ? 4 : 3) * kBuffer * 8;

  double re[kPieces][4], im[kComplex ? kPieces : 1][4];

  __device__ static int row() { return static_cast<int>(threadIdx.x) / 32 / kAcross * 16; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) / 32 % kAcross * kColumns; }

  __device__ void clear() {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        re[piece][i] = 0.0;
        if constexpr (kComplex) im[piece][i] = 0.0;
      }
  }

  /// += A B, of which either may be given by its adjoint.
  template <bool kLeftAdjoint, bool kRightAdjoint>
  __device__ void add_product(const double* a, const double* b) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group = lane / 4, place = lane % 4;
    constexpr int kLeftDown = kLeftAdjoint ? 1 : kRow, kLeftOn = kLeftAdjoint ? kRow : 1;
    constexpr int kRightDown = kRightAdjoint ? 1 : kRow, kRightOn = kRightAdjoint ? kRow : 1;
    const double* left = a + (row() + group) * kLeftDown + place * kLeftOn;
    const double* right = b + (column() + group) * kRightOn + place * kRightDown;
#pragma unroll 4
    for (int k = 0; k < kSide; k += 4) {
      const double a0 = left[k * kLeftOn], a1 = left[k * kLeftOn + 8 * kLeftDown];
      double b_re[kPieces];
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece)
        b_re[piece] = right[k * kRightDown + piece * 8 * kRightOn];
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) multiply_add(re[piece], a0, a1, b_re[piece]);
      if constexpr (kComplex) {
        double i0 = left[kPlane + k * kLeftOn], i1 = left[kPlane + k * kLeftOn + 8 * kLeftDown];
        if constexpr (kLeftAdjoint) i0 = -i0, i1 = -i1;
#pragma unroll
        for (int piece = 0; piece < kPieces; ++piece) {
          double b_im = right[kPlane + k * kRightDown + piece * 8 * kRightOn];
          if constexpr (kRightAdjoint) b_im = -b_im;
          multiply_add(im[piece], a0, a1, b_im);
          multiply_add(im[piece], i0, i1, b_re[piece]);
          multiply_add(re[piece], -i0, -i1, b_im);
        }
      }
    }
  }

  /// visit(row, column, four numbers of a plane, plane) for the pairs of columns a lane holds.
  template <typename Visit>
  __device__ void for_each_pair(Visit visit) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int i = row() + lane / 4, j = column() + lane % 4 * 2;
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      visit(0, i, j + piece * 8, re[piece][0], re[piece][1]);
      visit(0, i + 8, j + piece * 8, re[piece][2], re[piece][3]);
      if constexpr (kComplex) {
        visit(1, i, j + piece * 8, im[piece][0], im[piece][1]);
        visit(1, i + 8, j + piece * 8, im[piece][2], im[piece][3]);
      }
    }
  }
  __device__ void store(double* shared) {
    for_each_pair([&](int plane, int i, int j, double a, double b) {
      *reinterpret_cast<double2*>(shared + plane * kPlane + i * kRow + j) = make_double2(a, b);
    });
  }
  __device__ void load_global(const double* from) {
    for_each_pair([&](int plane, int i, int j, double& a, double& b) {
      const double2 pair = *reinterpret_cast<const double2*>(from + plane * kArea + i * kSide + j);
      a = pair.x, b = pair.y;
    });
  }
  __device__ void store_global(double* to) {
    for_each_pair([&](int plane, int i, int j, double a, double b) {
      *reinterpret_cast<double2*>(to + plane * kArea + i * kSide + j) = make_double2(a, b);
    });
  }
};

/// visit(offset in global memory, offset in shared memory) for pairs of numbers of a matrix.
template <typename T, typename Visit>
__device__ void for_matrix(Visit visit) {
  for (int pair = static_cast<int>(threadIdx.x); pair < T::kState / 2; pair += T::kThreads) {
    const int at = 2 * pair, line = at / (T::kRow - 4);
    visit(at, at + 4 * line);
  }
}
template <typename T>
__device__ void start_copy(double* shared, const double* from) {
  for_matrix<T>([&](int global, int local) { copy_16_bytes(shared + local, from + global); });
  commit_copies();
}
template <typename T>
__device__ void copy_in(double* shared, const double* from) {
  start_copy<T>(shared, from);
  wait_for_copies<0>();
  __syncthreads();
}
template <typename T>
__device__ void copy_out(double* to, const double* shared) {
  for_matrix<T>([&](int global, int local) {
    *reinterpret_cast<double2*>(to + global) = *reinterpret_cast<const double2*>(shared + local);
  });
}
template <typename T>
__device__ void scale(double* shared, double factor) {
  for_matrix<T>([&](int, int local) { shared[local] *= factor, shared[local + 1] *= factor; });
}
/// Entry (i, j) times c_i c_j.
template <typename T>
__device__ void scale_by_emission(double* shared, const double* c) {
  constexpr int kSide = T::kRow - 4;
  for_matrix<T>([&](int global, int local) {
    const double by_row = c[global / kSide % kSide];
    shared[local] *= by_row * c[global % kSide];
    shared[local + 1] *= by_row * c[global % kSide + 1];
  });
}
/// In every lane of every warp.
template <typename T>
__device__ double trace_of(const double* shared) {
  double sum = 0.0;
  for (int i = static_cast<int>(threadIdx.x) % 32; i < T::kRow - 4; i += 32)
    sum += shared[i * T::kRow + i];
  return warp_sum(sum);
}

__device__ inline void note_failure(const TileArguments& a, const DeviceSequence& s,
                                    std::uint32_t step) {
  if (threadIdx.x == 0) atomicMin(a.failure, static_cast<unsigned long long>(s.index) << 32 | step);
}
__device__ inline double log_weight(double weight, int exponent) {
  return log(weight) + exponent * kLogTwo;
}

/// ρ ← D (Σ_q K_q ρ K_q†) D of one operator.
template <typename T>
__device__ void step_forward(const TileArguments& a, std::uint32_t op, double* state,
                             double* product, double* matrix) {
  T next;
  next.clear();
  for (std::uint32_t q = 0; q < a.count[op]; ++q) {
    copy_in<T>(matrix, a.matrices + (a.first[op] + q) * std::size_t{T::kState});
    T half;
    half.clear();
    half.template add_product<false, true>(state, matrix);
    half.store(product);
    __syncthreads();
    next.template add_product<false, false>(matrix, product);
    __syncthreads();
  }
  next.store(state);
  __syncthreads();
  if (a.emission == nullptr) return;
  scale_by_emission<T>(state, a.emission + op * std::size_t{T::kRow - 4});
  __syncthreads();
}

template <typename T>
__global__ void __launch_bounds__(T::kThreads) forward_kernel(const TileArguments a) {
  extern __shared__ double shared[];
  double *state = shared, *product = shared + T::kBuffer, *matrix = product + T::kBuffer;
  const bool careful = a.pace == 1;
  for (std::uint32_t b = blockIdx.x; b < a.sequence_count; b += gridDim.x) {
    const DeviceSequence s = a.sequences[a.first_sequence + b];
    if (s.length <= a.begin) continue;
    double* carried = a.carried + b * std::size_t{T::kState};
    double* powers = a.powers + (a.first_sequence + b) * a.powers_each;
    int exponent = a.exponents[a.first_sequence + b];
    double sum = 0.0;
    const DeviceMark* mark = a.marks + s.first_mark;
    const DeviceMark* last_mark = mark + s.marks;
    copy_in<T>(state, carried);
    double watched = 1.0;  // the weight before, in the scale of the state
    const auto watch = [&](std::uint32_t t) {
      if (a.suspect_below == 0.0 || t == 0) return;
      const double weight = trace_of<T>(state);
      if (!(weight > a.suspect_below * watched) && threadIdx.x == 0)
        a.suspects[a.first_sequence + b] = 1;
      watched = weight;
    };
    const std::uint32_t end = min(a.end, s.length);
    while (mark < last_mark && mark->step < a.begin) ++mark;
    for (std::uint32_t t = a.begin; t < end; ++t) {
      watch(t);
      if (t > 0 && t % a.pace == 0) {
        const double weight = trace_of<T>(state);
        if (!usable(weight, careful)) note_failure(a, s, t - 1);
        const int by = ilogb(weight);
        __syncthreads();
        scale<T>(state, ldexp(1.0, -by));
        watched *= ldexp(1.0, -by);
        exponent += by;
        if (threadIdx.x == 0) powers[t / a.pace] = ldexp(1.0, -by);
        __syncthreads();
      }
      if (mark < last_mark && mark->step == t) {
        if (a.count_marks && mark->coefficient != 0.0)
          sum += mark->coefficient * log_weight(trace_of<T>(state), exponent);
        ++mark;
      }
      if (a.keep)
        copy_out<T>(a.history + (std::size_t{b} * (a.end - a.begin) + t - a.begin) * T::kState,
                    state);
      step_forward<T>(a, a.steps[s.first_step + t], state, product, matrix);
    }
    if (end == s.length) {
      watch(end);
      const double weight = trace_of<T>(state);
      if (!usable(weight, careful)) note_failure(a, s, s.length - 1);
      if (a.count_marks && mark < last_mark)
        sum += mark->coefficient * log_weight(weight, exponent);
    }
    copy_out<T>(carried, state);
    if (threadIdx.x == 0 && a.count_marks) {
      a.exponents[a.first_sequence + b] = exponent;
      a.log_likelihoods[a.first_sequence + b] += sum;
    }
    __syncthreads();
  }
}

/// += Σ_l Re S_il* ρ_il for every i; both are Hermitian, so that columns do as well as rows.
template <typename T>
__device__ void add_by_emission(double* to, const double* adjoint, const double* state) {
  constexpr int kSide = T::kRow - 4;
  for (int i = static_cast<int>(threadIdx.x); i < kSide; i += T::kThreads) {
    double sum = 0.0;
    for (int at = i; at < T::kBuffer; at += T::kRow) sum += adjoint[at] * state[at];
    to[i] += sum;
  }
}

/// S ← Σ_q K_q† (R K_q), R in `adjoint`; leaves the state before the step in what it returns.
template <typename T>
__device__ double* step_back(const TileArguments& a, std::uint32_t op, const double* history,
                             double* gradients, double* shared) {
  double *adjoint = shared, *product = shared + T::kBuffer, *matrix = product + T::kBuffer;
  double* state = T::kRoomy ? matrix + T::kBuffer : matrix;
  if constexpr (T::kRoomy) start_copy<T>(state, history);
  T before;
  before.clear();
  for (std::uint32_t q = 0; q < a.count[op]; ++q) {
    const std::size_t at = (a.first[op] + q) * std::size_t{T::kState};
    copy_in<T>(matrix, a.matrices + at);
    T half;
    half.clear();
    half.template add_product<false, false>(adjoint, matrix);
    half.store(product);
    __syncthreads();
    before.template add_product<true, false>(matrix, product);
    if constexpr (!T::kRoomy) {
      __syncthreads();
      copy_in<T>(state, history);
    }
    half.load_global(gradients + at);
    half.template add_product<false, false>(product, state);
    half.store_global(gradients + at);
    __syncthreads();
  }
  before.store(adjoint);
  __syncthreads();
  return state;
}

template <typename T>
__device__ void add_slope(double* adjoint, double slope) {
  for (int i = static_cast<int>(threadIdx.x); i < T::kRow - 4; i += T::kThreads)
    adjoint[i * T::kRow + i] += slope;
}

template <typename T>
__global__ void __launch_bounds__(T::kThreads) backward_kernel(const TileArguments a) {
  extern __shared__ double shared[];
  double* adjoint = shared;
  constexpr int kSide = T::kRow - 4;
  double* gradients = a.gradients + blockIdx.x * a.matrix_count * T::kState;
  double* by_emission = a.by_emission + blockIdx.x * a.operators * kSide;
  double* initial = a.initial + blockIdx.x * std::size_t{T::kState};
  for (std::uint32_t b = blockIdx.x; b < a.sequence_count; b += gridDim.x) {
    const DeviceSequence s = a.sequences[a.first_sequence + b];
    if (s.length <= a.begin) continue;
    const std::uint32_t* steps = a.steps + s.first_step;
    double* carried = a.adjoints + b * std::size_t{T::kState};
    const double* powers = a.powers + (a.first_sequence + b) * a.powers_each;
    const DeviceMark* none = a.marks + s.first_mark - 1;
    const DeviceMark* mark = none + s.marks;
    const std::uint32_t end = min(a.end, s.length);
    while (mark > none && mark->step > end) --mark;
    if (end == s.length) {
      double* last = shared + T::kBuffer;
      copy_in<T>(last, a.carried + b * std::size_t{T::kState});
      for_matrix<T>([&](int, int local) { adjoint[local] = adjoint[local + 1] = 0.0; });
      __syncthreads();
      if (mark > none && mark->step == end) {
        add_slope<T>(adjoint, s.weight * mark->coefficient / trace_of<T>(last));
        __syncthreads();
        if (a.emission != nullptr)
          add_by_emission<T>(by_emission + steps[end - 1] * std::size_t{kSide}, adjoint, last);
        --mark;
      }
    } else {
      // the mark before this step was met in the segment after this one
      while (mark > none && mark->step >= end) --mark;
      copy_in<T>(adjoint, carried);
    }
    __syncthreads();
    for (std::uint32_t t = end; t-- > a.begin;) {
      const std::uint32_t op = steps[t];
      if (a.emission != nullptr) {
        scale_by_emission<T>(adjoint, a.emission + op * std::size_t{kSide});
        __syncthreads();
      }
      const double* history =
          a.history + (std::size_t{b} * (a.end - a.begin) + t - a.begin) * T::kState;
      const double* state = step_back<T>(a, op, history, gradients, shared);
      if (t == 0) break;
      if (mark > none && mark->step == t) {
        if (mark->stops_gradient != 0) {
          for_matrix<T>([&](int, int local) { adjoint[local] = adjoint[local + 1] = 0.0; });
        } else {
          add_slope<T>(adjoint, s.weight * mark->coefficient / trace_of<T>(state));
        }
        --mark;
        __syncthreads();
      }
      if (a.emission != nullptr) {
        add_by_emission<T>(by_emission + steps[t - 1] * std::size_t{kSide}, adjoint, state);
        __syncthreads();
      }
      if (t % a.pace == 0) {
        scale<T>(adjoint, powers[t / a.pace]);
        __syncthreads();
      }
    }
    if (a.begin == 0) {
      for_matrix<T>([&](int global, int local) {
        initial[global] += adjoint[local], initial[global + 1] += adjoint[local + 1];
      });
    } else {
      copy_out<T>(carried, adjoint);
    }
    __syncthreads();
  }
}

}  // namespace hqmm::detail

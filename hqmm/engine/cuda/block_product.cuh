// A 64 × 64 block of a sum of products of large matrices, by tensor cores, for one thread block of
// 128.
//
//   C += Σ_term op(A_term) op(B_term),  op the identity or the adjoint
//
// Slabs of kDepth columns of A and rows of B go through shared memory, several of them on their way
// at a time and one term after another without a pause between.
#pragma once

#include "hqmm/engine/cuda/device.cuh"

namespace hqmm::detail {

inline constexpr int kBlockThreads = 256;

struct Operands {
  const double *left, *right;
};

/// Of kBlock rows and columns: 64 of a complex matrix, 64 or 96 of a real one. Smaller blocks read
/// too much for what they multiply.
template <bool kComplex, int kBlock>
struct BlockProduct {
  static constexpr int kRows = kBlock / 32, kColumns = kBlock / 32;  // pieces of a warp's eighth
  static constexpr int kSide = kBlock;
  static constexpr int kPlanes = kComplex ? 2 : 1;
  static constexpr int kDepth = kComplex ? 8 : 16;
  static constexpr int kStages = 3;
  // rows of a slab whose numbers follow the depth, and of one whose numbers follow the block
  static constexpr int kDeepRow = kDepth + 4, kWideRow = kBlock + 4;
  static constexpr int kSlab = kBlock * kDeepRow;  // the larger of both
  static constexpr int kStage = 2 * kPlanes * kSlab;
  static constexpr int kBytes = kStages * kStage * 8;

  /// A warp's eighth, one of two down and of four across: [piece of 16 rows][piece of 8 columns]
  double re[kRows][kColumns][4], im[kComplex ? kRows : 1][kColumns][4];

  __device__ static int row() { return static_cast<int>(threadIdx.x) / 128 * (kBlock / 2); }
  __device__ static int column() { return static_cast<int>(threadIdx.x) / 32 % 4 * (kBlock / 4); }

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          re[i][j][k] = 0.0;
          if constexpr (kComplex) im[i][j][k] = 0.0;
        }
  }

  /// Rows first … first + kBlock − 1 of op's side of a matrix, kDepth of the contracted index from
  /// `k` on.
  template <bool kDeep>
  __device__ static void load(double* slab, const double* matrix, int side, int first, int k) {
    constexpr int kPerRow = (kDeep ? kDepth : kBlock) / 2;
    constexpr int kLines = kDeep ? kBlock : kDepth;
    constexpr int kRow = kDeep ? kDeepRow : kWideRow;
#pragma unroll
    for (int plane = 0; plane < kPlanes; ++plane) {
#pragma unroll
      for (int piece = static_cast<int>(threadIdx.x); piece < kLines * kPerRow;
           piece += kBlockThreads) {
        const int line = piece / kPerRow, at = piece % kPerRow * 2;
        const int from_row = kDeep ? first + line : k + line;
        const int from_column = kDeep ? k + at : first + at;
        copy_16_bytes(slab + plane * kSlab + line * kRow + at,
                      matrix +
                          (std::size_t{static_cast<unsigned>(plane)} * side + from_row) * side +
                          from_column);
      }
    }
  }

  /// `deep` steps of four.
  template <bool kLeftAdjoint, bool kRightAdjoint>
  __device__ void multiply(const double* a, const double* b, int deep) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group = lane / 4, place = lane % 4;
    constexpr int kLeftDown = kLeftAdjoint ? 1 : kDeepRow, kLeftOn = kLeftAdjoint ? kWideRow : 1;
    constexpr int kRightDown = kRightAdjoint ? 1 : kWideRow,
                  kRightOn = kRightAdjoint ? kDeepRow : 1;
    const double* left_side = a + (row() + group) * kLeftDown + place * kLeftOn;
    const double* right_side = b + (column() + group) * kRightOn + place * kRightDown;
    const auto step_of_four = [&](int step) {
      const double* left = left_side + step * 4 * kLeftOn;
      const double* right = right_side + step * 4 * kRightDown;
      double a_re[kRows][2], b_re[kColumns], a_im[kRows][2], b_im[kColumns];
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          a_re[i][half] = left[(i * 16 + half * 8) * kLeftDown];
          if constexpr (kComplex) {
            const double value = left[kSlab + (i * 16 + half * 8) * kLeftDown];
            a_im[i][half] = kLeftAdjoint ? -value : value;
          }
        }
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        b_re[j] = right[j * 8 * kRightOn];
        if constexpr (kComplex) {
          const double value = right[kSlab + j * 8 * kRightOn];
          b_im[j] = kRightAdjoint ? -value : value;
        }
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          multiply_add(re[i][j], a_re[i][0], a_re[i][1], b_re[j]);
          if constexpr (kComplex) {
            multiply_add(im[i][j], a_re[i][0], a_re[i][1], b_im[j]);
            multiply_add(im[i][j], a_im[i][0], a_im[i][1], b_re[j]);
            multiply_add(re[i][j], -a_im[i][0], -a_im[i][1], b_im[j]);
          }
        }
    };
    if (deep == kDepth / 4) {
#pragma unroll
      for (int step = 0; step < kDepth / 4; ++step) step_of_four(step);
    } else {
      for (int step = 0; step < deep; ++step) step_of_four(step);
    }
  }

  /// The sum over `terms` terms of matrices of n × n, padded to side × side; term(i) gives their
  /// addresses.
  template <bool kLeftAdjoint, bool kRightAdjoint, typename Term>
  __device__ void add(double* shared, int n, int side, int first_row, int first_column, int terms,
                      Term term) {
    const int slabs = (n + kDepth - 1) / kDepth;
    const int total = slabs * terms;
    // the slab to fetch next
    Operands from = term(0);
    int next_term = 0, next_slab = 0, next_stage = 0;
    const auto fetch = [&] {
      if (next_term < terms) {
        double* stage = shared + next_stage * kStage;
        load<!kLeftAdjoint>(stage, from.left, side, first_row, next_slab * kDepth);
        load<kRightAdjoint>(stage + kPlanes * kSlab, from.right, side, first_column,
                            next_slab * kDepth);
        if (++next_stage == kStages) next_stage = 0;
        if (++next_slab == slabs) {
          next_slab = 0;
          if (++next_term < terms) from = term(next_term);
        }
      }
      commit_copies();
    };
    for (int i = 0; i < kStages - 1; ++i) fetch();
    int stage = 0, left_over = n;
    for (int i = 0; i < total; ++i) {
      wait_for_copies<kStages - 2>();
      __syncthreads();
      fetch();
      const double* at = shared + stage * kStage;
      multiply<kLeftAdjoint, kRightAdjoint>(at, at + kPlanes * kSlab,
                                            min(kDepth, left_over + 3) / 4);
      if (++stage == kStages) stage = 0;
      left_over -= kDepth;
      if (left_over <= 0) left_over = n;
    }
    wait_for_copies<0>();
    __syncthreads();
  }

  /// visit(row, column, pair of real parts, pair of imaginary parts) of the block.
  template <typename Visit>
  __device__ void for_each_pair(Visit visit) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    double none[2] = {0.0, 0.0};
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          visit(row() + i * 16 + half * 8 + lane / 4, column() + j * 8 + lane % 4 * 2,
                re[i][j] + 2 * half, kComplex ? im[kComplex ? i : 0][j] + 2 * half : none);
  }
};

}  // namespace hqmm::detail

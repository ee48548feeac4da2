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

  /// What a thread copies of every slab of an operand: pieces of two numbers, some rows or columns
  /// apart. Its numbers follow the depth in memory, or the block.
  template <bool kDeep>
  struct Share {
    static constexpr int kAcross = kDeep ? kDepth / 2 : kBlockThreads / kDepth;  // threads on a row
    static constexpr int kRowsAtOnce = kBlockThreads / kAcross;
    static constexpr int kPasses = kDeep ? kBlock / kRowsAtOnce : kBlock / 2 / kAcross;
    static constexpr int kRow = kDeep ? kDeepRow : kWideRow;

    std::size_t from, slab, pass, plane;
    int to;

    __device__ Share(int side, int first)
        : from(static_cast<std::size_t>((kDeep ? first : 0) + line()) * side + (kDeep ? 0 : first) +
               place()),
          slab(static_cast<std::size_t>(kDepth) * (kDeep ? 1 : side)),
          pass(kDeep ? static_cast<std::size_t>(kRowsAtOnce) * side : 2 * kAcross),
          plane(static_cast<std::size_t>(side) * side),
          to(line() * kRow + place()) {}
    __device__ static int line() { return static_cast<int>(threadIdx.x) / kAcross; }
    __device__ static int place() { return static_cast<int>(threadIdx.x) % kAcross * 2; }

    __device__ void copy(double* stage, const double* at) const {
#pragma unroll
      for (int part = 0; part < kPlanes; ++part)
#pragma unroll
        for (int i = 0; i < kPasses; ++i)
          copy_16_bytes(stage + part * kSlab + to + i * (kDeep ? kRowsAtOnce * kRow : 2 * kAcross),
                        at + part * plane + i * pass);
    }
  };

  /// `deep` steps of eight.
  template <bool kLeftAdjoint, bool kRightAdjoint>
  __device__ void multiply(const double* a, const double* b, int deep) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group = lane / 4, place = lane % 4;
    constexpr int kLeftDown = kLeftAdjoint ? 1 : kDeepRow, kLeftOn = kLeftAdjoint ? kWideRow : 1;
    constexpr int kRightDown = kRightAdjoint ? 1 : kWideRow,
                  kRightOn = kRightAdjoint ? kDeepRow : 1;
    const double* left = a + (row() + group) * kLeftDown + place * kLeftOn;
    const double* right = b + (column() + group) * kRightOn + place * kRightDown;
#pragma unroll 1
    for (int step = 0; step < deep; ++step, left += 8 * kLeftOn, right += 8 * kRightDown) {
      double a_re[kRows][4], a_im[kComplex ? kRows : 1][4];
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const double* at = left + (i * 16 + k % 2 * 8) * kLeftDown + k / 2 * 4 * kLeftOn;
          a_re[i][k] = at[0];
          if constexpr (kComplex) a_im[i][k] = kLeftAdjoint ? -at[kSlab] : at[kSlab];
        }
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const double* at = right + j * 8 * kRightOn;
        const double b_re[2] = {at[0], at[4 * kRightDown]};
#pragma unroll
        for (int i = 0; i < kRows; ++i) multiply_add_deep(re[i][j], a_re[i], b_re);
        if constexpr (kComplex) {
          at += kSlab;
          const double sign = kRightAdjoint ? -1.0 : 1.0;
          const double b_im[2] = {sign * at[0], sign * at[4 * kRightDown]};
          const double minus_b_im[2] = {-b_im[0], -b_im[1]};
#pragma unroll
          for (int i = 0; i < kRows; ++i) {
            multiply_add_deep(im[i][j], a_re[i], b_im);
            multiply_add_deep(im[i][j], a_im[i], b_re);
            multiply_add_deep(re[i][j], a_im[i], minus_b_im);
          }
        }
      }
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
    const Share<!kLeftAdjoint> left_share(side, first_row);
    const Share<kRightAdjoint> right_share(side, first_column);
    const double *left = nullptr, *right = nullptr;
    const auto start_term = [&](int i) {
      const Operands from = term(i);
      left = from.left + left_share.from;
      right = from.right + right_share.from;
    };
    start_term(0);
    int next_term = 0, next_slab = 0, next_stage = 0;
    const auto fetch = [&] {
      if (next_term < terms) {
        double* stage = shared + next_stage * kStage;
        left_share.copy(stage, left);
        right_share.copy(stage + kPlanes * kSlab, right);
        left += left_share.slab;
        right += right_share.slab;
        if (++next_stage == kStages) next_stage = 0;
        if (++next_slab == slabs) {
          next_slab = 0;
          if (++next_term < terms) start_term(next_term);
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
                                            min(kDepth, left_over + 7) / 8);
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

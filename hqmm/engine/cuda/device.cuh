// What the passes share: checked calls, memory of the GPU, and products on its tensor cores.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hqmm/engine/cuda/cuda_errors.hpp"

namespace hqmm::detail {

inline void check(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) throw_cuda_error(static_cast<int>(status), doing);
}

/// A growing array in the GPU's memory. What it holds is lost when it grows.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* reserve(std::size_t size) {
    if (size > capacity_) {
      cudaFree(data_);
      data_ = nullptr;
      capacity_ = 0;
      void* memory = nullptr;
      check(cudaMalloc(&memory, size * sizeof(T)), "taking memory");
      data_ = static_cast<T*>(memory);
      capacity_ = size;
    }
    return data_;
  }
  [[nodiscard]] T* data() const { return data_; }

  /// Room for `from`, and a copy of it. The caller's array must live until the stream is through.
  T* upload(const T* from, std::size_t size, cudaStream_t stream) {
    reserve(size);
    if (size > 0)
      check(cudaMemcpyAsync(data_, from, size * sizeof(T), cudaMemcpyHostToDevice, stream),
            "copying to the GPU");
    return data_;
  }
  T* upload(const std::vector<T>& from, cudaStream_t stream) {
    return upload(from.data(), from.size(), stream);
  }
  T* clear(std::size_t size, cudaStream_t stream) {
    reserve(size);
    if (size > 0) check(cudaMemsetAsync(data_, 0, size * sizeof(T), stream), "clearing memory");
    return data_;
  }
  void download(T* to, std::size_t size, cudaStream_t stream) const {
    if (size > 0)
      check(cudaMemcpyAsync(to, data_, size * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "copying from the GPU");
  }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

// ---- products on tensor cores
// ---------------------------------------------------------------------- A 16 × 4, B 4 × 8, C 16
// × 8. Lane l has group g = l / 4 and place p = l % 4 in it, and holds
//   A(g, p), A(g + 8, p);   B(p, g);   C(g, 2p), C(g, 2p + 1), C(g + 8, 2p), C(g + 8, 2p + 1)

__device__ inline void multiply_add(double (&c)[4], double a0, double a1, double b) {
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a0), "d"(a1), "d"(b));
}

/// The same of A 16 × 8 and B 8 × 8: A(g, p), A(g + 8, p), A(g, p + 4), A(g + 8, p + 4);  B(p, g),
/// B(p + 4, g)
__device__ inline void multiply_add_deep(double (&c)[4], const double (&a)[4],
                                         const double (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

__device__ inline void copy_16_bytes(double* to_shared, const double* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to_shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <int kPending>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending));
}

/// The sum over a warp, in every lane.
__device__ inline double warp_sum(double value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
  return value;
}

// ---- weights of states
// -----------------------------------------------------------------------------

inline constexpr double kSmallestGpuWeight = 0x1p-900;
inline constexpr double kLargestGpuWeight = 0x1p+900;
inline constexpr double kLogTwo = 0.693147180559945309417232121458;

/// Whether a pass can go on from this weight; a careful one rescales at every step.
__device__ inline bool usable(double weight, bool careful) {
  if (careful) return weight >= 0x1p-1022 && weight <= 1.7976931348623157e308;
  return weight > kSmallestGpuWeight && weight < kLargestGpuWeight;
}

}  // namespace hqmm::detail

// What goes up to the GPU and comes down in one piece: memory of the host for it, and who lies where.
#pragma once

#include "hqmm/engine/cuda/device.cuh"

namespace hqmm::detail {

/// Memory of the host that the GPU reads and writes by itself. Grows; its contents are lost then.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() { cudaFreeHost(data_); }

  unsigned char* reserve(std::size_t bytes) {
    if (bytes <= capacity_) return data_;
    cudaFreeHost(data_);
    data_ = nullptr;
    capacity_ = 0;
    void* memory = nullptr;
    const std::size_t wanted = bytes + bytes / 4;
    check(cudaMallocHost(&memory, wanted), "taking memory of the host");
    data_ = static_cast<unsigned char*>(memory);
    capacity_ = wanted;
    return data_;
  }
  [[nodiscard]] const unsigned char* data() const { return data_; }

 private:
  unsigned char* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Where arrays lie in one block of memory.
class Layout {
 public:
  template <typename T>
  std::size_t add(std::size_t count) {
    const std::size_t at = bytes_;
    bytes_ += (count * sizeof(T) + 15) / 16 * 16;
    return at;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace hqmm::detail

// HDF5 on bytes in memory: the library never touches a file itself, so reading works from any
// ByteSource and writing goes through the one atomic writer.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include "hqmm/io/foreign_code.hpp"

namespace hqmm {

/// An HDF5 identifier with its closing function; false when the call that made it failed.
class Hid {
 public:
  using Close = herr_t (*)(hid_t);
  Hid() = default;
  Hid(hid_t id, Close close) noexcept : id_(id), close_(close) {}
  Hid(Hid&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hid& operator=(Hid&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Hid(const Hid&) = delete;
  Hid& operator=(const Hid&) = delete;
  ~Hid() {
    if (id_ >= 0) close_(id_);
  }
  explicit operator bool() const noexcept { return id_ >= 0; }
  operator hid_t() const noexcept { return id_; }  // NOLINT: handed straight to the C functions

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Hold this around any use of HDF5: one thread at a time whatever way the library was built, its
/// error printing silenced, and `file` named should the library crash on it (see foreign_code.hpp).
class Hdf5Section {
 public:
  /// For reading `size` bytes of `file`, which must outlive the section; for writing, nothing is
  /// named.
  Hdf5Section(const std::string& file, std::size_t size);
  Hdf5Section();

 private:
  std::unique_lock<std::mutex> lock_;
  ForeignCode foreign_;
};

/// A file open on a copy of `bytes`, read-only; false when they are not HDF5.
[[nodiscard]] Hid open_hdf5_image(const std::string& bytes);
/// A new, empty file in memory that records no times: the same content gives the same bytes.
[[nodiscard]] Hid create_hdf5_image();
/// The bytes of a file in memory; empty on failure.
[[nodiscard]] std::string hdf5_image_bytes(hid_t file);

/// The compound {r, i} of two doubles that h5py reads as complex128.
[[nodiscard]] Hid hdf5_complex_type();

}  // namespace hqmm

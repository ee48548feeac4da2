// HDF5 on bytes in memory: the library never touches a file itself, so reading works from any
// ByteSource and writing goes through the one atomic writer.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace hqmm::detail {

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

/// One thread at a time, whatever way the library was built.
[[nodiscard]] std::unique_lock<std::mutex> lock_hdf5();

/// Hold this around writing with HDF5: the lock, and no error printed by the library. Reading
/// happens in a separate process (hdf5_sandbox.hpp).
class Hdf5Section {
 public:
  Hdf5Section();

 private:
  std::unique_lock<std::mutex> lock_;
};

/// From here on the library does not print errors.
void silence_hdf5();

/// A file open on a copy of `bytes`, read-only; false when they are not HDF5.
[[nodiscard]] Hid open_hdf5_image(const std::string& bytes);
/// A new, empty file in memory that records no times: the same content gives the same bytes.
[[nodiscard]] Hid create_hdf5_image();
/// The bytes of a file in memory; empty on failure.
[[nodiscard]] std::string hdf5_image_bytes(hid_t file);

/// A group or data set of `group`; links into other files are not followed. False when there is
/// none.
[[nodiscard]] Hid open_hdf5_group(hid_t group, const char* name);
[[nodiscard]] Hid open_hdf5_dataset(hid_t group, const char* name);
/// Whether a name is a link into another file; whether a data set keeps its numbers in other files.
[[nodiscard]] bool links_elsewhere(hid_t group, const char* name);
[[nodiscard]] bool stored_elsewhere(hid_t dataset);

/// The compound {r, i} of two doubles that h5py reads as complex128.
[[nodiscard]] Hid hdf5_complex_type();

}  // namespace hqmm::detail

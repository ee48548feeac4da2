#include "hqmm/io/hdf5_image.hpp"

#include "hqmm/core/types.hpp"

namespace hqmm {
namespace {

constexpr std::size_t kGrowBy = 64 * 1024;

// The library looks at a file of this name before it takes the image: one that cannot exist.
constexpr const char* kNoSuchFile = "/dev/null/image";

const std::string kNoFile;

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

Hid core_access() {
  Hid access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, kGrowBy, /*backing_store=*/0);
  return access;
}

}  // namespace

Hdf5Section::Hdf5Section() : Hdf5Section(kNoFile, 0) {}

Hdf5Section::Hdf5Section(const std::string& file, std::size_t size)
    : lock_(hdf5_mutex()), foreign_(file, size) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hid open_hdf5_image(const std::string& bytes) {
  const Hid access = core_access();
  // The library copies the image and leaves ours alone, whatever its signature says.
  if (H5Pset_file_image(access, const_cast<char*>(bytes.data()), bytes.size()) < 0) return {};
  return {H5Fopen(kNoSuchFile, H5F_ACC_RDONLY, access), H5Fclose};
}

Hid create_hdf5_image() {
  const Hid access = core_access();
  const Hid creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  return {H5Fcreate(kNoSuchFile, H5F_ACC_TRUNC, creation, access), H5Fclose};
}

std::string hdf5_image_bytes(hid_t file) {
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return {};
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  if (size <= 0) return {};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  return H5Fget_file_image(file, bytes.data(), bytes.size()) == size ? bytes : std::string();
}

Hid hdf5_complex_type() {
  Hid type(H5Tcreate(H5T_COMPOUND, sizeof(Complex)), H5Tclose);
  H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "i", sizeof(double), H5T_NATIVE_DOUBLE);
  return type;
}

}  // namespace hqmm

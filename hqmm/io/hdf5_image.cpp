#include "hqmm/io/hdf5_image.hpp"

#include "hqmm/core/types.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kGrowBy = 64 * 1024;

// The library looks at a file of this name before it takes the image: one that cannot exist.
constexpr const char* kNoSuchFile = "/dev/null/image";

Hid core_access() {
  Hid access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, kGrowBy, /*backing_store=*/0);
  return access;
}

/// How to open something below a group: links into other files fail.
Hid inside_only(hid_t kind) {
  Hid access(H5Pcreate(kind), H5Pclose);
  H5Pset_elink_cb(
      access,
      [](const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) -> herr_t {
        return -1;
      },
      nullptr);
  return access;
}

}  // namespace

std::unique_lock<std::mutex> lock_hdf5() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

Hdf5Section::Hdf5Section() : lock_(lock_hdf5()) { silence_hdf5(); }

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

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

Hid open_hdf5_group(hid_t group, const char* name) {
  return {H5Gopen2(group, name, inside_only(H5P_GROUP_ACCESS)), H5Gclose};
}

Hid open_hdf5_dataset(hid_t group, const char* name) {
  return {H5Dopen2(group, name, inside_only(H5P_DATASET_ACCESS)), H5Dclose};
}

bool links_elsewhere(hid_t group, const char* name) {
  H5L_info_t info{};
  if (H5Lget_info(group, name, &info, H5P_DEFAULT) < 0) return false;
  return info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT;
}

bool stored_elsewhere(hid_t dataset) {
  const Hid creation(H5Dget_create_plist(dataset), H5Pclose);
  return !creation || H5Pget_external_count(creation) != 0 ||
         H5Pget_layout(creation) == H5D_VIRTUAL;
}

Hid hdf5_complex_type() {
  Hid type(H5Tcreate(H5T_COMPOUND, sizeof(Complex)), H5Tclose);
  H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "i", sizeof(double), H5T_NATIVE_DOUBLE);
  return type;
}

}  // namespace hqmm::detail

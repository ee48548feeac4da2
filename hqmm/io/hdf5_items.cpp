#include "hqmm/io/hdf5_items.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/json_text.hpp"

namespace hqmm::detail {
namespace {

void require(herr_t status) {
  if (status < 0) throw fail(ErrorCode::kInternal, "HDF5 could not build the model file in memory");
}

}  // namespace

Error Hdf5ItemReader::wrong(std::string_view name, std::string_view problem) const {
  const std::string item = fmt::format("{}{}'{}'", place_, place_.empty() ? "" : ": ", name);
  return fail(ErrorCode::kBadData, Where{.file = file_, .item = item}, "{}", problem);
}

void Hdf5ItemReader::require_inside(const char* name) const {
  if (links_elsewhere(group_, name))
    throw wrong(name, "is a link into another file, which is not followed");
}

Hid Hdf5ItemReader::subgroup(const char* name) const {
  if (!exists(name)) throw wrong(name, "expected a group");
  require_inside(name);
  Hid group = open_hdf5_group(group_, name);
  if (!group) throw wrong(name, "expected a group");
  return group;
}

/// The strings of a dataset or attribute, of fixed or variable length. `read` is H5Aread or a
/// wrapped H5Dread.
template <typename Read>
std::vector<std::string> Hdf5ItemReader::decode(std::string_view name, hid_t stored, hid_t space,
                                                Read read) const {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(stored) != H5T_STRING || count < 0) throw wrong(name, "expected text");
  if (count > static_cast<hssize_t>(kMaxAlphabet)) throw wrong(name, "holds too many strings");
  std::vector<std::string> out;
  const Hid type(H5Tcopy(stored), H5Tclose);
  if (H5Tis_variable_str(stored) > 0) {
    std::vector<char*> pointers(static_cast<std::size_t>(count), nullptr);
    if (read(type, pointers.data()) < 0) throw wrong(name, "cannot be read: the file is damaged");
    for (const char* text : pointers) out.emplace_back(text == nullptr ? "" : text);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
    return out;
  }
  const std::size_t width = H5Tget_size(stored);
  if (width > (std::size_t{1} << 30)) throw wrong(name, "is too long: the file is damaged");
  std::string block(width * static_cast<std::size_t>(count), '\0');
  if (read(type, block.data()) < 0) throw wrong(name, "cannot be read: the file is damaged");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    std::string text = block.substr(i * width, width);
    text.resize(std::min(text.find('\0'), text.size()));
    if (H5Tget_strpad(stored) == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
    out.push_back(std::move(text));
  }
  return out;
}

Hid Hdf5ItemReader::attribute(const char* name) const {
  if (H5Aexists(group_, name) <= 0) return {};
  return {H5Aopen(group_, name, H5P_DEFAULT), H5Aclose};
}

std::optional<std::string> Hdf5ItemReader::text_attribute(const char* name) const {
  const Hid attr = attribute(name);
  if (!attr) return {};
  const Hid type(H5Aget_type(attr), H5Tclose);
  const Hid space(H5Aget_space(attr), H5Sclose);
  const auto texts = decode(name, type, space,
                            [&](hid_t memory, void* out) { return H5Aread(attr, memory, out); });
  if (texts.size() != 1) throw wrong(name, "expected one string");
  return texts.front();
}

std::optional<std::int64_t> Hdf5ItemReader::integer_attribute(const char* name) const {
  const Hid attr = attribute(name);
  if (!attr) return {};
  const Hid type(H5Aget_type(attr), H5Tclose);
  const Hid space(H5Aget_space(attr), H5Sclose);
  std::int64_t value = 0;
  if (H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1 ||
      H5Aread(attr, H5T_NATIVE_INT64, &value) < 0) {
    throw wrong(name, "expected one integer");
  }
  return value;
}

Hid Hdf5ItemReader::dataset(const char* name) const {
  require_inside(name);
  Hid set = open_hdf5_dataset(group_, name);
  if (!set) throw wrong(name, "expected a dataset");
  if (stored_elsewhere(set)) throw wrong(name, "keeps its data in other files, which are not read");
  return set;
}

std::vector<std::string> Hdf5ItemReader::strings(const char* name) const {
  const Hid set = dataset(name);
  const Hid type(H5Dget_type(set), H5Tclose);
  const Hid space(H5Dget_space(set), H5Sclose);
  return decode(name, type, space, [&](hid_t memory, void* out) {
    return H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
}

NdArray Hdf5ItemReader::array(const char* name) const {
  const Hid set = dataset(name);
  const Hid type(H5Dget_type(set), H5Tclose);
  const Hid space(H5Dget_space(set), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0) throw wrong(name, "expected an array");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  NdArray out;
  out.shape.assign(sizes.begin(), sizes.end());
  std::size_t count = 1;
  for (const std::size_t size : out.shape) {
    if (size != 0 && count > kMostElements / size) throw wrong(name, "is too large");
    count *= size;
  }
  if (count > 0 && H5Dget_storage_size(set) == 0) throw wrong(name, "was never written");
  out.values.resize(count);
  if (count > 0) read_numbers(name, set, type, out);
  return out;
}

void Hdf5ItemReader::read_numbers(const char* name, hid_t set, hid_t type, NdArray& out) const {
  const H5T_class_t kind = H5Tget_class(type);
  herr_t status = -1;
  if (kind == H5T_COMPOUND) {
    if (H5Tget_member_index(type, "r") < 0 || H5Tget_member_index(type, "i") < 0) {
      throw wrong(name, "expected complex numbers {r, i}");
    }
    const Hid memory = hdf5_complex_type();
    status = H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.values.data());
  } else if (kind == H5T_FLOAT || kind == H5T_INTEGER) {
    std::vector<double> real(out.values.size());
    status = H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, real.data());
    std::copy(real.begin(), real.end(), out.values.begin());
    out.is_complex = false;
  } else {
    throw wrong(name, "expected numbers");
  }
  if (status < 0) throw wrong(name, "cannot be read: the file is truncated or damaged");
}

std::string Hdf5ItemReader::json(const char* name) const {
  std::optional<std::string> text = text_attribute(name);
  if (exists(name)) {
    const auto texts = strings(name);
    if (texts.size() == 1) text = texts.front();
  }
  if (!text || text->empty()) return "{}";
  const auto parsed = parse_json_or_discard(*text);
  if (parsed.is_discarded()) throw wrong(name, "is not valid JSON");
  return json_text(parsed);
}

Hdf5ItemWriter::Hdf5ItemWriter(hid_t group)
    : group_(group),
      string_type_(H5Tcopy(H5T_C_S1), H5Tclose),
      quiet_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose) {
  H5Tset_size(string_type_, H5T_VARIABLE);
  H5Tset_cset(string_type_, H5T_CSET_UTF8);
  H5Pset_obj_track_times(quiet_, false);
}

Hid Hdf5ItemWriter::subgroup(const char* name) const {
  const Hid creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  Hid group(H5Gcreate2(group_, name, H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose);
  if (!group) require(-1);
  return group;
}

void Hdf5ItemWriter::integer_attribute(const char* name, std::int64_t value) const {
  const Hid scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const Hid attr(H5Acreate2(group_, name, H5T_STD_I64LE, scalar, H5P_DEFAULT, H5P_DEFAULT),
                 H5Aclose);
  require(H5Awrite(attr, H5T_NATIVE_INT64, &value));
}

void Hdf5ItemWriter::text_attribute(const char* name, const std::string& text) const {
  const Hid scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const Hid attr(H5Acreate2(group_, name, string_type_, scalar, H5P_DEFAULT, H5P_DEFAULT),
                 H5Aclose);
  const char* pointer = text.c_str();
  require(H5Awrite(attr, string_type_, &pointer));
}

void Hdf5ItemWriter::write(const std::string& name, hid_t stored, hid_t memory, hid_t space,
                           const void* data) const {
  const Hid set(H5Dcreate2(group_, name.c_str(), stored, space, H5P_DEFAULT, quiet_, H5P_DEFAULT),
                H5Dclose);
  require(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
}

void Hdf5ItemWriter::text(const char* name, const std::string& text) const {
  const Hid scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const char* pointer = text.c_str();
  write(name, string_type_, string_type_, scalar, static_cast<const void*>(&pointer));
}

void Hdf5ItemWriter::strings(const char* name, const std::vector<std::string>& texts) const {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const hsize_t size = texts.size();
  const Hid space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  write(name, string_type_, string_type_, space, static_cast<const void*>(pointers.data()));
}

void Hdf5ItemWriter::numbers(const std::string& name, const NdArray& array) const {
  const std::vector<hsize_t> sizes(array.shape.begin(), array.shape.end());
  const Hid space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                  H5Sclose);
  if (array.is_complex) {
    const Hid type = hdf5_complex_type();
    write(name, type, type, space, array.values.data());
    return;
  }
  std::vector<double> real(array.values.size());
  std::transform(array.values.begin(), array.values.end(), real.begin(),
                 [](Complex z) { return z.real(); });
  const hid_t stored = name == "position_map" ? H5T_STD_I32LE : H5T_IEEE_F64LE;
  write(name, stored, H5T_NATIVE_DOUBLE, space, real.data());
}

}  // namespace hqmm::detail

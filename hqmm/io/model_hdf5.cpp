// Model files as HDF5. Layout: attributes format, version, kind (and position_anchor); one dataset
// per array; `alphabet` a list of strings; `provenance` one string of JSON.
#include <numeric>

#include "hqmm/io/hdf5_image.hpp"
#include "hqmm/io/model_arrays.hpp"
#include "hqmm/io/place.hpp"

namespace hqmm {
namespace {

class Hdf5Reader {
 public:
  Hdf5Reader(hid_t root, const std::string& file) : root_(root), file_(file) {}

  ModelArrays run() const {
    ModelArrays out;
    out.format = text_attribute("format");
    if (!out.format) throw wrong("format", "the attribute is missing: this is no hqmm model file");
    out.kind = text_attribute("kind");
    out.version = version();
    for (const char* name : kArrayNames) {
      if (exists(name)) out.arrays[name] = array(name);
    }
    if (exists("alphabet")) out.alphabet = strings("alphabet");
    if (const auto anchor = text_attribute("position_anchor")) out.position_anchor = *anchor;
    out.provenance = provenance();
    return out;
  }

 private:
  [[nodiscard]] Error wrong(std::string_view name, std::string_view problem) const {
    return fail(ErrorCode::kBadData, in_item(file_, fmt::format("'{}'", name)), "{}", problem);
  }

  [[nodiscard]] bool exists(const char* name) const {
    return H5Lexists(root_, name, H5P_DEFAULT) > 0;
  }

  /// The strings of a dataset or attribute, of fixed or variable length. `read` is H5Aread or a
  /// wrapped H5Dread.
  template <typename Read>
  [[nodiscard]] std::vector<std::string> decode(std::string_view name, hid_t stored, hid_t space,
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

  [[nodiscard]] Hid attribute(const char* name) const {
    if (H5Aexists(root_, name) <= 0) return {};
    return {H5Aopen(root_, name, H5P_DEFAULT), H5Aclose};
  }

  [[nodiscard]] std::optional<std::string> text_attribute(const char* name) const {
    const Hid attr = attribute(name);
    if (!attr) return {};
    const Hid type(H5Aget_type(attr), H5Tclose);
    const Hid space(H5Aget_space(attr), H5Sclose);
    const auto texts = decode(name, type, space,
                              [&](hid_t memory, void* out) { return H5Aread(attr, memory, out); });
    if (texts.size() != 1) throw wrong(name, "expected one string");
    return texts.front();
  }

  [[nodiscard]] std::optional<std::int64_t> version() const {
    const Hid attr = attribute("version");
    if (!attr) return {};
    const Hid type(H5Aget_type(attr), H5Tclose);
    const Hid space(H5Aget_space(attr), H5Sclose);
    std::int64_t value = 0;
    if (H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1 ||
        H5Aread(attr, H5T_NATIVE_INT64, &value) < 0) {
      throw wrong("version", "expected one integer");
    }
    return value;
  }

  [[nodiscard]] Hid dataset(const char* name) const {
    Hid set(H5Dopen2(root_, name, H5P_DEFAULT), H5Dclose);
    if (!set) throw wrong(name, "expected a dataset");
    return set;
  }

  [[nodiscard]] std::vector<std::string> strings(const char* name) const {
    const Hid set = dataset(name);
    const Hid type(H5Dget_type(set), H5Tclose);
    const Hid space(H5Dget_space(set), H5Sclose);
    return decode(name, type, space, [&](hid_t memory, void* out) {
      return H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
    });
  }

  [[nodiscard]] NdArray array(const char* name) const {
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
    out.values.resize(count);
    if (count > 0) read_numbers(name, set, type, out);
    return out;
  }

  void read_numbers(const char* name, hid_t set, hid_t type, NdArray& out) const {
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

  [[nodiscard]] nlohmann::json provenance() const {
    std::optional<std::string> text = text_attribute("provenance");
    if (exists("provenance")) {
      const auto texts = strings("provenance");
      if (texts.size() == 1) text = texts.front();
    }
    if (!text || text->empty()) return nlohmann::json::object();
    auto parsed = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_discarded()) throw wrong("provenance", "is not valid JSON");
    return parsed;
  }

  hid_t root_;
  const std::string& file_;
};

class Hdf5Writer {
 public:
  explicit Hdf5Writer(hid_t root)
      : root_(root),
        string_type_(H5Tcopy(H5T_C_S1), H5Tclose),
        quiet_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose) {
    H5Tset_size(string_type_, H5T_VARIABLE);
    H5Tset_cset(string_type_, H5T_CSET_UTF8);
    H5Pset_obj_track_times(quiet_, false);
  }

  void run(const ModelArrays& arrays) {
    text_attribute("format", *arrays.format);
    const Hid scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Hid version(H5Acreate2(root_, "version", H5T_STD_I64LE, scalar, H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
    require(H5Awrite(version, H5T_NATIVE_INT64, &*arrays.version));
    text_attribute("kind", *arrays.kind);
    for (const auto& [name, array] : arrays.arrays) numbers(name, array);
    if (arrays.arrays.contains("position_map"))
      text_attribute("position_anchor", arrays.position_anchor);
    strings("alphabet", *arrays.alphabet);
    text_dataset("provenance",
                 arrays.provenance.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

 private:
  static void require(herr_t status) {
    if (status < 0)
      throw fail(ErrorCode::kInternal, "HDF5 could not build the model file in memory");
  }

  void text_attribute(const char* name, const std::string& text) const {
    const Hid scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Hid attr(H5Acreate2(root_, name, string_type_, scalar, H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
    const char* pointer = text.c_str();
    require(H5Awrite(attr, string_type_, &pointer));
  }

  void write(const std::string& name, hid_t stored, hid_t memory, hid_t space,
             const void* data) const {
    const Hid set(H5Dcreate2(root_, name.c_str(), stored, space, H5P_DEFAULT, quiet_, H5P_DEFAULT),
                  H5Dclose);
    require(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  }

  void text_dataset(const char* name, const std::string& text) const {
    const Hid scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const char* pointer = text.c_str();
    write(name, string_type_, string_type_, scalar, static_cast<const void*>(&pointer));
  }

  void strings(const char* name, const std::vector<std::string>& texts) const {
    std::vector<const char*> pointers;
    pointers.reserve(texts.size());
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    const hsize_t size = texts.size();
    const Hid space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    write(name, string_type_, string_type_, space, static_cast<const void*>(pointers.data()));
  }

  void numbers(const std::string& name, const NdArray& array) const {
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

  hid_t root_;
  Hid string_type_;
  Hid quiet_;  // datasets without times
};

}  // namespace

ModelArrays read_hdf5_arrays(const std::string& bytes, const std::string& file) {
  const Hdf5Section section(file, bytes.size());
  const Hid root = open_hdf5_image(bytes);
  if (!root)
    throw fail(ErrorCode::kBadData, in_file(file), "the HDF5 file is truncated or damaged");
  return Hdf5Reader(root, file).run();
}

std::string write_hdf5_arrays(const ModelArrays& arrays) {
  const Hdf5Section section;
  const Hid root = create_hdf5_image();
  if (!root) throw fail(ErrorCode::kInternal, "HDF5 could not start a file in memory");
  Hdf5Writer(root).run(arrays);
  std::string bytes = hdf5_image_bytes(root);
  if (bytes.empty()) throw fail(ErrorCode::kInternal, "HDF5 could not finish a file in memory");
  return bytes;
}

}  // namespace hqmm

#include "hqmm/io/hdf5_sequences.hpp"

#include <algorithm>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/arrays_wire.hpp"
#include "hqmm/io/hdf5_image.hpp"
#include "hqmm/io/hdf5_sandbox.hpp"

namespace hqmm::detail {
namespace {

// What a data set may unpack to however few bytes it takes.
constexpr std::uint64_t kAlwaysUnpacked = std::uint64_t{64} << 20;

std::string text_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Hid attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (!attribute) return {};
  const Hid type(H5Aget_type(attribute), H5Tclose);
  const Hid space(H5Aget_space(attribute), H5Sclose);
  if (!type || !space || H5Tget_class(type) != H5T_STRING ||
      H5Sget_simple_extent_npoints(space) != 1) {
    return {};
  }
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute, type, &text) < 0 || text == nullptr) return {};
    std::string out = text;
    H5free_memory(text);
    return out;
  }
  std::string out(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, out.data()) < 0) return {};
  return out.substr(0, out.find('\0'));
}

/// Reads in the sandbox.
class Hdf5Reader {
 public:
  Hdf5Reader(hid_t root, const Hdf5Job& job)
      : file_name_(job.file),
        image_size_(job.bytes.size()),
        max_ratio_(job.max_ratio),
        file_(root) {
    if (text_attribute(file_, "format") == "hqmm-model") {
      throw bad("", "this is a model file, not sequences");
    }
  }

  /// Paths of the data sets that can hold sequences.
  std::vector<std::string> matrices();
  StoredMatrix read(const std::string& path);

 private:
  struct Shape {
    std::size_t rows = 0, columns = 0;
    bool transposed = false;  // stored column by column, as MATLAB does
    bool is_float = false;
  };

  [[nodiscard]] Error bad(const std::string& path, std::string_view what) const {
    return fail(ErrorCode::kBadData,
                path.empty() ? Where{.file = file_name_}
                             : Where{.file = file_name_, .item = "dataset '" + path + "'"},
                "{}", what);
  }
  [[nodiscard]] std::optional<Shape> shape_of(hid_t dataset) const;
  void check_stored(hid_t dataset, const Shape& shape, const std::string& path) const;

  std::string file_name_;
  std::uint64_t image_size_;
  double max_ratio_;
  hid_t file_;
};

std::vector<std::string> Hdf5Reader::matrices() {
  std::vector<std::string> all;
  const auto collect = [](hid_t, const char* name, const H5O_info_t* info, void* to) -> herr_t {
    // MATLAB keeps what cells refer to in "#refs#".
    if (info->type == H5O_TYPE_DATASET && name[0] != '#') {
      static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    }
    return 0;
  };
  if (H5Ovisit2(file_, H5_INDEX_NAME, H5_ITER_INC, collect, &all, H5O_INFO_BASIC) < 0) {
    throw bad("", "the HDF5 file is damaged: its data sets cannot be listed");
  }
  std::erase_if(all, [this](const std::string& path) {
    const Hid dataset = open_hdf5_dataset(file_, path.c_str());
    return !dataset || !shape_of(dataset);
  });
  return all;
}

/// Nothing when the data set cannot hold sequences.
std::optional<Hdf5Reader::Shape> Hdf5Reader::shape_of(hid_t dataset) const {
  const Hid type(H5Dget_type(dataset), H5Tclose);
  const Hid space(H5Dget_space(dataset), H5Sclose);
  if (!type || !space) return {};
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) return {};
  const std::string matlab_class = text_attribute(dataset, "MATLAB_class");
  if (matlab_class == "char" || matlab_class == "cell") return {};
  if (H5Aexists(dataset, "MATLAB_empty") > 0) return {};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank != 1 && rank != 2) return {};
  hsize_t extent[2] = {0, 0};
  H5Sget_simple_extent_dims(space, extent, nullptr);
  Shape shape{1, extent[0], false, kind == H5T_FLOAT};
  if (rank == 2) {
    shape.transposed = !matlab_class.empty();
    shape.rows = extent[shape.transposed ? 1 : 0];
    shape.columns = extent[shape.transposed ? 0 : 1];
  }
  // MATLAB writes a lone number as a matrix; it is a parameter that was saved along.
  if (shape.transposed && shape.rows == 1 && shape.columns == 1) return {};
  return shape;
}

/// A damaged or hollow data set may claim any size; nothing is allocated before its bytes are
/// there.
void Hdf5Reader::check_stored(hid_t dataset, const Shape& shape, const std::string& path) const {
  const Hid type(H5Dget_type(dataset), H5Tclose);
  std::uint64_t elements = 0, announced = 0;
  if (__builtin_mul_overflow(shape.rows, shape.columns, &elements) ||
      __builtin_mul_overflow(elements, H5Tget_size(type), &announced)) {
    throw bad(path, "the data set is larger than any file");
  }
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(dataset), image_size_);
  if (elements > 0 && stored == 0) throw bad(path, "the data was never written");
  if (announced > kAlwaysUnpacked &&
      static_cast<double>(announced) > max_ratio_ * static_cast<double>(stored)) {
    throw bad(path,
              fmt::format("unpacks to more than {} times its size: {} bytes are announced, {} "
                          "are there; {} allows more",
                          max_ratio_, announced, stored, option("max_ratio")));
  }
}

StoredMatrix Hdf5Reader::read(const std::string& path) {
  const Hid dataset = open_hdf5_dataset(file_, path.c_str());
  const auto shape = dataset ? shape_of(dataset) : std::nullopt;
  if (!shape) throw bad(path, "the data set cannot be opened");
  if (stored_elsewhere(dataset))
    throw bad(path, "keeps its data in other files, which are not read");
  check_stored(dataset, *shape, path);
  StoredMatrix matrix{path, shape->rows, shape->columns, shape->transposed, {}};
  const auto fetch = [&]<typename T>(hid_t memory_type, T) {
    std::vector<T> data(shape->rows * shape->columns);
    if (H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) < 0) {
      throw bad(path, "the data is damaged or truncated: it cannot be read");
    }
    matrix.numbers = std::move(data);
  };
  // HDF5 clips what does not fit 32 bits, which stays out of every alphabet.
  if (shape->is_float) {
    fetch(H5T_NATIVE_DOUBLE, double{});
  } else {
    fetch(H5T_NATIVE_INT32, std::int32_t{});
  }
  return matrix;
}

std::vector<StoredMatrix> chosen_matrices(Hdf5Reader& reader, const std::string& file,
                                          const ReadOptions& options) {
  const std::vector<std::string> available = reader.matrices();
  std::vector<std::string> chosen = options.variables;
  if (chosen.empty() && available.size() == 1) chosen = available;
  if (chosen.empty()) throw choose_variable(file, "", available);
  std::vector<StoredMatrix> matrices;
  for (std::string name : chosen) {
    const std::string wanted = name;
    if (name.starts_with('/')) name.erase(0, 1);
    const auto known = [&] { return std::find(available.begin(), available.end(), name); };
    if (known() == available.end()) std::replace(name.begin(), name.end(), '.', '/');
    if (known() == available.end()) throw choose_variable(file, wanted, available);
    matrices.push_back(reader.read(name));
  }
  return matrices;
}

}  // namespace

SequenceSet hdf5_sequences(const std::string& bytes, const std::string& file,
                           const ReadOptions& options) {
  Hdf5Job job{bytes, file, options.max_ratio, {}};
  job.read = [&](hid_t root, WireWriter& out) {
    Hdf5Reader reader(root, job);
    put(out, chosen_matrices(reader, file, options));
  };
  std::vector<StoredMatrix> matrices;
  read_hdf5(job, [&](WireReader& in) { matrices = take_matrices(in); });
  return to_sequences(views(matrices), bytes.starts_with("MATLAB"), file, options);
}

SequenceSet read_hdf5_sequences(Input& input, const ReadOptions& options) {
  return hdf5_sequences(input.rest(), input.name(), options);
}

}  // namespace hqmm::detail

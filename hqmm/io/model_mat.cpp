// Model files as MATLAB v5: the same names as in HDF5, arrays in MATLAB's column-major order, so
// that squeeze(kraus(y, q, :, :)) is K[y−1][q−1].
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/arrays_wire.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/mat_handle.hpp"

namespace hqmm::detail {
namespace {

constexpr const char* kHeader =
    "MATLAB 5.0 MAT-file, written by hqmm";  // no date: same bytes every time

/// Calls visit(c_order_index, column_major_index) for every element.
template <typename Visit>
void for_each_element(const std::vector<std::size_t>& shape, Visit visit) {
  std::size_t count = 1;
  for (const std::size_t size : shape) count *= size;
  for (std::size_t c = 0; c < count; ++c) {
    std::size_t rest = c;
    std::size_t stride = count;
    std::size_t column_major = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      stride /= shape[axis];
      column_major += (rest % shape[axis]) * stride;
      rest /= shape[axis];
    }
    visit(c, column_major);
  }
}

class MatReader {
 public:
  MatReader(mat_t* mat, const std::string& file) : mat_(mat), file_(file) {}

  ModelArrays run() const {
    ModelArrays out;
    out.format = text("format");
    out.kind = text("kind");
    out.field = text("field");
    if (const auto variable = find("version")) {
      const NdArray value = numbers("version", *variable);
      if (value.values.size() == 1) out.version = static_cast<std::int64_t>(value.values[0].real());
    }
    for (const char* name : kArrayNames) {
      if (const auto variable = find(name)) out.arrays[name] = numbers(name, *variable);
    }
    restore_axes(out);
    out.alphabet = alphabet();
    if (const auto anchor = text("position_anchor")) out.position_anchor = *anchor;
    if (const auto json = text("provenance")) {
      const auto parsed = parse_json_or_discard(*json);
      if (!parsed.is_discarded()) out.provenance = json_text(parsed);
    }
    return out;
  }

 private:
  /// MATLAB drops trailing axes of length one: with n = 1 (s, w, n, n) comes as (s, w).
  static void restore_axes(ModelArrays& out) {
    const auto restore = [&out](const char* name, std::size_t rank) {
      const auto found = out.arrays.find(name);
      if (found == out.arrays.end()) return;
      while (found->second.shape.size() < rank) found->second.shape.push_back(1);
    };
    const auto state = out.arrays.find("initial_state");
    const bool one_state = state != out.arrays.end() && state->second.values.size() == 1;
    const std::size_t of_sets = one_state && out.arrays.contains("position_map") ? 1 : 0;
    restore("kraus", 4 + of_sets);
    restore("edges", 3);
    if (out.kind != "hqmm") return;  // an HMM's are matrices
    restore("transition", 3 + of_sets);
    restore("emission", 2 + of_sets);
  }

  [[nodiscard]] Error wrong(std::string_view name, std::string_view problem) const {
    return fail(ErrorCode::kBadData, Where{.file = file_, .item = fmt::format("'{}'", name)}, "{}",
                problem);
  }

  [[nodiscard]] MatVariable find(const char* name) const {
    MatVariable info(Mat_VarReadInfo(mat_, name));
    if (!info) return nullptr;
    std::size_t count = 1;
    for (int axis = 0; axis < info->rank; ++axis) {
      const std::size_t size = info->dims[axis];
      if (size != 0 && count > kMostElements / size) throw wrong(name, "is too large");
      count *= size;
    }
    MatVariable variable(Mat_VarRead(mat_, name));
    if (!variable || (count > 0 && variable->data == nullptr)) {
      throw wrong(name, "cannot be read: the file is truncated or damaged");
    }
    return variable;
  }

  [[nodiscard]] static std::string characters(const matvar_t& variable) {
    std::string out = units(variable);
    out.resize(out.find_last_not_of('\0') + 1);  // matio pads text that is not ASCII
    return out;
  }

  [[nodiscard]] static std::string units(const matvar_t& variable) {
    std::string out;
    if (variable.data == nullptr || variable.data_size <= 0) return out;
    const std::size_t count = variable.nbytes / static_cast<std::size_t>(variable.data_size);
    for (std::size_t i = 0; i < count; ++i) {
      if (variable.data_size == 2) {
        const std::uint16_t unit = static_cast<const std::uint16_t*>(variable.data)[i];
        out += unit < 0x80 ? static_cast<char>(unit) : '?';
      } else {
        out += static_cast<const char*>(variable.data)[i];
      }
    }
    return out;
  }

  [[nodiscard]] std::optional<std::string> text(const char* name) const {
    const MatVariable variable = find(name);
    if (!variable) return {};
    if (variable->class_type != MAT_C_CHAR) throw wrong(name, "expected text");
    return characters(*variable);
  }

  [[nodiscard]] std::optional<std::vector<std::string>> alphabet() const {
    const MatVariable variable = find("alphabet");
    if (!variable) return {};
    if (variable->class_type != MAT_C_CELL)
      throw wrong("alphabet", "expected a cell array of strings");
    std::vector<std::string> out;
    const std::size_t count = variable->data == nullptr ? 0 : variable->nbytes / sizeof(matvar_t*);
    for (std::size_t i = 0; i < count; ++i) {
      const matvar_t* cell = static_cast<matvar_t* const*>(variable->data)[i];
      if (cell == nullptr || cell->class_type != MAT_C_CHAR) {
        throw wrong("alphabet", "expected a cell array of strings");
      }
      out.push_back(characters(*cell));
    }
    return out;
  }

  [[nodiscard]] NdArray numbers(const char* name, const matvar_t& variable) const {
    NdArray out;
    out.shape.assign(variable.dims, variable.dims + variable.rank);
    out.is_complex = variable.isComplex != 0;
    const MatElementType element = mat_element_type(variable.class_type);
    if (element.load == nullptr || static_cast<std::size_t>(variable.data_size) != element.size) {
      throw wrong(name, "expected numbers");
    }
    std::size_t count = 1;
    for (const std::size_t size : out.shape) count *= size;
    if (variable.nbytes / element.size < count)
      throw wrong(name, "cannot be read: the file is truncated or damaged");
    out.values.resize(count);
    const void* re = variable.data;
    const void* im = nullptr;
    if (out.is_complex && count > 0) {
      const auto* split = static_cast<const mat_complex_split_t*>(variable.data);
      re = split->Re;
      im = split->Im;
      if (re == nullptr || im == nullptr) throw wrong(name, "expected numbers");
    }
    for_each_element(out.shape, [&](std::size_t c, std::size_t f) {
      out.values[c] = {element.load(re, f), im != nullptr ? element.load(im, f) : 0.0};
    });
    return out;
  }

  mat_t* mat_;
  const std::string& file_;
};

class MatWriter {
 public:
  explicit MatWriter(mat_t* mat) : mat_(mat) {}

  void run(const ModelArrays& arrays) const {
    put(text("format", *arrays.format));
    NdArray version{{1, 1}, {Complex(static_cast<double>(*arrays.version))}, false};
    numbers("version", version);
    put(text("kind", *arrays.kind));
    if (arrays.field) put(text("field", *arrays.field));
    for (const auto& [name, array] : arrays.arrays) numbers(name, array);
    if (arrays.arrays.contains("position_map"))
      put(text("position_anchor", arrays.position_anchor));
    alphabet(*arrays.alphabet);
    put(text("provenance", arrays.provenance));
  }

 private:
  void put(const MatVariable& variable) const {
    if (!variable || Mat_VarWrite(mat_, variable.get(), MAT_COMPRESSION_NONE) != 0) {
      throw fail(ErrorCode::kInternal, "matio could not build the model file in memory");
    }
  }

  [[nodiscard]] static MatVariable text(const char* name, const std::string& value) {
    std::size_t sizes[2] = {1, value.size()};
    return MatVariable(
        Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UTF8, 2, sizes, const_cast<char*>(value.data()), 0));
  }

  void alphabet(const std::vector<std::string>& tokens) const {
    std::vector<matvar_t*> cells;
    cells.reserve(tokens.size());
    for (const std::string& token : tokens) cells.push_back(text(nullptr, token).release());
    std::size_t sizes[2] = {1, cells.size()};
    put(MatVariable(Mat_VarCreate("alphabet", MAT_C_CELL, MAT_T_CELL, 2, sizes,
                                  static_cast<void*>(cells.data()), 0)));  // frees the cells
  }

  void numbers(const std::string& name, const NdArray& array) const {
    std::vector<std::size_t> sizes = array.shape;
    while (sizes.size() < 2) sizes.push_back(1);  // MATLAB has no vectors, only columns
    std::vector<double> re(array.values.size());
    std::vector<double> im(array.values.size());
    for_each_element(sizes, [&](std::size_t c, std::size_t f) {
      re[f] = array.values[c].real();
      im[f] = array.values[c].imag();
    });
    mat_complex_split_t split{re.data(), im.data()};
    void* data = array.is_complex ? static_cast<void*>(&split) : static_cast<void*>(re.data());
    put(MatVariable(Mat_VarCreate(name.c_str(), MAT_C_DOUBLE, MAT_T_DOUBLE,
                                  static_cast<int>(sizes.size()), sizes.data(), data,
                                  array.is_complex ? MAT_F_COMPLEX : 0)));
  }

  mat_t* mat_;
};

}  // namespace

ModelArrays read_mat_arrays(const std::string& bytes, const std::string& file) {
  ModelArrays arrays;
  read_mat5({bytes, file, kMaxRatio,
             [&](mat_t* mat, WireWriter& out) { put(out, MatReader(mat, file).run()); }},
            [&](WireReader& in) { arrays = take_model_arrays(in); });
  return arrays;
}

std::string write_mat_arrays(const ModelArrays& arrays) {
  silence_matio();
  const MemoryFile memory;
  {
    const MatFile mat(Mat_CreateVer(memory.path().c_str(), kHeader, MAT_FT_MAT5));
    if (!mat) throw fail(ErrorCode::kInternal, "matio could not start a file in memory");
    MatWriter(mat.get()).run(arrays);
  }
  return memory.bytes();
}

}  // namespace hqmm::detail

#include "hqmm/io/mat.hpp"

#include <algorithm>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/arrays_wire.hpp"
#include "hqmm/io/hdf5_sequences.hpp"
#include "hqmm/io/input.hpp"
#include "hqmm/io/mat_handle.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kUserBlock = 512;  // of a 7.3 file, before the HDF5 superblock
constexpr int kDeepestStruct = 16;

/// Of symbols: a lone number is a parameter that was saved along.
bool is_matrix(const matvar_t& variable) {
  return mat_element_type(variable.class_type).load != nullptr && variable.rank == 2 &&
         variable.dims != nullptr && variable.isComplex == 0 && variable.dims[0] > 0 &&
         variable.dims[1] > 0 && (variable.dims[0] > 1 || variable.dims[1] > 1);
}

bool is_single_struct(const matvar_t& variable) {
  return variable.class_type == MAT_C_STRUCT && variable.rank == 2 && variable.dims != nullptr &&
         variable.dims[0] == 1 && variable.dims[1] == 1;
}

/// Appends the dotted names of the matrices in a variable.
void list_matrices(matvar_t& variable, const std::string& name, int depth,
                   std::vector<std::string>& names) {
  if (is_matrix(variable)) names.push_back(name);
  if (!is_single_struct(variable) || depth == kDeepestStruct) return;
  const unsigned count = Mat_VarGetNumberOfFields(&variable);
  char* const* const fields = Mat_VarGetStructFieldnames(&variable);
  for (unsigned i = 0; fields != nullptr && i < count; ++i) {
    matvar_t* const field = Mat_VarGetStructFieldByIndex(&variable, i, 0);
    if (field == nullptr || fields[i] == nullptr) continue;
    list_matrices(*field, name + "." + fields[i], depth + 1, names);
  }
}

std::vector<std::string> list_matrices(mat_t* file) {
  std::vector<std::string> names;
  Mat_Rewind(file);
  for (;;) {
    const MatVariable variable(Mat_VarReadNextInfo(file));
    if (!variable) return names;
    if (variable->name != nullptr) list_matrices(*variable, variable->name, 0, names);
  }
}

/// The numbers of a variable that has been found sound. Those of 32 bits and less stay whole.
StoredMatrix copy_matrix(const matvar_t& variable, const std::string& name) {
  StoredMatrix out{name, variable.dims[0], variable.dims[1], true, {}};
  const MatElementType type = mat_element_type(variable.class_type);
  const std::size_t count = out.rows * out.columns;
  const auto copy = [&]<typename T>(T) {
    std::vector<T> numbers(count);
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] = static_cast<T>(type.load(variable.data, i));
    out.numbers = std::move(numbers);
  };
  const bool fits = type.size < 4 || variable.class_type == MAT_C_INT32;
  if (fits) {
    copy(std::int32_t{});
  } else {
    copy(double{});
  }
  return out;
}

StoredMatrix read_matrix(mat_t* file, const std::string& name, const std::string& file_name) {
  const std::string top = name.substr(0, name.find('.'));
  Mat_Rewind(file);
  const MatVariable owner(Mat_VarRead(file, top.c_str()));
  matvar_t* variable = owner.get();
  for (std::size_t at = top.size(); variable != nullptr && at < name.size();) {
    const std::size_t end = std::min(name.find('.', at + 1), name.size());
    const std::string field = name.substr(at + 1, end - at - 1);
    variable = is_single_struct(*variable) ? Mat_VarGetStructFieldByName(variable, field.c_str(), 0)
                                           : nullptr;
    at = end;
  }
  const Where where{.file = file_name, .item = "variable '" + printable(name) + "'"};
  if (variable == nullptr || !is_matrix(*variable)) {
    throw fail(ErrorCode::kBadData, where, "the data is damaged or truncated: it cannot be read");
  }
  const MatElementType type = mat_element_type(variable->class_type);
  std::size_t elements = 0, bytes = 0;
  const bool overflow = __builtin_mul_overflow(variable->dims[0], variable->dims[1], &elements) ||
                        __builtin_mul_overflow(elements, type.size, &bytes);
  if (overflow || variable->data == nullptr || variable->nbytes < bytes ||
      variable->data_size != static_cast<int>(type.size)) {
    throw fail(ErrorCode::kBadData, where, "the data is damaged or truncated: it cannot be read");
  }
  return copy_matrix(*variable, name);
}

std::vector<StoredMatrix> chosen_matrices(mat_t* file, const std::string& name,
                                          const ReadOptions& options) {
  const std::vector<std::string> available = list_matrices(file);
  std::vector<std::string> chosen = options.variables;
  if (chosen.empty() && available.size() == 1) chosen = available;
  if (chosen.empty()) throw choose_variable(name, "", available);
  std::vector<StoredMatrix> matrices;
  for (const std::string& wanted : chosen) {
    if (std::find(available.begin(), available.end(), wanted) == available.end()) {
      throw choose_variable(name, wanted, available);
    }
    matrices.push_back(read_matrix(file, wanted, name));
  }
  return matrices;
}

}  // namespace

SequenceSet read_mat(Input& input, const ReadOptions& options) {
  const std::string bytes = input.rest();
  const std::string& name = input.name();
  if (bytes.starts_with(kHdf5Magic) ||
      (bytes.size() > kUserBlock &&
       std::string_view(bytes).substr(kUserBlock).starts_with(kHdf5Magic))) {
    return hdf5_sequences(bytes, name, options);
  }
  std::vector<StoredMatrix> matrices;
  read_mat5({bytes, name, options.max_ratio,
             [&](mat_t* file, WireWriter& out) { put(out, chosen_matrices(file, name, options)); }},
            [&](WireReader& in) { matrices = take_matrices(in); });
  return to_sequences(views(matrices), true, name, options);
}

}  // namespace hqmm::detail

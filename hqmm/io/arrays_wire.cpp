#include "hqmm/io/arrays_wire.hpp"

#include <variant>

namespace hqmm::detail {
namespace {

/// Throws unless the product of the sizes is `count`.
void require_count(const std::vector<std::size_t>& shape, std::size_t count) {
  std::size_t product = 1;
  for (const std::size_t size : shape) {
    if (__builtin_mul_overflow(product, size, &product)) throw WireFault();
  }
  if (product != count) throw WireFault();
}

}  // namespace

void put(WireWriter& out, const NdArray& array) {
  out.numbers(array.shape);
  out.number(std::uint8_t{array.is_complex});
  out.numbers(array.values);
}

NdArray take_array(WireReader& in) {
  NdArray out;
  out.shape = in.numbers<std::size_t>();
  out.is_complex = in.flag();
  out.values = in.numbers<Complex>();
  require_count(out.shape, out.values.size());
  return out;
}

void put(WireWriter& out, const ModelArrays& arrays) {
  out.optional_text(arrays.format);
  out.number(std::uint8_t{arrays.version.has_value()});
  out.number(arrays.version.value_or(0));
  out.optional_text(arrays.kind);
  out.number(std::uint64_t{arrays.arrays.size()});
  for (const auto& [name, array] : arrays.arrays) {
    out.text(name);
    put(out, array);
  }
  out.number(std::uint8_t{arrays.alphabet.has_value()});
  out.texts(arrays.alphabet.value_or(std::vector<std::string>()));
  out.text(arrays.position_anchor);
  out.text(arrays.provenance);
  out.optional_text(arrays.field);
}

ModelArrays take_model_arrays(WireReader& in) {
  ModelArrays out;
  out.format = in.optional_text();
  const bool has_version = in.flag();
  const auto version = in.number<std::int64_t>();
  if (has_version) out.version = version;
  out.kind = in.optional_text();
  for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
    std::string name = in.text();
    out.arrays[std::move(name)] = take_array(in);
  }
  const bool has_alphabet = in.flag();
  std::vector<std::string> alphabet = in.texts();
  if (has_alphabet) out.alphabet = std::move(alphabet);
  out.position_anchor = in.text();
  out.provenance = in.text();
  out.field = in.optional_text();
  return out;
}

void put(WireWriter& out, const std::vector<StoredMatrix>& matrices) {
  out.number(std::uint64_t{matrices.size()});
  for (const StoredMatrix& matrix : matrices) {
    out.text(matrix.name);
    out.number(std::uint64_t{matrix.rows});
    out.number(std::uint64_t{matrix.columns});
    out.number(std::uint8_t{matrix.by_columns});
    out.number(std::uint8_t{std::holds_alternative<std::vector<double>>(matrix.numbers)});
    std::visit([&](const auto& numbers) { out.numbers(numbers); }, matrix.numbers);
  }
}

std::vector<StoredMatrix> take_matrices(WireReader& in) {
  std::vector<StoredMatrix> out;
  for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
    StoredMatrix matrix;
    matrix.name = in.text();
    matrix.rows = in.number<std::uint64_t>();
    matrix.columns = in.number<std::uint64_t>();
    matrix.by_columns = in.flag();
    if (in.flag()) {
      matrix.numbers = in.numbers<double>();
    } else {
      matrix.numbers = in.numbers<std::int32_t>();
    }
    const std::size_t count =
        std::visit([](const auto& numbers) { return numbers.size(); }, matrix.numbers);
    require_count({matrix.rows, matrix.columns}, count);
    out.push_back(std::move(matrix));
  }
  return out;
}

}  // namespace hqmm::detail

// Model files as JSON: the same names as in HDF5. Kraus operators and states of a complex model
// have numbers [re, im]; those of a real model and everything else have plain ones.
//
//   {"format": "hqmm-model", "version": 1, "kind": "hqmm", "kraus": [[[[[re, im], …]]]], …}
#include <nlohmann/json.hpp>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_arrays.hpp"

namespace hqmm::detail {
namespace {

using Json = nlohmann::json;

class JsonReader {
 public:
  JsonReader(Json root, const std::string& file) : root_(std::move(root)), file_(file) {}

  ModelArrays run() const {
    ModelArrays out;
    out.format = text("format");
    out.kind = text("kind");
    out.field = text("field");
    if (const auto found = root_.find("version"); found != root_.end()) {
      if (!found->is_number_integer()) throw wrong("version", "an integer");
      out.version = found->get<std::int64_t>();
    }
    for (const char* name : kArrayNames) {
      // The names the peers' true-model files use are read as well.
      for (const std::string& key : {std::string(name), std::string(name) + "_column_stochastic"}) {
        if (const auto found = root_.find(key); found != root_.end())
          out.arrays[name] = array(key, *found, has_pairs(key, *found, out));
      }
    }
    if (const auto found = root_.find("alphabet"); found != root_.end())
      out.alphabet = tokens(*found);
    if (const auto anchor = text("position_anchor")) out.position_anchor = *anchor;
    if (const auto found = root_.find("provenance"); found != root_.end())
      out.provenance = json_text(*found);
    return out;
  }

 private:
  [[nodiscard]] Error wrong(const std::string& name, std::string_view expected) const {
    return fail(ErrorCode::kBadData, Where{.file = file_, .item = fmt::format("'{}'", name)},
                "expected {}", expected);
  }

  [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
    const auto found = root_.find(name);
    if (found == root_.end()) return {};
    if (!found->is_string()) throw wrong(name, "a string");
    return found->get<std::string>();
  }

  [[nodiscard]] std::vector<std::string> tokens(const Json& value) const {
    std::vector<std::string> out;
    if (!value.is_array()) throw wrong("alphabet", "a list of strings");
    for (const Json& token : value) {
      if (!token.is_string()) throw wrong("alphabet", "a list of strings");
      out.push_back(token.get<std::string>());
    }
    return out;
  }

  /// Whether the innermost lists are numbers [re, im]. An HMM has a `transition`, too.
  [[nodiscard]] bool has_pairs(const std::string& name, const Json& value,
                               const ModelArrays& header) const {
    if (header.field == kRealField) return false;
    if (name == "kraus" || name == "initial_state") return true;
    if (name != "transition") return false;
    return header.kind ? *header.kind == "hqmm" : sizes(name, value).size() > 2;
  }

  /// The lengths of the first lists at every depth.
  [[nodiscard]] std::vector<std::size_t> sizes(const std::string& name, const Json& value) const {
    std::vector<std::size_t> out;
    const Json* inner = &value;
    while (inner->is_array()) {
      if (inner->empty()) throw wrong(name, "no empty list");
      out.push_back(inner->size());
      inner = &inner->front();
    }
    return out;
  }

  [[nodiscard]] NdArray array(const std::string& name, const Json& value, bool is_complex) const {
    NdArray out;
    out.is_complex = is_complex;
    out.shape = sizes(name, value);
    if (out.is_complex) {
      if (out.shape.empty() || out.shape.back() != 2)
        throw wrong(name, "complex numbers as [re, im]");
      out.shape.pop_back();
    }
    append(name, value, out, 0);
    return out;
  }

  void append(const std::string& name, const Json& value, NdArray& out, std::size_t depth) const {
    if (depth == out.shape.size()) {
      out.values.push_back(number(name, value, out.is_complex));
      return;
    }
    if (!value.is_array() || value.size() != out.shape[depth]) {
      throw wrong(name, "a rectangular array of numbers " + out.shape_text());
    }
    for (const Json& part : value) append(name, part, out, depth + 1);
  }

  [[nodiscard]] Complex number(const std::string& name, const Json& value, bool is_complex) const {
    if (!is_complex) {
      if (!value.is_number()) throw wrong(name, "numbers");
      return value.get<double>();
    }
    if (!value.is_array() || value.size() != 2 || !value[0].is_number() || !value[1].is_number()) {
      throw wrong(name, "complex numbers as [re, im]");
    }
    return {value[0].get<double>(), value[1].get<double>()};
  }

  const Json root_;
  const std::string& file_;
};

Json nested(const NdArray& array, std::size_t depth, std::size_t& next) {
  if (depth == array.shape.size()) {
    const Complex value = array.values[next++];
    return array.is_complex ? Json::array({value.real(), value.imag()}) : Json(value.real());
  }
  Json out = Json::array();
  for (std::size_t i = 0; i < array.shape[depth]; ++i)
    out.push_back(nested(array, depth + 1, next));
  return out;
}

}  // namespace

ModelArrays read_json_arrays(const std::string& bytes, const std::string& file) {
  return JsonReader(parse_json(bytes, Where{.file = file}), file).run();
}

std::string write_json_arrays(const ModelArrays& arrays) {
  require_utf8(*arrays.alphabet, "write the model as .h5");
  nlohmann::ordered_json root;
  root["format"] = *arrays.format;
  root["version"] = *arrays.version;
  root["kind"] = *arrays.kind;
  if (arrays.field) root["field"] = *arrays.field;
  root["alphabet"] = *arrays.alphabet;
  for (const auto& [name, array] : arrays.arrays) {
    std::size_t next = 0;
    root[name] = nested(array, 0, next);
  }
  if (arrays.arrays.contains("position_map")) root["position_anchor"] = arrays.position_anchor;
  root["provenance"] = parse_json(arrays.provenance);
  return root.dump(1) + "\n";
}

}  // namespace hqmm::detail

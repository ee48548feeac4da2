#include "hqmm/io/model_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/json_text.hpp"

namespace hqmm::detail {
namespace {

class Assembler {
 public:
  Assembler(const ModelArrays& arrays, const std::string& file, const std::string& place)
      : arrays_(arrays), file_(file), place_(place) {}

  ModelFile run() const {
    check_header();
    ModelFile out;
    const std::string kind = this->kind();
    try {
      if (kind == "hqmm") {
        Hqmm model = hqmm();
        require_valid(model);
        out.model = std::move(model);
      } else if (kind == "hmm" && find("edges") != nullptr) {
        EdgeHmm model = edge_hmm();
        require_valid(model);
        out.model = std::move(model);
      } else if (kind == "hmm") {
        Hmm model = hmm();
        require_valid(model);
        out.model = std::move(model);
      } else if (kind == "classifier") {
        throw fail(ErrorCode::kBadData, "is a classifier, one model per class")
            .in(Situation::kClassifierFile);
      } else {
        throw fail(ErrorCode::kBadData,
                   "a model of kind '{}' cannot be used here (expected hqmm or hmm)",
                   printable(kind));
      }
    } catch (const Error& error) {  // validity checks do not know the file
      if (!error.where().file.empty()) throw;
      throw error.at(Where{.file = file_, .item = place_});
    }
    out.provenance = arrays_.provenance;
    return out;
  }

 private:
  [[nodiscard]] Where at(std::string_view name) const {
    return Where{.file = file_,
                 .item = fmt::format("{}{}'{}'", place_, place_.empty() ? "" : ": ", name)};
  }

  void check_header() const {
    if (arrays_.format && *arrays_.format != kModelFormat) {
      throw fail(ErrorCode::kBadData, at("format"), "expected \"{}\", found \"{}\"", kModelFormat,
                 printable(*arrays_.format));
    }
    if (arrays_.version && !is_known_version(*arrays_.version))
      throw fail(ErrorCode::kBadData, at("version"), "{}", unknown_version(arrays_.version));
    if (arrays_.field && arrays_.field != kRealField && arrays_.field != kComplexField) {
      throw fail(ErrorCode::kBadData, at("field"), "expected real or complex, found '{}'",
                 printable(*arrays_.field));
    }
    if (field() == Field::kReal) require_structured("field", "a real model");
  }

  void require_structured(std::string_view name, std::string_view what) const {
    if (arrays_.version.value_or(kStructuredVersion) == kStructuredVersion) return;
    throw fail(ErrorCode::kBadData, at(name), "{} is of version {}, the file has version {}", what,
               kStructuredVersion, *arrays_.version);
  }

  [[nodiscard]] Field field() const {
    return arrays_.field == kRealField ? Field::kReal : Field::kComplex;
  }

  [[nodiscard]] std::string kind() const {
    if (arrays_.kind) return *arrays_.kind;
    if (find("kraus") != nullptr) return "hqmm";
    const NdArray* transition = find("transition");
    if (transition != nullptr && transition->shape.size() > 2) return "hqmm";
    if (transition != nullptr || find("edges") != nullptr) return "hmm";
    throw fail(
        ErrorCode::kBadData, Where{.file = file_},
        "this is not a model: expected an array 'kraus' (HQMM) or 'transition' or 'edges' (HMM)");
  }

  [[nodiscard]] const NdArray* find(const std::string& name) const {
    const auto found = arrays_.arrays.find(name);
    return found == arrays_.arrays.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const NdArray& need(const std::string& name) const {
    if (const NdArray* array = find(name)) return *array;
    throw fail(ErrorCode::kBadData, at(name), "missing");
  }

  [[nodiscard]] Error wrong_shape(const std::string& name, const NdArray& array,
                                  std::string_view expected) const {
    return fail(ErrorCode::kBadData, at(name), "has shape {}, expected {}", array.shape_text(),
                expected);
  }

  void require_shape(const std::string& name, const NdArray& array, bool right_rank,
                     std::string_view expected) const {
    if (!right_rank) throw wrong_shape(name, array, expected);
    if (std::find(array.shape.begin(), array.shape.end(), std::size_t{0}) != array.shape.end()) {
      throw fail(ErrorCode::kBadData, at(name), "has shape {}: no size may be zero",
                 array.shape_text());
    }
  }

  [[nodiscard]] RealMatrix real_matrix(const std::string& name, const char* expected) const {
    const NdArray& array = need(name);
    require_shape(name, array, array.shape.size() == 2, expected);
    return real_block(name, 0, array.shape[0], array.shape[1]);
  }

  /// rows × columns numbers of an array, from number `begin` on.
  [[nodiscard]] RealMatrix real_block(const std::string& name, std::size_t begin, std::size_t rows,
                                      std::size_t columns) const {
    const NdArray& array = need(name);
    RealMatrix out(static_cast<Index>(rows), static_cast<Index>(columns));
    for (std::size_t k = 0; k < rows * columns; ++k) {
      out(static_cast<Index>(k / columns), static_cast<Index>(k % columns)) =
          real(name, array.values[begin + k]);
    }
    return out;
  }

  [[nodiscard]] RealVector real_vector(const std::string& name) const {
    const NdArray& array = need(name);
    const bool flat = array.shape.size() == 1 ||
                      (array.shape.size() == 2 && std::min(array.shape[0], array.shape[1]) == 1);
    require_shape(name, array, flat, "(n)");
    RealVector out(static_cast<Index>(array.values.size()));
    for (Index k = 0; k < out.size(); ++k)
      out(k) = real(name, array.values[static_cast<std::size_t>(k)]);
    return out;
  }

  [[nodiscard]] double real(const std::string& name, Complex value) const {
    if (value.imag() != 0.0) {
      throw fail(ErrorCode::kBadData, at(name), "holds complex numbers, expected real ones");
    }
    return value.real();
  }

  [[nodiscard]] Alphabet alphabet(std::size_t size) const {
    if (!arrays_.alphabet) return Alphabet::integers(size);
    try {
      return Alphabet::from_tokens(*arrays_.alphabet);
    } catch (const Error& error) {
      throw error.as(ErrorCode::kBadData).at(at("alphabet"));
    }
  }

  [[nodiscard]] Hqmm hqmm() const {
    const bool on_states = find("transition") != nullptr || find("emission") != nullptr;
    if (on_states) require_on_states();
    Hqmm model;
    model.field = field();
    model.sets = on_states ? state_sets() : edge_sets();
    model.alphabet = alphabet(static_cast<std::size_t>(model.alphabet_size()));
    model.positions = position_map(model.sets.size());
    model.initial_state = initial_state(static_cast<std::size_t>(model.latent_dim()));
    return model;
  }

  void require_on_states() const {
    const char* name = find("transition") != nullptr ? "transition" : "emission";
    if (find("kraus") != nullptr) {
      throw fail(ErrorCode::kBadData, at(name),
                 "cannot be combined with 'kraus': expected one or the other");
    }
    require_structured(name, "an HQMM that emits on its states");
  }

  /// The shape with the number of sets in front, 1 where the array has no such axis.
  [[nodiscard]] std::vector<std::size_t> shape_by_sets(const std::string& name, std::size_t rank,
                                                       std::string_view expected) const {
    const NdArray& array = need(name);
    std::vector<std::size_t> shape = array.shape;
    require_shape(name, array, shape.size() == rank || shape.size() == rank + 1, expected);
    if (shape.size() == rank) shape.insert(shape.begin(), 1);
    return shape;
  }

  void require_square(const std::string& name, const std::vector<std::size_t>& shape) const {
    if (shape.back() == shape[shape.size() - 2]) return;
    throw fail(ErrorCode::kBadData, at(name), "has shape {}: the last two sizes must be equal",
               need(name).shape_text());
  }

  void require_few_symbols(const std::string& name, std::size_t s) const {
    if (s <= kMaxAlphabet) return;
    throw fail(ErrorCode::kBadData, at(name), "has {} symbols, at most {} are supported", s,
               kMaxAlphabet);
  }

  [[nodiscard]] std::vector<KrausSet> edge_sets() const {
    const auto shape = shape_by_sets("kraus", 4, "(s, w, n, n) or (sets, s, w, n, n)");
    const std::size_t sets = shape[0], s = shape[1], w = shape[2], n = shape[3];
    require_square("kraus", shape);
    require_few_symbols("kraus", s);
    std::vector<KrausSet> out;
    out.reserve(sets);
    const auto rows = static_cast<Index>(s * w * n);
    for (std::size_t i = 0; i < sets; ++i) {
      const Complex* begin = need("kraus").values.data() + i * s * w * n * n;
      out.emplace_back(static_cast<Index>(s), static_cast<Index>(w),
                       Eigen::Map<const Stack>(begin, rows, static_cast<Index>(n)));
    }
    return out;
  }

  [[nodiscard]] std::vector<KrausSet> state_sets() const {
    const auto shape = shape_by_sets("transition", 3, "(w, n, n) or (sets, w, n, n)");
    const std::size_t sets = shape[0], w = shape[1], n = shape[2];
    require_square("transition", shape);
    const auto of_emission = shape_by_sets("emission", 2, "(s, n) or (sets, s, n)");
    const std::size_t s = of_emission[1];
    if (of_emission[0] != sets || of_emission[2] != n) {
      throw wrong_shape(
          "emission", need("emission"),
          sets == 1 ? fmt::format("(s, {})", n) : fmt::format("({}, s, {})", sets, n));
    }
    require_few_symbols("emission", s);
    std::vector<KrausSet> out;
    out.reserve(sets);
    for (std::size_t i = 0; i < sets; ++i) {
      const Complex* begin = need("transition").values.data() + i * w * n * n;
      out.emplace_back(
          Eigen::Map<const Stack>(begin, static_cast<Index>(w * n), static_cast<Index>(n)),
          real_block("emission", i * s * n, s, n));
    }
    return out;
  }

  [[nodiscard]] Matrix initial_state(std::size_t n) const {
    const NdArray* array = find("initial_state");
    if (array == nullptr) return maximally_mixed(static_cast<Index>(n));
    require_shape("initial_state", *array, array->shape.size() == 2, "(n, n)");
    return Eigen::Map<const Stack>(array->values.data(), static_cast<Index>(array->shape[0]),
                                   static_cast<Index>(array->shape[1]));
  }

  [[nodiscard]] PositionMap position_map(std::size_t sets) const {
    PositionMap::Anchor anchor = PositionMap::Anchor::kStart;
    if (arrays_.position_anchor == "end") {
      anchor = PositionMap::Anchor::kEnd;
    } else if (arrays_.position_anchor != "start") {
      throw fail(ErrorCode::kBadData, at("position_anchor"), "expected start or end, found '{}'",
                 printable(arrays_.position_anchor));
    }
    const NdArray* array = find("position_map");
    if (array == nullptr) return PositionMap::each(sets, anchor);
    std::vector<std::uint32_t> entries;
    for (const Complex value : array->values) {
      const double set = value.real();
      if (!(set >= 0.0 && set < static_cast<double>(sets)) || set != std::floor(set)) {
        throw fail(ErrorCode::kBadData, at("position_map"),
                   "names set {}, the model has sets 0..{}", set, sets - 1);
      }
      entries.push_back(static_cast<std::uint32_t>(set));
    }
    if (entries.empty()) throw fail(ErrorCode::kBadData, at("position_map"), "is empty");
    return PositionMap(std::move(entries), anchor);
  }

  [[nodiscard]] Hmm hmm() const {
    Hmm model;
    model.transition = real_matrix("transition", "(n, n)");
    model.emission = real_matrix("emission", "(s, n)");
    require_few_symbols("emission", static_cast<std::size_t>(model.emission.rows()));
    model.alphabet = alphabet(static_cast<std::size_t>(model.emission.rows()));
    model.initial = initial(model.transition.rows());
    return model;
  }

  [[nodiscard]] EdgeHmm edge_hmm() const {
    for (const char* other : {"transition", "emission"}) {
      if (find(other) != nullptr)
        throw fail(ErrorCode::kBadData, at(other),
                   "cannot be combined with 'edges': expected one or the other");
    }
    const NdArray& array = need("edges");
    require_shape("edges", array, array.shape.size() == 3 && array.shape[1] == array.shape[2],
                  "(s, n, n)");
    const std::size_t s = array.shape[0], n = array.shape[1];
    require_few_symbols("edges", s);
    EdgeHmm model;
    model.edges.assign(s, RealMatrix(static_cast<Index>(n), static_cast<Index>(n)));
    for (std::size_t k = 0; k < array.values.size(); ++k) {
      model.edges[k / (n * n)](static_cast<Index>(k / n % n), static_cast<Index>(k % n)) =
          real("edges", array.values[k]);
    }
    model.alphabet = alphabet(s);
    model.initial = initial(static_cast<Index>(n));
    return model;
  }

  /// Uniform when absent.
  [[nodiscard]] RealVector initial(Index n) const {
    if (find("initial") != nullptr) return real_vector("initial");
    return RealVector::Constant(n, 1.0 / static_cast<double>(n));
  }

  const ModelArrays& arrays_;
  const std::string& file_;
  const std::string& place_;
};

NdArray from_real(const RealMatrix& matrix) {
  NdArray out{{static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols())},
              {},
              false};
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) out.values.emplace_back(matrix(i, j));
  }
  return out;
}

void put(ModelArrays& out, const Hmm& model) {
  out.kind = "hmm";
  out.arrays["transition"] = from_real(model.transition);
  out.arrays["emission"] = from_real(model.emission);
  out.arrays["initial"] = from_real(model.initial);
  out.arrays["initial"].shape.pop_back();
}

void put(ModelArrays& out, const EdgeHmm& model) {
  out.kind = "hmm";
  const auto n = static_cast<std::size_t>(model.latent_dim());
  NdArray edges{{model.edges.size(), n, n}, {}, false};
  for (const RealMatrix& edge : model.edges) {
    const NdArray one = from_real(edge);
    edges.values.insert(edges.values.end(), one.values.begin(), one.values.end());
  }
  out.arrays["edges"] = std::move(edges);
  out.arrays["initial"] = from_real(model.initial);
  out.arrays["initial"].shape.pop_back();
}

/// Γ of every set, or V: an array of its own beside C.
NdArray stacks_of(const Hqmm& model) {
  const auto n = static_cast<std::size_t>(model.latent_dim());
  NdArray out{
      {static_cast<std::size_t>(model.kraus_rank()), n, n}, {}, model.field == Field::kComplex};
  if (model.emits_on() == EmissionKind::kEdge)
    out.shape.insert(out.shape.begin(), static_cast<std::size_t>(model.alphabet_size()));
  for (const KrausSet& set : model.sets) {
    const Stack& stack = set.stack();
    out.values.insert(out.values.end(), stack.data(), stack.data() + stack.size());
  }
  return out;
}

NdArray emissions_of(const Hqmm& model) {
  NdArray out = from_real(model.sets.front().emission());
  for (std::size_t i = 1; i < model.sets.size(); ++i) {
    const NdArray one = from_real(model.sets[i].emission());
    out.values.insert(out.values.end(), one.values.begin(), one.values.end());
  }
  return out;
}

void put(ModelArrays& out, const Hqmm& model) {
  out.kind = "hqmm";
  const bool complex = model.field == Field::kComplex;
  if (model.emits_on() == EmissionKind::kEdge) {
    out.arrays["kraus"] = stacks_of(model);
  } else {
    out.arrays["transition"] = stacks_of(model);
    out.arrays["emission"] = emissions_of(model);
  }
  if (!complex || model.emits_on() == EmissionKind::kState) {
    out.version = kStructuredVersion;
    out.field = complex ? kComplexField : kRealField;
  }
  const bool stationary = model.sets.size() == 1 && model.positions.stationary();
  if (!stationary) {
    for (auto& [name, array] : out.arrays)
      array.shape.insert(array.shape.begin(), model.sets.size());
    NdArray map{{model.positions.entries().size()}, {}, false};
    for (const std::uint32_t set : model.positions.entries()) map.values.emplace_back(set);
    out.arrays["position_map"] = std::move(map);
    const bool from_end = model.positions.anchor() == PositionMap::Anchor::kEnd;
    out.position_anchor = from_end ? "end" : "start";
  }
  const auto n = static_cast<std::size_t>(model.latent_dim());
  const Stack state = model.initial_state;
  out.arrays["initial_state"] = {{n, n}, {state.data(), state.data() + state.size()}, complex};
}

}  // namespace

std::string NdArray::shape_text() const {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    out += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return out + ")";
}

bool is_known_version(std::int64_t version) {
  return version == kPlainVersion || version == kStructuredVersion;
}

std::string unknown_version(std::optional<std::int64_t> version) {
  return fmt::format("this hqmm reads versions {} and {}, the file has {}", kPlainVersion,
                     kStructuredVersion, version ? fmt::format("version {}", *version) : "none");
}

ModelFile assemble(const ModelArrays& arrays, const std::string& file, const std::string& place) {
  return Assembler(arrays, file, place).run();
}

ModelArrays disassemble(const ModelFile& file) {
  ModelArrays out;
  out.format = kModelFormat;
  out.version = kPlainVersion;
  out.alphabet = alphabet_of(file.model).all_tokens();
  out.provenance = canonical_json(file.provenance);
  std::visit([&out](const auto& model) { put(out, model); }, file.model);
  return out;
}

}  // namespace hqmm::detail

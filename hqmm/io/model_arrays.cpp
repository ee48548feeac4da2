#include "hqmm/io/model_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/io/json_text.hpp"
#include "hqmm/io/place.hpp"

namespace hqmm {
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
      throw error.at(in_item(file_, place_));
    }
    out.provenance = arrays_.provenance;
    return out;
  }

 private:
  [[nodiscard]] Where at(std::string_view name) const {
    return in_item(file_, fmt::format("{}{}'{}'", place_, place_.empty() ? "" : ": ", name));
  }

  void check_header() const {
    if (arrays_.format && *arrays_.format != kModelFormat) {
      throw fail(ErrorCode::kBadData, at("format"), "expected \"{}\", found \"{}\"", kModelFormat,
                 printable(*arrays_.format));
    }
    if (arrays_.version && *arrays_.version != kModelVersion) {
      throw fail(ErrorCode::kBadData, at("version"),
                 "this hqmm reads version {}, the file has version {}", kModelVersion,
                 *arrays_.version);
    }
  }

  [[nodiscard]] std::string kind() const {
    if (arrays_.kind) return *arrays_.kind;
    if (arrays_.arrays.contains("kraus")) return "hqmm";
    if (arrays_.arrays.contains("transition") || arrays_.arrays.contains("edges")) return "hmm";
    throw fail(
        ErrorCode::kBadData, in_file(file_),
        "this is no model: expected an array 'kraus' (HQMM) or 'transition' or 'edges' (HMM)");
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
    const std::size_t columns = array.shape[1];
    RealMatrix out(static_cast<Index>(array.shape[0]), static_cast<Index>(columns));
    for (std::size_t k = 0; k < array.values.size(); ++k) {
      out(static_cast<Index>(k / columns), static_cast<Index>(k % columns)) =
          real(name, array.values[k]);
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
    const NdArray& kraus = need("kraus");
    const std::size_t rank = kraus.shape.size();
    require_shape("kraus", kraus, rank == 4 || rank == 5, "(s, w, n, n) or (sets, s, w, n, n)");
    auto shape = kraus.shape;
    if (rank == 4) shape.insert(shape.begin(), 1);
    const std::size_t sets = shape[0], s = shape[1], w = shape[2], n = shape[3];
    if (shape[4] != n) {
      throw fail(ErrorCode::kBadData, at("kraus"), "has shape {}: the last two sizes must be equal",
                 kraus.shape_text());
    }
    if (s > kMaxAlphabet) {
      throw fail(ErrorCode::kBadData, at("kraus"), "has {} symbols, at most {} are supported", s,
                 kMaxAlphabet);
    }
    Hqmm model;
    const auto rows = static_cast<Index>(s * w * n);
    for (std::size_t i = 0; i < sets; ++i) {
      const Complex* begin = kraus.values.data() + i * s * w * n * n;
      model.sets.emplace_back(static_cast<Index>(s), static_cast<Index>(w),
                              Eigen::Map<const Stack>(begin, rows, static_cast<Index>(n)));
    }
    model.alphabet = alphabet(s);
    model.positions = position_map(sets);
    model.initial_state = initial_state(n);
    return model;
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
    if (model.emission.rows() > static_cast<Index>(kMaxAlphabet)) {
      throw fail(ErrorCode::kBadData, at("emission"), "has {} symbols, at most {} are supported",
                 model.emission.rows(), kMaxAlphabet);
    }
    model.alphabet = alphabet(static_cast<std::size_t>(model.emission.rows()));
    model.initial = initial(model.transition.rows());
    return model;
  }

  [[nodiscard]] EdgeHmm edge_hmm() const {
    for (const char* other : {"transition", "emission"}) {
      if (find(other) != nullptr)
        throw fail(ErrorCode::kBadData, at(other),
                   "does not go with 'edges': expected one or the other");
    }
    const NdArray& array = need("edges");
    require_shape("edges", array, array.shape.size() == 3 && array.shape[1] == array.shape[2],
                  "(s, n, n)");
    const std::size_t s = array.shape[0], n = array.shape[1];
    if (s > kMaxAlphabet) {
      throw fail(ErrorCode::kBadData, at("edges"), "has {} symbols, at most {} are supported", s,
                 kMaxAlphabet);
    }
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

void put(ModelArrays& out, const Hqmm& model) {
  out.kind = "hqmm";
  const auto n = static_cast<std::size_t>(model.latent_dim());
  NdArray kraus{{static_cast<std::size_t>(model.alphabet_size()),
                 static_cast<std::size_t>(model.kraus_rank()), n, n},
                {},
                true};
  for (const KrausSet& set : model.sets) {
    kraus.values.insert(kraus.values.end(), set.gamma().data(),
                        set.gamma().data() + set.gamma().size());
  }
  const bool stationary = model.sets.size() == 1 && model.positions.stationary();
  if (!stationary) {
    kraus.shape.insert(kraus.shape.begin(), model.sets.size());
    NdArray map{{model.positions.entries().size()}, {}, false};
    for (const std::uint32_t set : model.positions.entries()) map.values.emplace_back(set);
    out.arrays["position_map"] = std::move(map);
    const bool from_end = model.positions.anchor() == PositionMap::Anchor::kEnd;
    out.position_anchor = from_end ? "end" : "start";
  }
  out.arrays["kraus"] = std::move(kraus);
  const Stack state = model.initial_state;
  out.arrays["initial_state"] = {{n, n}, {state.data(), state.data() + state.size()}, true};
}

}  // namespace

std::string NdArray::shape_text() const {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    out += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return out + ")";
}

ModelFile assemble(const ModelArrays& arrays, const std::string& file, const std::string& place) {
  return Assembler(arrays, file, place).run();
}

ModelArrays disassemble(const ModelFile& file) {
  ModelArrays out;
  out.format = kModelFormat;
  out.version = kModelVersion;
  out.alphabet = alphabet_of(file.model).all_tokens();
  out.provenance = canonical_json(file.provenance);
  std::visit([&out](const auto& model) { put(out, model); }, file.model);
  return out;
}

}  // namespace hqmm

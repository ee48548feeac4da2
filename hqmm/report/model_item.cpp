// A model: its operators, its channel, and what the two come to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hqmm/io/json_number.hpp"
#include "hqmm/learn/enum_names.hpp"
#include "hqmm/model/channel.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/model/period.hpp"
#include "hqmm/report/items.hpp"

namespace hqmm::detail::report {
namespace {

// What a screen can show and a page should carry.
constexpr std::size_t kMostOperators = 64;
constexpr Index kLargestDrawn = 48;
constexpr Index kLargestChoi = 6;
constexpr Index kLargestChannel = 64;
constexpr std::size_t kMostTokens = 256;
constexpr std::size_t kEigenvalues = 32;

template <typename Get>
Json rows_of(Index rows, Index columns, const Get& get) {
  Json out = Json::array();
  for (Index i = 0; i < rows; ++i) {
    Json row = Json::array();
    for (Index j = 0; j < columns; ++j) row.push_back(number(get(i, j)));
    out.push_back(std::move(row));
  }
  return out;
}

template <typename M>
Json operator_json(const std::string& name, const M& matrix, bool complex) {
  Json out{{"name", name}};
  const auto re = [&](Index i, Index j) { return std::real(matrix(i, j)); };
  const auto im = [&](Index i, Index j) { return std::imag(matrix(i, j)); };
  out["re"] = rows_of(matrix.rows(), matrix.cols(), re);
  out["im"] = complex ? rows_of(matrix.rows(), matrix.cols(), im) : Json(nullptr);
  return out;
}

Json complex_json(const Matrix& matrix) {
  Json out = operator_json("", matrix, true);
  out.erase("name");
  return out;
}

class Operators {
 public:
  template <typename M>
  void add(const std::string& name, const M& matrix, bool complex) {
    if (list_.size() < kMostOperators && matrix.cols() <= kLargestDrawn &&
        matrix.rows() <= 4 * kLargestDrawn) {
      list_.push_back(operator_json(name, matrix, complex));
    } else {
      ++left_out_;
    }
  }
  void put_into(Json& out) {
    out["operators"] = std::move(list_);
    out["operators_left_out"] = left_out_;
  }

 private:
  Json list_ = Json::array();
  std::size_t left_out_ = 0;
};

void add_operators(Operators& out, const Hqmm& model) {
  const bool complex = model.field == Field::kComplex;
  for (std::size_t p = 0; p < model.sets.size(); ++p) {
    const KrausSet& set = model.sets[p];
    const std::string place = model.sets.size() > 1 ? fmt::format(" @{}", p) : "";
    if (set.emits_on() == EmissionKind::kState) {
      const Index n = set.latent_dim();
      for (Index j = 0; j < set.kraus_rank(); ++j)
        out.add(fmt::format("V{}{}", j + 1, place), set.transition().middleRows(j * n, n), complex);
      out.add("emission" + place, set.emission(), false);
      continue;
    }
    for (Index y = 0; y < set.alphabet_size(); ++y)
      for (Index q = 0; q < set.kraus_rank(); ++q)
        out.add(fmt::format("{}.{}{}", model.alphabet.token(static_cast<Symbol>(y)), q + 1, place),
                set.op(y, q), complex);
  }
}

void add_operators(Operators& out, const Hmm& model) {
  out.add("transition", model.transition, false);
  out.add("emission", model.emission, false);
}

void add_operators(Operators& out, const EdgeHmm& model) {
  for (std::size_t y = 0; y < model.edges.size(); ++y)
    out.add(model.alphabet.token(static_cast<Symbol>(y)), model.edges[y], false);
}

/// J = Σ vec(K) vec(K)†, the columns of K below each other.
Json choi_json(const KrausSet& given) {
  const KrausSet set = given.expanded();
  const Index n = set.latent_dim();
  Matrix choi = Matrix::Zero(n * n, n * n);
  for (Index y = 0; y < set.alphabet_size(); ++y) {
    for (Index q = 0; q < set.kraus_rank(); ++q) {
      const Matrix k = set.op(y, q);
      const Eigen::Map<const Eigen::Matrix<Complex, Eigen::Dynamic, 1>> column(k.data(), n * n);
      choi.noalias() += column * column.adjoint();
    }
  }
  return complex_json(choi);
}

Json bloch_point(const std::string& name, const Matrix& rho, double weight) {
  const double trace = rho.trace().real();
  return {{"name", name},
          {"x", number(2.0 * rho(1, 0).real() / trace)},
          {"y", number(2.0 * rho(1, 0).imag() / trace)},
          {"z", number((rho(0, 0) - rho(1, 1)).real() / trace)},
          {"weight", weight}};
}

/// The fixed point, and where each symbol takes it.
Json bloch_json(const Hqmm& model, const Matrix& fixed_point) {
  Json out = Json::array({bloch_point("fixed point", fixed_point, 1.0)});
  const KrausSet& set = model.sets[model.positions.entries().front()];
  for (Index y = 0; y < set.alphabet_size(); ++y) {
    const Matrix moved = set.apply(y, fixed_point);
    const double weight = moved.trace().real();
    if (weight > 1e-9)
      out.push_back(bloch_point(model.alphabet.token(static_cast<Symbol>(y)), moved, weight));
  }
  return out;
}

void add_channel(Json& out, const Spectrum& spectrum, const FixedPoint& fixed_point) {
  Json values = Json::array();
  for (const Complex value : spectrum.eigenvalues)
    values.push_back({{"re", value.real()},
                      {"im", value.imag()},
                      {"modulus", std::abs(value)},
                      {"period", number(period_of(value))}});
  out["eigenvalues"] = std::move(values);
  out["mixing_rate"] = number(spectrum.mixing_rate);
  out["fixed_point"] = complex_json(fixed_point.state);
}

void add_channel_of(Json& out, const Hqmm& model) {
  if (!model.positions.stationary() || model.latent_dim() > kLargestChannel) return;
  const KrausSet& set = model.sets[model.positions.entries().front()];
  FixedPoint fixed_point = channel_fixed_point(set);
  if (model.field == Field::kReal)
    fixed_point.state = fixed_point.state.real().cast<Complex>().eval();
  add_channel(out, channel_spectrum(set, kEigenvalues, &fixed_point, model.field), fixed_point);
  if (model.latent_dim() <= kLargestChoi) out["choi"] = choi_json(set);
  if (model.latent_dim() == 2) out["bloch"] = bloch_json(model, fixed_point.state);
}

template <typename Classical>
void add_channel_of(Json& out, const Classical& model) {
  if (model.latent_dim() <= kLargestChannel)
    add_channel(out, channel_spectrum(model, kEigenvalues), channel_fixed_point(model));
}

std::string size_of(const AnyModel& model) {
  const auto n = std::visit([](const auto& m) { return m.latent_dim(); }, model);
  std::string out = fmt::format("n = {}, s = {}", n, alphabet_of(model).size());
  if (const auto* hqmm = std::get_if<Hqmm>(&model))
    out += fmt::format(", w = {}, {}, emission on {}s", hqmm->kraus_rank(), name_of(hqmm->field),
                       name_of(hqmm->emits_on()));
  return out;
}

Json facts_of_model(const AnyModel& model) {
  Facts facts;
  facts.add("kind", kind_of(model) == "hqmm" ? "HQMM" : "HMM");
  facts.add("size", size_of(model));
  facts.add("alphabet", alphabet_of(model).description());
  facts.add("free parameters", std::to_string(parameter_count(model)));
  facts.add("feasibility residual",
            fmt::format("{:.3g} ({})", feasibility_residual(model),
                        is_feasible(model) ? "trace preserving: its numbers are probabilities"
                                           : "INFEASIBLE: its raw numbers are not probabilities"));
  return facts.json();
}

}  // namespace

Json model_item(const std::string& name, const ModelFile& file) {
  const AnyModel& model = file.model;
  Json out{{"kind", "model"}, {"name", name}, {"model_kind", std::string(kind_of(model))}};
  Json facts = facts_of_model(model);
  Json tokens = Json::array();
  for (std::size_t y = 0; y < std::min(alphabet_of(model).size(), kMostTokens); ++y)
    tokens.push_back(alphabet_of(model).token(static_cast<Symbol>(y)));
  out["alphabet"] = std::move(tokens);
  Operators operators;
  std::visit([&](const auto& m) { add_operators(operators, m); }, model);
  operators.put_into(out);
  out["fixed_point"] = out["choi"] = out["bloch"] = out["mixing_rate"] = nullptr;
  out["eigenvalues"] = Json::array();
  std::visit([&](const auto& m) { add_channel_of(out, m); }, model);
  if (out["mixing_rate"].is_number())
    facts.push_back({"mixing rate", fmt::format("{:.6f}", out["mixing_rate"].get<double>())});
  if (const auto* hqmm = std::get_if<Hqmm>(&model);
      (hqmm == nullptr || hqmm->positions.stationary()) && out["mixing_rate"].is_number()) {
    const EntropyRate rate = std::visit(
        [](const auto& m) {
          return entropy_rate(m, EntropyOptions{.symbols = 16384, .seed = 1, .threads = 0});
        },
        model);
    facts.push_back({"entropy rate",
                     fmt::format("{:.4f} ± {:.4f} bits per symbol", rate.nats / std::numbers::ln2,
                                 rate.standard_error / std::numbers::ln2)});
  }
  out["facts"] = std::move(facts);
  return out;
}

}  // namespace hqmm::detail::report

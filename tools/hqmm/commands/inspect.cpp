// hqmm inspect MODEL: what a model is and does. (A run directory: inspect_run.cpp.)
#include "commands/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "classify/classify.hpp"
#include "commands/inspect_structure.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/classifier_bytes.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/channel.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/model/period.hpp"
#include "hqmm/report/figure_disc.hpp"
#include "hqmm/report/figure_history.hpp"
#include "hqmm/report/items.hpp"
#include "hqmm/run/run_directory.hpp"
#include "support/command.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/progress_line.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

struct InspectFlags {
  CommonOptions common;
  std::string model;
  std::size_t eigenvalues = 8;
  std::uint64_t entropy_symbols = 0;
  std::string figure;
};

/// Everything that is worked out about a model; the channel parts only for stationary ones.
struct Findings {
  double residual = 0.0;
  bool feasible = true;
  std::optional<Spectrum> spectrum;
  std::optional<FixedPoint> fixed_point;
  std::optional<EntropyRate> entropy;
  StructureFindings structure;
};

Findings look_at_model(const AnyModel& model, const InspectFlags& options) {
  Findings out;
  out.residual = feasibility_residual(model);
  out.feasible = is_feasible(model);
  const EntropyOptions entropy{options.entropy_symbols, options.common.seed,
                               options.common.threads};
  const auto look_at_hmm = [&](const auto& hmm) {
    out.spectrum = channel_spectrum(hmm, options.eigenvalues);
    out.fixed_point = channel_fixed_point(hmm);
    out.entropy = entropy_rate(hmm, entropy);
    out.structure = look_at_structure(model, *out.fixed_point);
    return out;
  };
  if (const auto* hmm = std::get_if<Hmm>(&model)) return look_at_hmm(*hmm);
  if (const auto* hmm = std::get_if<EdgeHmm>(&model)) return look_at_hmm(*hmm);
  const auto& hqmm = std::get<Hqmm>(model);
  if (!hqmm.positions.stationary()) return out;
  const KrausSet& set = hqmm.sets[hqmm.positions.entries().front()];
  ProgressLine progress(options.common);  // large models take seconds
  progress.show("hqmm: fixed point of the channel …");
  out.fixed_point = channel_fixed_point(set);
  if (hqmm.field == Field::kReal)  // without rounding errors
    out.fixed_point->state = out.fixed_point->state.real().cast<Complex>().eval();
  progress.show("hqmm: leading eigenvalues of the channel …");
  out.spectrum = channel_spectrum(set, options.eigenvalues, &*out.fixed_point, hqmm.field);
  progress.show("hqmm: blocks of the channel …");
  out.structure = look_at_structure(model, *out.fixed_point);
  progress.show("hqmm: entropy rate …");
  out.entropy = entropy_rate(hqmm, entropy, &*out.fixed_point);
  return out;
}

Json matrix_json(const Matrix& matrix) {
  Json rows = Json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < matrix.cols(); ++j)
      row.push_back({matrix(i, j).real(), matrix(i, j).imag()});
    rows.push_back(std::move(row));
  }
  return rows;
}

Json spectrum_json(const Spectrum& spectrum) {
  Json values = Json::array();
  for (const Complex value : spectrum.eigenvalues) {
    values.push_back({{"re", value.real()},
                      {"im", value.imag()},
                      {"modulus", std::abs(value)},
                      {"phase_turns", std::arg(value) / (2.0 * std::numbers::pi)},
                      {"period", number(period_of(value))}});
  }
  return values;
}

Json model_json(const AnyModel& model) {
  Json out;
  out["kind"] = std::string(kind_of(model));
  out["latent_dim"] = std::visit([](const auto& m) { return m.latent_dim(); }, model);
  out["alphabet_size"] = alphabet_of(model).size();
  if (const auto* hqmm = std::get_if<Hqmm>(&model)) {
    out["field"] = name_of(hqmm->field);
    out["emission"] = name_of(hqmm->emits_on());
    out["kraus_rank"] = hqmm->kraus_rank();
    out["kraus_sets"] = hqmm->sets.size();
    out["stationary"] = hqmm->positions.stationary();
  } else {
    out["emission"] = std::holds_alternative<Hmm>(model) ? "state" : "edge";
  }
  out["parameters"] = parameter_count(model);
  out["alphabet"] = alphabet_of(model).all_tokens();
  return out;
}

/// P(symbol | state) of a stationary HQMM that emits on its states, s × n: the squares of C. Its
/// states are those of the basis.
std::optional<RealMatrix> emission_probabilities(const AnyModel& model) {
  const auto* hqmm = std::get_if<Hqmm>(&model);
  if (hqmm == nullptr || hqmm->emits_on() != EmissionKind::kState) return {};
  if (!hqmm->positions.stationary()) return {};
  RealMatrix out = hqmm->sets[hqmm->positions.entries().front()].emission().cwiseAbs2();
  for (Index i = 0; i < out.cols(); ++i) {
    const double sum = out.col(i).sum();  // 1 unless the model is infeasible
    if (sum > 0.0) out.col(i) /= sum;
  }
  return out;
}

Json rows_json(const RealMatrix& matrix) {
  Json rows = Json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json findings_json(const ModelFile& file, const Findings& found) {
  Json out = model_json(file.model);
  out["feasibility_residual"] = found.residual;
  out["feasible"] = found.feasible;
  if (const auto emission = emission_probabilities(file.model))
    out["emission_probabilities"] = rows_json(*emission);
  if (found.spectrum) {
    out["fixed_point"] = matrix_json(found.fixed_point->state);
    out["fixed_point_residual"] = found.fixed_point->residual;
    out["fixed_point_unique"] = found.spectrum->unique_fixed_point;
    out["eigenvalues"] = spectrum_json(*found.spectrum);
    if (!found.spectrum->converged) out["eigenvalues_converged"] = false;
    out["mixing_rate"] = found.spectrum->mixing_rate;
    add_structure(out, found.structure, *found.fixed_point);
    out["entropy_rate"] = {
        {"nats", found.entropy->nats},
        {"bits", found.entropy->nats / std::numbers::ln2},
        {"standard_error_bits", found.entropy->standard_error / std::numbers::ln2},
        {"symbols", found.entropy->symbols}};
  }
  out["provenance"] = parse_json(file.provenance);
  return out;
}

enum class Shown { kComplex, kReal, kDiagonal };

Shown shown_of(const AnyModel& model) {
  const auto* hqmm = std::get_if<Hqmm>(&model);
  if (hqmm == nullptr) return Shown::kDiagonal;
  return hqmm->field == Field::kReal ? Shown::kReal : Shown::kComplex;
}

/// The value as so many decimals show it: what rounds to zero has no sign.
double as_shown(double value, double half_unit) {
  return std::abs(value) < half_unit ? 0.0 : value;
}

std::string matrix_text(const Matrix& matrix, Shown shown) {
  constexpr Index kMost = 8;
  constexpr double kHalf = 0.5e-4;  // of the last decimal
  std::string out;
  if (shown == Shown::kDiagonal || matrix.rows() > kMost) {
    out += "  diagonal:";
    for (Index i = 0; i < std::min<Index>(matrix.rows(), 4 * kMost); ++i) {
      out += fmt::format(" {:.4f}", as_shown(matrix(i, i).real(), kHalf));
    }
    return out + (matrix.rows() > 4 * kMost ? " …\n" : "\n");
  }
  for (Index i = 0; i < matrix.rows(); ++i) {
    out += " ";
    for (Index j = 0; j < matrix.cols(); ++j) {
      out += fmt::format("  {:7.4f}", as_shown(matrix(i, j).real(), kHalf));
      if (shown == Shown::kComplex)
        out += fmt::format("{:+.4f}i", as_shown(matrix(i, j).imag(), kHalf));
    }
    out += "\n";
  }
  return out;
}

std::string spectrum_text(const Spectrum& spectrum) {
  std::string out =
      "leading eigenvalues of the channel (modulus, phase in turns, period in symbols)\n";
  for (const Complex value : spectrum.eigenvalues) {
    const double period = period_of(value);
    out += fmt::format("  {:.6f}  {:+.6f}  {}\n", std::abs(value),
                       as_shown(std::arg(value) / (2.0 * std::numbers::pi), 0.5e-6),
                       std::isfinite(period) ? fmt::format("{:.3f}", period) : "–");
  }
  if (!spectrum.converged)
    out += "  (approximate: they lie too close together for the work allowed)\n";
  const double decay = spectrum.mixing_rate > 0.0 && spectrum.mixing_rate < 1.0 - 1e-9
                           ? -1.0 / std::log(spectrum.mixing_rate)
                           : std::numeric_limits<double>::infinity();
  out += fmt::format("mixing rate             {:.6f}  ({})\n", spectrum.mixing_rate,
                     spectrum.mixing_rate == 0.0 ? "forgets at once"
                     : std::isfinite(decay)
                         ? fmt::format("memory fades by 1/e in {:.2f} symbols", decay)
                         : "does not forget");
  return out;
}

/// Indices of the entries, the largest first.
std::vector<Index> by_size(const RealVector& values) {
  std::vector<Index> out(static_cast<std::size_t>(values.size()));
  std::iota(out.begin(), out.end(), Index{0});
  std::stable_sort(out.begin(), out.end(), [&](Index a, Index b) { return values(a) > values(b); });
  return out;
}

/// The few likeliest symbols of a state: "a 71%, c 20%, …"
std::string symbols_text(const Alphabet& alphabet, const RealVector& probabilities) {
  constexpr std::size_t kMost = 4;
  const std::vector<Index> order = by_size(probabilities);
  std::string out;
  for (std::size_t k = 0; k < std::min(kMost, order.size()); ++k) {
    const double p = probabilities(order[k]);
    if (k > 0 && p < 0.005) return out;
    out += fmt::format("{}{} {:.0f}%", k > 0 ? ", " : "",
                       alphabet.token(static_cast<Symbol>(order[k])), 100.0 * p);
  }
  return out + (order.size() > kMost ? ", …" : "");
}

/// The states of a model that emits on them, those with most of the time first.
std::string states_text(const AnyModel& model, const Matrix& fixed_point) {
  constexpr std::size_t kMost = 16;
  const auto emission = emission_probabilities(model);
  if (!emission) return "";
  const std::vector<Index> order = by_size(fixed_point.diagonal().real());
  std::string out = "states (number, share of time, what they emit)\n";
  for (std::size_t k = 0; k < std::min(kMost, order.size()); ++k) {
    const Index i = order[k];
    out += fmt::format("  {:3}  {:.4f}  {}\n", i, fixed_point(i, i).real(),
                       symbols_text(alphabet_of(model), emission->col(i)));
  }
  if (order.size() > kMost) out += fmt::format("  … and {} more\n", order.size() - kMost);
  return out;
}

std::string findings_text(const InspectFlags& options, const ModelFile& file,
                          const Findings& found) {
  std::string out = fmt::format("{}: {}\n", options.model, describe(file.model));
  out += fmt::format("alphabet                {}\n", alphabet_of(file.model).description());
  if (const auto* hqmm = std::get_if<Hqmm>(&file.model)) {
    out += fmt::format("field                   {}\n", name_of(hqmm->field));
    out +=
        fmt::format("emission                {}\n", hqmm->emits_on() == EmissionKind::kState
                                                        ? "on states: w operators for all symbols"
                                                        : "on edges: w operators for each symbol");
  }
  out += fmt::format("free parameters         {}\n", parameter_count(file.model));
  out += fmt::format(
      "feasibility residual    {:.3g}  ({})\n", found.residual,
      found.feasible ? "trace preserving: its numbers are probabilities"
                     : "INFEASIBLE: not trace preserving, its raw numbers are not probabilities");
  if (!found.spectrum) {
    return out +
           "channel                 depends on the position: "
           "no fixed point, spectrum or entropy rate\n";
  }
  out += fmt::format("fixed point{}\n",
                     found.spectrum->unique_fixed_point
                         ? ""
                         : " (one of several; the one reached from the mixed state)");
  out += matrix_text(found.fixed_point->state, shown_of(file.model));
  out += states_text(file.model, found.fixed_point->state);
  out += spectrum_text(*found.spectrum);
  out += structure_text(found.structure, *found.fixed_point);
  const double s = static_cast<double>(alphabet_of(file.model).size());
  const double bits = found.entropy->nats / std::numbers::ln2;
  out += fmt::format("entropy rate            {:.5f} ± {:.5f} bits per symbol", bits,
                     found.entropy->standard_error / std::numbers::ln2);
  if (s > 1.0)
    out += fmt::format("  (description accuracy {:.5f})", 1.0 - found.entropy->nats / std::log(s));
  out += fmt::format("\n                        estimated from {} sampled symbols, seed {}\n",
                     found.entropy->symbols, options.common.seed);
  return out;
}

/// The table that a model has: its leading eigenvalues.
Cells eigenvalue_cells(const Findings& found) {
  if (!found.spectrum)
    throw fail(ErrorCode::kUsage,
               "--tsv: a position-dependent model "
               "does not have a single channel");
  Cells out{{"modulus", "phase_in_turns", "period", "real", "imaginary"}};
  for (const Complex value : found.spectrum->eigenvalues) {
    out.push_back({exact(std::abs(value)), exact(std::arg(value) / (2.0 * std::numbers::pi)),
                   exact(period_of(value)), exact(value.real()), exact(value.imag())});
  }
  return out;
}

std::vector<Complex> eigenvalues_to_draw(const AnyModel& model) {
  constexpr std::size_t kMost = 64;
  if (const auto* hmm = std::get_if<Hmm>(&model)) return channel_spectrum(*hmm, kMost).eigenvalues;
  if (const auto* hmm = std::get_if<EdgeHmm>(&model))
    return channel_spectrum(*hmm, kMost).eigenvalues;
  const auto& hqmm = std::get<Hqmm>(model);
  if (!hqmm.positions.stationary())
    throw fail(ErrorCode::kUsage,
               "--figure: a position-dependent "
               "model does not have a single channel");
  const KrausSet& set = hqmm.sets[hqmm.positions.entries().front()];
  return channel_spectrum(set, kMost, nullptr, hqmm.field).eigenvalues;
}

void draw_spectrum(const InspectFlags& options, const AnyModel& model) {
  write_file(options.figure,
             draw_disc_svg("Channel spectrum – " + describe(model), eigenvalues_to_draw(model)));
}

void draw_curves(const InspectFlags& options) {
  const std::string history = RunDirectory::open(options.model).file("history.jsonl");
  write_file(options.figure,
             draw_history_svg("Training – " + printable(report::short_name(options.model), 120),
                              std::filesystem::exists(history) ? read_all(history) : "", history));
}

void run_inspect(const InspectFlags& options) {
  std::vector<NamedFile> inputs{{"MODEL", options.model}};
  if (std::filesystem::is_directory(options.model)) {
    inputs = files_of_run(options.model);
    inputs.push_back(
        {"the run's model", (std::filesystem::path(options.model) / "model.h5").string()});
  }
  require_other_files({{"-o", options.common.out}, {"--figure", options.figure}}, inputs);
  const bool is_run = std::filesystem::is_directory(options.model);
  const std::string bytes = is_run ? "" : read_all(options.model);  // once: it may be a pipe
  const bool classifier = is_classifier(bytes, options.model);
  if (!options.figure.empty() && classifier)
    throw fail(ErrorCode::kUsage, "--figure draws the channel of a model or the curves of a run");
  if (is_run && options.common.tsv) {
    throw fail(ErrorCode::kUsage, "--tsv is about model files; a run's epochs are in {}",
               (std::filesystem::path(options.model) / "history.jsonl").string());
  }
  if (is_run) {
    if (options.figure.empty() && inspect_cells(options.model, options.common)) return;
    if (!options.figure.empty()) draw_curves(options);
    inspect_run(options.model, options.common);
    return;
  }
  if (classifier) {
    inspect_classifier(parse_classifier(bytes, options.model), options.model, options.common);
    return;
  }
  const ModelFile file = parse_model(bytes, options.model);
  if (!options.figure.empty()) draw_spectrum(options, file.model);
  const Findings found = look_at_model(file.model, options);
  Output output(readers_of(options.common), options.common.out);
  output.write(options.common.json  ? dump(findings_json(file, found))
               : options.common.tsv ? tsv(eigenvalue_cells(found))
                                    : findings_text(options, file, found));
  output.finish();
}

}  // namespace

void add_inspect(Command program) {
  auto options = std::make_shared<InspectFlags>();
  Command command =
      program.add_subcommand("inspect", "Show what a model is and does, or how a training run went")
          .group("Use a model");
  command
      .add_option("MODEL", options->model,
                  "Model or classifier file, or the folder of a training run")
      .required()
      .type_name("");
  command.add_option("--eigenvalues", options->eigenvalues, "How many leading eigenvalues to show")
      .check(whole_number(1, 64))
      .capture_default_str()
      .group("Detail")
      .type_name("N");
  command
      .add_option("--entropy-symbols", options->entropy_symbols,
                  "Symbols to sample for the entropy rate; 0 takes about a second's worth")
      .check(whole_number())
      .capture_default_str()
      .group("Detail")
      .type_name("N");
  command
      .add_option(
          "--figure", options->figure,
          "Draw as SVG: for a model the channel's eigenvalues in the unit disc, for a run its "
          "bits per symbol by epoch")
      .group("Detail")
      .type_name("FILE.svg");
  add_common(command, options->common, "Write the result here instead of to stdout");
  add_tsv(command, options->common,
          "The leading eigenvalues, or a classifier's models, separated by TABs");
  command.footer(
      R"(The channel is one step whose symbol is not seen. Its leading eigenvalues say how fast the model forgets
(modulus) and what periods it has found in the data (phase). Its irreducible blocks are the subspaces it never leaves,
with the order in which it visits their parts; docs/quantum.md says more.
For a run it prints the options, how far the run got, and what 'train --stationarity' measured for the paper's bound.

Examples:
  hqmm inspect model.h5 --figure spectrum.svg
  hqmm inspect runs/first --figure history.svg)");
  command.callback([options] { run_inspect(*options); });
}

}  // namespace hqmm::cli

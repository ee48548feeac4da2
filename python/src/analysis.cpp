// What `hqmm inspect` finds out about a model, what `hqmm convert` and `hqmm export` make of it,
// and why a classifier decides as it does.
#include <numbers>

#include "binding.hpp"
#include "interrupts.hpp"

namespace hqmm::python {
namespace {

/// Of a stationary HQMM: its one Kraus set.
const KrausSet& only_set(const Hqmm& model) {
  if (!model.positions.stationary()) {
    throw fail(
        ErrorCode::kUsage,
        "the model depends on the position: it has no fixed point, spectrum or entropy rate");
  }
  return model.sets[model.positions.entries().front()];
}

FixedPoint fixed_point_of(const Hqmm& model) {
  FixedPoint out = channel_fixed_point(only_set(model));
  if (model.field == Field::kReal)  // without what rounding left
    out.state = out.state.real().cast<Complex>().eval();
  return out;
}
FixedPoint fixed_point_of(const Hmm& model) { return channel_fixed_point(model); }
FixedPoint fixed_point_of(const EdgeHmm& model) { return channel_fixed_point(model); }

Spectrum spectrum_of(const Hqmm& model, std::size_t count) {
  return channel_spectrum(only_set(model), count, nullptr, model.field);
}
Spectrum spectrum_of(const Hmm& model, std::size_t count) { return channel_spectrum(model, count); }
Spectrum spectrum_of(const EdgeHmm& model, std::size_t count) {
  return channel_spectrum(model, count);
}

/// A density matrix, or the distribution of an HMM's states.
py::object fixed_point(const ModelFile& file) {
  const FixedPoint found = Watch().run_interruptible([&] {
    return std::visit([](const auto& model) { return fixed_point_of(model); }, file.model);
  });
  const Index n = found.state.rows();
  if (!std::holds_alternative<Hqmm>(file.model)) {
    const RealVector x = found.state.diagonal().real();
    return py::array_t<double>(py::ssize_t{n}, x.data());
  }
  py::array_t<Complex> out({py::ssize_t{n}, py::ssize_t{n}});
  Eigen::Map<Stack>(out.mutable_data(), n, n) = found.state;
  if (std::get<Hqmm>(file.model).field == Field::kReal) return out.attr("real");
  return out;
}

py::dict spectrum(const ModelFile& file, std::size_t count) {
  const Spectrum found = Watch().run_interruptible([&] {
    return std::visit([&](const auto& model) { return spectrum_of(model, count); }, file.model);
  });
  py::dict out;
  out["eigenvalues"] = py::array_t<Complex>(static_cast<py::ssize_t>(found.eigenvalues.size()),
                                            found.eigenvalues.data());
  out["mixing_rate"] = found.mixing_rate;
  out["fixed_point_unique"] = found.unique_fixed_point;
  out["converged"] = found.converged;
  return out;
}

py::dict entropy(const ModelFile& file, std::uint64_t symbols, std::uint64_t seed, int threads) {
  const EntropyRate found = Watch().run_interruptible([&] {
    if (const auto* hqmm = std::get_if<Hqmm>(&file.model)) {
      const FixedPoint from = fixed_point_of(*hqmm);
      return entropy_rate(*hqmm, {symbols, seed, threads}, &from);
    }
    if (const auto* hmm = std::get_if<Hmm>(&file.model))
      return entropy_rate(*hmm, {symbols, seed, threads});
    return entropy_rate(std::get<EdgeHmm>(file.model), {symbols, seed, threads});
  });
  py::dict out;
  out["nats"] = found.nats;
  out["bits"] = found.nats / std::numbers::ln2;
  out["standard_error_bits"] = found.standard_error / std::numbers::ln2;
  out["symbols"] = found.symbols;
  return out;
}

std::shared_ptr<ModelFile> embed(const ModelFile& file, const std::string& kind,
                                 const std::string& emission, const std::string& field) {
  if (kind != "rank-one" && kind != "cyclic")
    throw fail(ErrorCode::kUsage, "kind: expected 'rank-one' or 'cyclic', found '{}'",
               printable(kind, 40));
  TrainOptions structure;  // its table knows the words
  set_options(train_option_table(), structure, {{"emission", emission}, {"field", field}});
  auto out = std::make_shared<ModelFile>(file);
  embed_file(*out, {kind == "cyclic", structure.emission, structure.field});
  return out;
}

std::shared_ptr<ModelFile> expand(const ModelFile& file) {
  auto out = std::make_shared<ModelFile>(file);
  expand_file(*out);
  return out;
}

CircuitFormat text_format(const std::string& name) {
  if (name == "openqasm3") return CircuitFormat::kOpenQasm3;
  if (name == "openqasm2") return CircuitFormat::kOpenQasm2;
  if (name == "qutip") return CircuitFormat::kQutip;
  throw fail(ErrorCode::kUsage, "format: expected 'openqasm3' or 'openqasm2', found '{}'",
             printable(name, 40));
}

InitialCircuit initial_circuit(const std::string& name) {
  if (name == "auto") return InitialCircuit::kAuto;
  if (name == "pure") return InitialCircuit::kPure;
  throw fail(ErrorCode::kUsage, "initial: expected 'auto' or 'pure', found '{}'",
             printable(name, 40));
}

/// The text of `hqmm export`; no steps are its default.
std::string circuit(const ModelFile& file, const std::string& format, std::size_t steps,
                    const std::string& initial) {
  const CircuitFormat wanted = text_format(format);
  const CircuitOptions options{steps, initial_circuit(initial)};
  return Watch().run_interruptible(
      [&] { return write_circuit(model_circuit(file.model, options), wanted); });
}

/// For every sequence an array (length, classes): what each symbol changes in the log-odds.
py::list explain(const ClassifierFile& file, const SequenceSet& set, int threads) {
  const std::size_t classes = file.classifier.classes.size();
  std::vector<std::vector<double>> found(set.size());
  Watch().run_interruptible([&] {
    require_fitting(file.classifier.models.front(), set);
    parallel_for(set.size(), threads,
                 [&](std::size_t i) { found[i] = contributions(file.classifier, set[i]); });
    return 0;
  });
  py::list out;
  for (std::size_t i = 0; i < set.size(); ++i) {
    py::array_t<double> one(
        {static_cast<py::ssize_t>(set[i].size()), static_cast<py::ssize_t>(classes)});
    std::copy(found[i].begin(), found[i].end(), one.mutable_data());
    out.append(one);
  }
  return out;
}

}  // namespace

void bind_analysis(py::module_& m) {
  m.def("parameter_count", [](const ModelFile& file) { return parameter_count(file.model); });
  m.def("fixed_point", &fixed_point);
  m.def("spectrum", &spectrum, py::arg("model"), py::arg("count") = 8);
  m.def("entropy_rate", &entropy, py::arg("model"), py::arg("symbols") = 0, py::arg("seed") = 1,
        py::arg("threads") = 1);
  m.def("embed", &embed, py::arg("model"), py::arg("kind"), py::arg("emission") = "edge",
        py::arg("field") = "complex");
  m.def("expand", &expand);
  m.def("circuit", &circuit, py::arg("model"), py::arg("format") = "openqasm3",
        py::arg("steps") = 0, py::arg("initial") = "auto");
  m.def("explain", &explain, py::arg("classifier"), py::arg("sequences"), py::arg("threads") = 1);
}

}  // namespace hqmm::python

// select(): a grid of models, as `hqmm select` trains it; baseline(): Markov chains, as `hqmm
// baseline` counts them.
#include <nlohmann/json.hpp>

#include "binding.hpp"
#include "interrupts.hpp"

namespace hqmm::python {
namespace {

/// Data that no run could use is found out here, before the first model.
std::vector<Candidate> make_grid(const SessionData& data, const GivenOptions& given,
                                 const std::string& preset, const GridAxes& axes) {
  require_compatible(given);
  TrainOptions asked;
  set_options(train_option_table(), asked, given);
  std::vector<Candidate> out;
  for (const GridPoint& point : grid_points(asked.learner, axes)) {
    TrainOptions options =
        recipe(asked.learner, preset, data.train->alphabet().size(), [&](TrainOptions& base) {
          set_options(train_option_table(), base, given);
          put_point(point, base);
        });
    options.threads = 1;
    require_usable(options);
    out.push_back(make_candidate(point.name, data, options));
  }
  return out;
}

/// A list of (row of the table, model), the best first.
py::list select(std::shared_ptr<SequenceSet> train, std::shared_ptr<SequenceSet> validation,
                double validation_share, const py::dict& options, const std::string& preset,
                const std::vector<Index>& latent_dims, const std::vector<Index>& kraus_ranks,
                const std::vector<std::string>& fields, const std::vector<std::string>& emissions,
                int threads, const py::object& on_trained) {
  const GivenOptions given = given_train_options(options);
  Watch watch;
  SelectionHooks hooks;
  hooks.stop_requested = [&] { return watch.stop(); };
  hooks.on_trained = [&](const Candidate& candidate) {
    const py::gil_scoped_acquire gil;
    watch.tell(on_trained, candidate.name);
  };
  const std::vector<Candidate> found = watch.run([&] {
    TrainOptions asked;
    set_options(train_option_table(), asked, given);
    const SessionData data =
        session_data(std::move(train), std::move(validation), validation_share, asked.seed);
    return run_selection(
        make_grid(data, given, preset, {latent_dims, kraus_ranks, fields, emissions}), threads,
        hooks);
  });
  py::list out;
  for (const Candidate& candidate : found) {
    out.append(py::make_tuple(to_python(candidate_json(candidate)),
                              std::make_shared<ModelFile>(ModelFile{candidate.result().model,
                                                                    candidate.found.provenance})));
  }
  return out;
}

py::object baseline(const SequenceSet& train, const SequenceSet& data,
                    const std::shared_ptr<SequenceSet>& validation,
                    const std::vector<std::size_t>& orders, double pseudo_count,
                    std::size_t burn_in, bool per_sequence, int threads) {
  const auto found = Watch().run_interruptible([&] {
    return chain_baseline(train, data, validation.get(), {orders, pseudo_count, burn_in, threads});
  });
  return to_python(chains_json(found, burn_in, per_sequence));
}

}  // namespace

void bind_selection(py::module_& m) {
  m.def("select", &select, py::arg("train"), py::arg("validation"), py::arg("validation_share"),
        py::arg("options"), py::arg("preset"), py::arg("latent_dims"), py::arg("kraus_ranks"),
        py::arg("fields"), py::arg("emissions"), py::arg("threads") = 1,
        py::arg("on_trained") = py::none());
  m.def("baseline", &baseline, py::arg("train"), py::arg("data"), py::arg("validation"),
        py::arg("orders"), py::arg("pseudo_count") = 1.0, py::arg("burn_in") = 0,
        py::arg("per_sequence") = false, py::arg("threads") = 1);
}

}  // namespace hqmm::python

// Classifier: a classifier file in memory, and fit_classifier() as `hqmm classify fit` does it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "binding.hpp"
#include "hqmm/evaluate/posteriors_on.hpp"
#include "hqmm/learn/enum_names.hpp"
#include "interrupts.hpp"

namespace hqmm::python {
namespace {

py::bytes classifier_bytes(const ClassifierFile& file) {
  return py::bytes(serialize_classifier(file));
}

/// positions "map:" + this is the map that the call brought along; any other name is a file.
constexpr std::string_view kGivenMap = "given";

/// grid: "auto" for the default one, nothing for no choice.
std::vector<ClassifierSetting> settings_for(const SequenceSet& data, const GivenOptions& given,
                                            const std::string& grid,
                                            const std::vector<std::uint32_t>& map,
                                            const ClassifierOptions& base) {
  std::vector<ClassifierSetting> out =
      grid == "auto" ? default_settings(base, data, given) : parse_grid(grid, base);
  for (ClassifierSetting& setting : out) {
    PositionPlan& plan = setting.options.positions;
    if (plan.kind == PositionPlan::Kind::kMap)
      plan.map = plan.file == kGivenMap && !map.empty() ? map : read_position_map(plan.file);
    require_usable(setting.options);
    (void)setting.options.positions.sets(data.longest());
  }
  return out;
}

void set_prior(ClassifierOptions& options, const std::string& kind, std::vector<double> given) {
  if (kind == "uniform") {
    options.prior = PriorKind::kUniform;
  } else if (kind == "empirical") {
    options.prior = PriorKind::kEmpirical;
  } else {
    options.prior = PriorKind::kGiven;
    options.given_priors = std::move(given);
  }
}

py::tuple fit(const std::shared_ptr<SequenceSet>& data, const py::dict& options,
              const std::string& prior, std::vector<double> priors, const std::string& grid,
              std::size_t inner_folds, std::uint64_t seed, int threads,
              const std::vector<std::uint32_t>& map, const py::object& on_epoch) {
  require_labelled(*data);
  const GivenOptions given = given_classifier_options(options);
  ClassifierOptions base = recommended_options(*data, given).options;
  set_prior(base, prior, std::move(priors));
  base.train.seed = seed;
  base.train.threads = threads;
  const std::vector<ClassifierSetting> settings = settings_for(*data, given, grid, map, base);
  CrossValidationOptions selection;
  selection.grouping = Grouping::parse("identical");
  selection.inner_folds = inner_folds;
  selection.seed = seed;
  selection.threads = threads;

  Watch watch;
  py::list history;
  CrossValidationHooks selecting;
  selecting.stop_requested = [&] { return watch.stop(); };
  ClassifierHooks learning;
  learning.stop_requested = selecting.stop_requested;
  learning.enough = [&] { return watch.asked_to_end(); };
  learning.on_epoch = [&](std::size_t member, std::size_t epoch, double objective) {
    const py::gil_scoped_acquire gil;
    py::dict record;
    record["member"] = member;
    record["epoch"] = epoch;
    record["objective"] = objective;
    history.append(record);
    watch.tell(on_epoch, record);
  };
  auto file = watch.run([&] {
    FoldOutcome selected;
    if (settings.size() > 1) selected = select_setting(*data, settings, selection, selecting);
    auto out = std::make_shared<ClassifierFile>();
    out->classifier = fit_classifier(*data, settings[selected.setting].options, learning);
    out->provenance = classifier_provenance(*data, settings, selected);
    return out;
  });
  return py::make_tuple(std::move(file), history);
}

/// (rows, classes): log P(c | row).
py::array_t<double> log_proba(const ClassifierFile& file, const SequenceSet& set, int threads,
                              const std::string& device) {
  const Posteriors found = Watch().run_interruptible([&] {
    const auto gpu = open_device(enum_named<DeviceKind>(device));
    return posteriors_on(file.classifier, set, threads, gpu.get());
  });
  py::array_t<double> out(
      {static_cast<py::ssize_t>(found.rows()), static_cast<py::ssize_t>(found.classes())});
  double* to = out.mutable_data();
  for (std::size_t i = 0; i < found.rows(); ++i) to = std::ranges::copy(found.row(i), to).out;
  return out;
}

std::shared_ptr<ModelFile> part(const ClassifierFile& file, std::size_t c) {
  if (c >= file.classifier.models.size())
    throw py::index_error(fmt::format("there are {} classes", file.classifier.models.size()));
  return std::make_shared<ModelFile>(ModelFile{file.classifier.models[c]});
}

/// The options that fit() would have but for a grid.
py::object classifier_recipe_of(const SequenceSet& data, const py::dict& options) {
  return to_python(to_json(recommended_options(data, given_classifier_options(options)).options));
}

}  // namespace

void bind_classifier(py::module_& m) {
  py::class_<ClassifierFile, std::shared_ptr<ClassifierFile>>(m, "Classifier")
      .def_static("load", &read_classifier)
      .def("save", [](const ClassifierFile& file,
                      const std::string& path) { write_classifier(path, file); })
      .def("to_bytes", &classifier_bytes)
      .def_static("from_bytes",
                  [](const std::string& bytes) { return parse_classifier(bytes, "bytes"); })
      .def(py::pickle(&classifier_bytes,
                      [](const py::bytes& bytes) { return parse_classifier(bytes, "the pickle"); }))
      .def_property_readonly("classes",
                             [](const ClassifierFile& f) { return f.classifier.classes; })
      .def_property_readonly("priors", [](const ClassifierFile& f) { return f.classifier.priors; })
      .def_property_readonly("alphabet",
                             [](const ClassifierFile& f) { return f.classifier.alphabet(); })
      .def_property_readonly("provenance",
                             [](const ClassifierFile& f) { return to_python(f.provenance); })
      .def("log_proba", &log_proba, py::arg("sequences"), py::arg("threads") = 1,
           py::arg("device") = "cpu")
      .def("model", &part);
  m.def("is_classifier_file", &is_classifier_file);
  m.def("classifier_recipe", &classifier_recipe_of, py::arg("data"), py::arg("options"));
  m.def("fit_classifier", &fit, py::arg("data"), py::arg("options"), py::arg("prior") = "uniform",
        py::arg("priors") = std::vector<double>(), py::arg("grid") = "", py::arg("inner_folds") = 3,
        py::arg("seed") = 1, py::arg("threads") = 1,
        py::arg("position_map") = std::vector<std::uint32_t>(), py::arg("on_epoch") = py::none());
}

}  // namespace hqmm::python

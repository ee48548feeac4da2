// train(): one training run, as `hqmm train` makes it.
#include <nlohmann/json.hpp>

#include "binding.hpp"
#include "interrupts.hpp"

namespace hqmm::python {
namespace {

struct Request {
  std::shared_ptr<const SequenceSet> data;
  std::shared_ptr<const SequenceSet> validation;  // none: a share of the data
  double validation_share;
  GivenOptions options;
  std::string preset;
  std::string warm_start;                       // "em" or nothing
  std::shared_ptr<const ModelFile> warm_model;  // or this
  int threads;
};

ValidationSplit split_of(const Request& request, std::uint64_t seed) {
  if (request.validation) return {*request.data, *request.validation, {}};
  return split_validation(*request.data, request.validation_share, seed);
}

struct Trained {
  TrainResult result;
  std::shared_ptr<ModelFile> file;
  std::string how;
};

Trained learn(const Request& request, const TrainHooks& hooks) {
  TrainOptions options = recipe(request.options, request.preset, request.data->alphabet().size());
  options.threads = request.threads;
  require_usable(options);
  const ValidationSplit split = split_of(request, options.seed);
  std::optional<AnyModel> warm;
  if (request.warm_model) warm = request.warm_model->model;
  if (request.warm_start == "em") {
    TrainHooks stop_only;
    stop_only.stop_requested = hooks.stop_requested;
    TrainResult start = train(split.train, split.validation, em_start_options(options), stop_only);
    if (start.status == TrainStatus::kInterrupted)
      throw fail(ErrorCode::kInterrupted, "interrupted during the warm start");
    warm = std::move(start.model);
  }
  Trained out;
  out.result = train(split.train, split.validation, options, hooks, warm);
  const TrainScores scores =
      score_trained(out.result.model, split.train, split.validation, options);
  const std::string warm_text = request.warm_model ? "model" : request.warm_start;
  out.file = std::make_shared<ModelFile>(ModelFile{
      out.result.model,
      train_provenance(options, warm_text, split.train, split.validation, out.result, scores)});
  out.how = split.how;
  return out;
}

py::dict train_model(const Request& request, const py::object& on_epoch) {
  Watch watch;
  py::list history;
  std::atomic<bool> ended = false;  // by the callback
  TrainHooks hooks;
  hooks.stop_requested = [&] { return ended || watch.stop(); };
  hooks.on_epoch = [&](const EpochRecord& record) {
    const py::gil_scoped_acquire gil;
    const py::object seen = to_python(to_json(record));
    history.append(seen);
    watch.tell(on_epoch, seen);
    if (watch.asked_to_end()) ended = true;
  };
  const Trained trained = watch.run([&] { return learn(request, hooks); });
  const TrainResult& result = trained.result;
  py::dict out;
  out["model"] = trained.file;
  out["history"] = history;
  out["status"] = name_of(result.status);
  out["message"] = result.message;
  out["how"] = trained.how;
  out["epochs_run"] = result.epochs_run;
  out["best_epoch"] = result.best_epoch;
  out["best_restart"] = result.best_restart;
  out["seconds"] = result.seconds;
  return out;
}

}  // namespace

void bind_training(py::module_& m) {
  m.def(
      "train",
      [](std::shared_ptr<SequenceSet> data, std::shared_ptr<SequenceSet> validation,
         double validation_share, const py::dict& options, std::string preset,
         std::string warm_start, std::shared_ptr<ModelFile> warm_model, int threads,
         const py::object& on_epoch) {
        return train_model(
            {std::move(data), std::move(validation), validation_share, given_train_options(options),
             std::move(preset), std::move(warm_start), std::move(warm_model), threads},
            on_epoch);
      },
      py::arg("data"), py::arg("validation"), py::arg("validation_share"), py::arg("options"),
      py::arg("preset") = "default", py::arg("warm_start") = "", py::arg("warm_model") = py::none(),
      py::arg("threads") = 1, py::arg("on_epoch") = py::none());
}

}  // namespace hqmm::python

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

WarmStart warm_start_of(const Request& request) {
  if (request.warm_model) return {WarmStart::Kind::kModel, request.warm_model->model};
  if (request.warm_start == "em") return {WarmStart::Kind::kEm, {}};
  return {};
}

struct Trained {
  SessionResult found;
  std::string how;
};

Trained learn(const Request& request, const SessionHooks& hooks) {
  TrainOptions options = recipe(request.options, request.preset, request.data->alphabet().size());
  options.threads = request.threads;
  require_usable(options);
  const Session session(
      session_data(request.data, request.validation, request.validation_share, options.seed),
      options);
  SessionRequest run;
  run.warm_start = warm_start_of(request);
  run.hooks = hooks;
  Trained out{session.run(run), session.data().how};
  if (out.found.ended_in == Stage::kWarmStart)
    throw fail(ErrorCode::kInterrupted, "interrupted during the warm start");
  return out;
}

py::dict train_model(const Request& request, const py::object& on_epoch) {
  Watch watch;
  py::list history;
  std::atomic<bool> ended = false;  // by the callback
  SessionHooks hooks;
  hooks.stop_requested = [&] { return ended || watch.stop(); };
  hooks.on_epoch = [&](Stage stage, const EpochRecord& record) {
    if (stage == Stage::kWarmStart) return;
    const py::gil_scoped_acquire gil;
    const py::object seen = to_python(to_json(record));
    history.append(seen);
    watch.tell(on_epoch, seen);
    if (watch.asked_to_end()) ended = true;
  };
  const Trained trained = watch.run_to_end([&] { return learn(request, hooks); });
  const TrainResult& result = trained.found.trained;
  // Without a whole epoch there is nothing to keep.
  const bool interrupted = result.epochs_run > 0 && watch.take_interrupt();
  watch.rethrow();
  py::dict out;
  out["model"] = std::make_shared<ModelFile>(ModelFile{result.model, trained.found.provenance});
  out["history"] = history;
  out["status"] = name_of(result.status);
  out["by_interrupt"] = interrupted;
  out["message"] = result.message;
  out["how"] = trained.how;
  out["epochs_run"] = result.epochs_run;
  out["best_epoch"] = result.best_epoch;
  out["best_restart"] = result.best_restart;
  out["seconds"] = result.seconds;
  return out;
}

/// The options that a run with these would have.
py::object recipe_of(const py::dict& options, const std::string& preset,
                     std::size_t alphabet_size) {
  return to_python(to_json(recipe(given_train_options(options), preset, alphabet_size)));
}

double share_after(const py::dict& recipe, std::size_t epochs) {
  TrainOptions options;
  options.epochs = recipe["epochs"].cast<std::size_t>();
  options.restarts = recipe["restarts"].cast<std::size_t>();
  options.halving = recipe["halving"].cast<bool>();
  return share_of_work(options, epochs);
}

}  // namespace

void bind_training(py::module_& m) {
  m.def("recipe", &recipe_of, py::arg("options"), py::arg("preset"), py::arg("alphabet_size"));
  m.def("share_of_work", &share_after, py::arg("recipe"), py::arg("epochs"));
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

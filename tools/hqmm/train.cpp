// hqmm train DATA: learns one model. Parses, reads the data, runs the library's trainer with
// observers for progress, the run directory and Ctrl-C, writes the model and says what came of it.
#include <filesystem>

#include "command.hpp"
#include "hqmm/learn/start.hpp"
#include "train_options.hpp"
#include "train_progress.hpp"

namespace hqmm::cli {
namespace {

struct Data {
  SequenceSet train;
  SequenceSet validation;
  std::string how;  // where the validation set came from, when it was split off
};

Data read_data(const TrainJob& job) {
  Data data;
  const ReadOptions read = job.data.resolve();
  SequenceSet whole = read_sequences(job.train_path, read);
  if (job.validation_path.empty()) {
    ValidationSplit split = split_validation(whole, job.validation_share, job.options.seed);
    data = {std::move(split.train), std::move(split.validation), std::move(split.how)};
  } else {
    ReadOptions same = read;
    same.alphabet = whole.alphabet();
    data.validation = read_sequences(job.validation_path, same);
    data.train = std::move(whole);
  }
  return data;
}

std::string hash_text(const SequenceSet& set) { return fmt::format("{:016x}", set.hash()); }

/// The model a warm start begins with: from a file, or an HMM that EM learns first.
std::optional<AnyModel> find_warm_start(TrainJob& job, const Data& data, RunDirectory* run,
                                        const StopRequest& stop) {
  if (job.warm_start.empty()) return {};
  if (job.warm_start != "em") return read_model(job.warm_start).model;
  const std::string kept = run != nullptr ? run->file("warm_start.h5") : "";
  if (!kept.empty() && std::filesystem::exists(kept)) return read_model(kept).model;
  TrainOptions em = default_options(LearnerKind::kEm);
  em.latent_dim = job.options.latent_dim;
  em.validation_burn_in = job.options.validation_burn_in;
  em.seed = job.options.seed;
  em.threads = job.options.threads;
  narrate(job.common,
          fmt::format("warm start: EM, {} states, {} restarts", em.latent_dim, em.restarts));
  TrainHooks hooks;
  hooks.stop_requested = stop;
  const TrainResult result = train(data.train, data.validation, em, hooks);
  if (result.status == TrainStatus::kInterrupted) {
    throw fail(ErrorCode::kInterrupted, "interrupted during the warm start; nothing was written");
  }
  if (!kept.empty()) write_model(kept, {result.model, {{"command", "train --warm-start em"}}});
  return result.model;
}

nlohmann::json provenance_of(const TrainJob& job, const Data& data, const TrainResult& result,
                             const Json& summary) {
  Json out;
  out["command"] = "train";
  out["version"] = HQMM_VERSION;
  out["options"] = to_json(job.options);
  if (!job.warm_start.empty()) out["warm_start"] = job.warm_start == "em" ? "em" : "model";
  out["seed"] = job.options.seed;
  out["data"] = {{"train_hash", hash_text(data.train)},
                 {"validation_hash", hash_text(data.validation)}};
  out["status"] = summary.at("status");
  out["best_epoch"] = result.best_epoch;
  out["best_restart"] = result.best_restart;
  out["train"] = summary.at("train");
  out["validation"] = summary.at("validation");
  return out;
}

Json summarise(const TrainJob& job, const Data& data, const TrainResult& result) {
  const DataPlan plan = plan_data(data.train, data.validation, job.options);
  Json out;
  out["model"] = job.out;
  out["learner"] = name_of(job.options.learner);
  out["epochs_run"] = result.epochs_run;
  out["best_epoch"] = result.best_epoch;
  out["train"] =
      score_json(score(result.model, data.train, plan.validation_burn_in, job.options.threads));
  out["validation"] = score_json(
      score(result.model, data.validation, plan.validation_burn_in, job.options.threads));
  out["feasibility_residual"] = feasibility_residual(result.model);
  out["feasible"] = is_feasible(result.model);
  out["status"] = name_of(result.status);
  if (!result.message.empty()) out["message"] = result.message;
  out["seconds"] = result.seconds;
  out["best_restart"] = result.best_restart;
  out["restarts"] = Json::array();
  for (const RestartSummary& one : result.restarts) out["restarts"].push_back(to_json(one));
  return out;
}

void print_summary(const TrainJob& job, const Json& summary) {
  Output output;
  if (job.common.json) {
    output.write(dump(summary));
    output.finish();
    return;
  }
  const auto line = [&](const char* name, const Json& score) {
    const auto figure = [&](const char* key) {
      return score[key].is_null() ? std::string("–")
                                  : fmt::format("{:.6f}", score[key].get<double>());
    };
    output.write(fmt::format("{:<22}description accuracy {}, {} bits per symbol\n", name,
                             figure("da_mean"), figure("bits_per_symbol")));
    if (!score["raw"].is_null() && !score["raw"]["da_mean"].is_null()) {
      output.write(fmt::format("{:<22}description accuracy {:.6f} – not of a probability\n",
                               "  raw, not normalised", score["raw"]["da_mean"].get<double>()));
    }
  };
  output.write(
      fmt::format("{:<22}{}{}\n", "model", job.out,
                  summary["feasible"].get<bool>() ? "" : "  INFEASIBLE: not trace preserving"));
  line("training data", summary["train"]);
  line("validation data", summary["validation"]);
  output.write(fmt::format(
      "{:<22}{} after {} epochs, best at {}{}\n", "training", summary["status"].get<std::string>(),
      summary["epochs_run"].get<std::size_t>(), summary["best_epoch"].get<std::size_t>(),
      summary["restarts"].size() > 1
          ? fmt::format(" of restart {} of {}", summary["best_restart"].get<std::size_t>() + 1,
                        summary["restarts"].size())
          : ""));
  output.finish();
}

void run_training(TrainJob& job, std::optional<RunDirectory> run) {
  const StopRequest stop = catch_interrupts();
  Data data = read_data(job);
  const std::string train_hash = hash_text(data.train);
  if (!job.expected_hash.empty() && job.expected_hash != train_hash) {
    throw fail(ErrorCode::kBadData, {job.train_path, {}, {}, {}, {}},
               "the data has changed since the run began: its hash is {}, was {}", train_hash,
               job.expected_hash);
  }
  job.settle(data.train.alphabet().size());
  if (!data.how.empty()) narrate(job.common, data.how);
  if (!run && !job.run_path.empty())
    run = RunDirectory::create(job.run_path, job.config(train_hash));
  std::optional<Checkpoint> checkpoint;
  if (run && job.resuming) checkpoint = run->checkpoint();

  const std::optional<AnyModel> warm = find_warm_start(job, data, run ? &*run : nullptr, stop);
  narrate(job.common, describe_run(job.options, data.train, data.validation));
  Progress progress(job.common, job.options);
  std::optional<StationarityProbe> probe;
  if (job.stationarity) {
    const Start start = warm ? warm_start(*warm, job.options, data.train.alphabet(), 0)
                             : Start{random_start(job.options, data.train.alphabet(), 0), {}};
    probe.emplace(data.train, data.validation, job.options,
                  std::get<Hqmm>(start.model).initial_state);
  }
  TrainHooks hooks;
  hooks.stop_requested = stop;
  if (probe) hooks.on_step = probe->watcher();
  hooks.on_epoch = [&](const EpochRecord& record) {
    if (run) run->append(record);
    progress.show(record);
  };
  if (run) hooks.on_checkpoint = [&](const Checkpoint& at) { run->save(at); };
  const TrainResult result = train(data.train, data.validation, job.options, hooks, warm,
                                   checkpoint ? &*checkpoint : nullptr);
  progress.clear();

  const Json summary = summarise(job, data, result);
  write_model(job.out, {result.model, provenance_of(job, data, result, summary)});
  if (probe) {
    const std::string path =
        run ? run->file("stationarity.json")
            : (std::filesystem::path(job.out).parent_path() / "stationarity.json").string();
    write_file(path, dump(to_json(probe->report())));
    narrate(job.common, "every term of the paper's bound → " + path);
  }
  if (run) write_file(run->file("summary.json"), dump(summary));
  warn_if_infeasible(result.model, job.out);
  for (const RestartSummary& one : result.restarts) {
    if (!one.message.empty()) warn(fmt::format("restart {}: {}", one.restart + 1, one.message));
  }
  print_summary(job, summary);
  if (result.status == TrainStatus::kInterrupted) {
    throw fail(ErrorCode::kInterrupted, "interrupted: the best model so far is in {}{}", job.out,
               run ? fmt::format("; go on with 'hqmm train --resume {}'", job.run_path) : "");
  }
  if (result.status == TrainStatus::kDiverged) {
    throw fail(ErrorCode::kDiverged, "training diverged: {}; the best model before that is in {}",
               result.message, job.out);
  }
}

void run(TrainFlags& flags) {
  if (!flags.resume_path().empty()) {
    RunDirectory directory = RunDirectory::open(flags.resume_path());
    TrainJob job = flags.resume(directory);
    run_training(job, std::move(directory));
    return;
  }
  TrainJob job = flags.job();
  run_training(job, {});
}

}  // namespace

void add_train(CLI::App& app) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* command = app.add_subcommand("train", "Learn a model from sequences")->group("Learn");
  flags->add_to(*command);
  command->footer(
      R"(Without any options but -o this is the recipe that did best in our measurements: NS-RIS with a feasible
retraction, a cosine schedule, averaged parameters, the epoch with the best validation likelihood kept.

Examples:
  hqmm train data.txt -o model.h5
  hqmm train train.txt --validation validation.txt -n 6 -w 2 -o model.h5 --run runs/first
  hqmm train --resume runs/first
  hqmm train train.txt --learner em -n 6 -o hmm.h5
  hqmm train train.txt --preset paper --learner cosm -n 6 -w 2 -o cosm.h5)");
  command->callback([flags] { run(*flags); });
}

}  // namespace hqmm::cli

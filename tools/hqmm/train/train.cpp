// hqmm train DATA: learns one model. Parses, reads the data, runs the library's trainer with
// observers for progress, the run directory and Ctrl-C, writes the model and says what came of it.
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "hqmm/core/error.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/start.hpp"
#include "hqmm/learn/stationarity.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/run/provenance.hpp"
#include "hqmm/run/run_directory.hpp"
#include "hqmm/run/train_config.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "train/data.hpp"
#include "train/options.hpp"
#include "train/progress.hpp"
#include "train/run.hpp"

namespace hqmm::cli {
namespace {

void require_unchanged(const std::string& path, const std::string& hash,
                       const std::string& expected) {
  if (expected.empty() || hash == expected) return;
  throw fail(ErrorCode::kBadData, {path, {}, {}, {}, {}},
             "the data has changed since the run began: its hash is {}, was {}", hash, expected);
}

void warn_of_other_instructions(const std::string& began) {
  if (began.empty() || began == simd_target()) return;
  warn(fmt::format(
      "the run began on {} and goes on on {}: the same to rounding, but not the same bytes as in "
      "one go (HQMM_SIMD={} limits the choice where the processor has it)",
      began, simd_target(), began));
}

Error with_advice(const Error& error, const std::string& advice) {
  return {error.code(), error.marked() + "; " + advice, error.where()};
}

std::string how_to_go_on(const TrainJob& job) {
  return fmt::format("go on with 'hqmm train --resume {}'", job.run_path);
}

AnyModel learn_warm_start(const TrainJob& job, const TrainData& data, Run& run,
                          const StopRequest& stop) {
  const TrainOptions em = em_start_options(job.options);
  narrate(job.common,
          fmt::format("warm start: EM, {} states, {} restarts", em.latent_dim, em.restarts));
  Progress progress(job.common, em);
  TrainHooks hooks;
  hooks.stop_requested = stop;
  hooks.on_epoch = [&](const EpochRecord& record) { progress.show(record); };
  TrainResult result = train(data.train, data.validation, em, hooks);
  if (result.status == TrainStatus::kInterrupted) {
    if (run) run.mark_begun();
    progress.clear();
    throw fail(ErrorCode::kInterrupted, "interrupted during the warm start: {}",
               run ? how_to_go_on(job) : "nothing was written");
  }
  return std::move(result.model);
}

/// The model a warm start begins with: from a file, or an HMM that EM learns first. A run keeps it.
std::optional<AnyModel> find_warm_start(const TrainJob& job, const TrainData& data, Run& run,
                                        const StopRequest& stop) {
  if (job.warm_start.empty()) return {};
  if (run.has("warm_start.h5")) return read_model(run->file("warm_start.h5")).model;
  AnyModel model = job.warm_start == "em" ? learn_warm_start(job, data, run, stop)
                   : job.warm_model       ? *job.warm_model
                                          : read_model(job.warm_start).model;
  if (run) write_model(run->file("warm_start.h5"), {model, R"({"command":"train --warm-start"})"});
  return model;
}

/// Where to go on, if anywhere.
std::optional<Checkpoint> find_checkpoint(const TrainJob& job, Run& run) {
  if (!run || !job.resuming) return {};
  std::optional<Checkpoint> found = run->checkpoint();
  if (!job.stationarity) return found;
  const bool at_end = found && (found->restart_over || found->epochs_done >= job.options.epochs);
  if (at_end && run.has("stationarity.json")) return found;
  if (found)
    narrate(job.common, "the bound is measured on a whole run: starting from its beginning");
  for (const char* name : {"checkpoint.h5", "stationarity.json"}) run.remove(name);
  return run->checkpoint();  // none any more; clears the history
}

std::unique_ptr<StationarityProbe> find_probe(const TrainJob& job, const TrainData& data,
                                              const Run& run, const std::optional<AnyModel>& warm) {
  if (!job.stationarity || run.has("stationarity.json")) return {};
  const Start start = warm ? warm_start(*warm, job.options, data.train.alphabet(), 0)
                           : Start{random_start(job.options, data.train.alphabet(), 0), {}};
  return std::make_unique<StationarityProbe>(data.train, data.validation, job.options,
                                             std::get<Hqmm>(start.model).initial_state);
}

void write_bound(const TrainJob& job, Run& run, const StationarityReport& report) {
  const std::string path =
      run ? run->file("stationarity.json")
          : (std::filesystem::path(job.out).parent_path() / "stationarity.json").string();
  write_file(path, dump(to_json(report)));
  narrate(job.common, fmt::format("every term of the paper's bound → {}{}", path,
                                  run ? fmt::format(" (hqmm inspect {})", job.run_path) : ""));
}

Json summarise(const TrainJob& job, const TrainResult& result, const TrainScores& scores) {
  Json out;
  out["model"] = job.out;
  out["learner"] = name_of(job.options.learner);
  out["epochs_run"] = result.epochs_run;
  out["best_epoch"] = result.best_epoch;
  out["train"] = score_json(scores.train);
  out["validation"] = score_json(scores.validation);
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

/// A model that took hours is not lost to a full disk: the run has it, or a temporary file gets it.
void save_model(const TrainJob& job, const Run& run, const ModelFile& file) {
  try {
    write_model(job.out, file);
  } catch (const Error& error) {
    if (run) throw with_advice(error, "nothing is lost, " + how_to_go_on(job) + " [-o elsewhere]");
    const std::string rescue =
        (std::filesystem::temp_directory_path() / fmt::format("hqmm-{}.h5", ::getpid())).string();
    try {
      write_model(rescue, file);
    } catch (const std::exception&) {
      throw error;
    }
    throw with_advice(error, "the model is in " + rescue);
  }
}

struct Trained {
  TrainResult result;
  std::optional<StationarityReport> bound;
};

Trained train_in(const TrainJob& job, const TrainData& data, Run& run, const StopRequest& stop) {
  const std::optional<Checkpoint> checkpoint = find_checkpoint(job, run);
  const std::optional<AnyModel> warm = find_warm_start(job, data, run, stop);
  const std::unique_ptr<StationarityProbe> probe = find_probe(job, data, run, warm);
  narrate(job.common, describe_run(job.options, data.train, data.validation));
  Progress progress(job.common, job.options);
  TrainHooks hooks;
  hooks.stop_requested = stop;
  if (probe) hooks.on_step = probe->watcher();
  hooks.on_epoch = [&](const EpochRecord& record) {
    if (run) {
      run->append(record);
      run.mark_begun();
    }
    progress.show(record);
  };
  if (run) hooks.on_checkpoint = [&](const Checkpoint& at) { run->save(at); };
  Trained out;
  try {
    out.result = train(data.train, data.validation, job.options, hooks, warm,
                       checkpoint ? &*checkpoint : nullptr);
  } catch (const Error& error) {
    if (run.has("checkpoint.h5") && error.code() == ErrorCode::kCannotWrite)
      throw with_advice(error, "once there is room, " + how_to_go_on(job));
    throw;
  }
  if (probe) out.bound = probe->report();
  return out;
}

void run_training(TrainJob& job, std::optional<RunDirectory> found) {
  leave_on_interrupts();
  const TrainData data = read_train_data(job);
  require_unchanged(job.train_path, hash_text(data.train), job.expected_train_hash);
  require_unchanged(data.how.empty() ? job.validation_path : job.train_path,
                    hash_text(data.validation), job.expected_validation_hash);
  warn_of_other_instructions(job.expected_simd);
  job.settle(data.train.alphabet().size());
  require_usable_data(job, data);
  const StopRequest stop = catch_interrupts();
  const bool new_run = !found && !job.run_path.empty();
  const Json config =
      new_run ? job.config(hash_text(data.train), hash_text(data.validation)) : Json();
  Run run(std::move(found), job.run_path, config);
  if (!data.how.empty()) narrate(job.common, data.how);
  const auto [result, bound] = train_in(job, data, run, stop);

  const TrainScores scores = score_trained(result.model, data.train, data.validation, job.options);
  const Json summary = summarise(job, result, scores);
  const std::string warm =
      job.warm_start.empty() || job.warm_start == "em" ? job.warm_start : "model";
  save_model(job, run,
             {result.model,
              train_provenance(job.options, warm, data.train, data.validation, result, scores)});
  if (bound) write_bound(job, run, *bound);
  if (run) write_file(run->file("summary.json"), dump(summary));
  warn_if_infeasible(result.model, job.out);
  for (const RestartSummary& one : result.restarts) {
    if (!one.message.empty() && one.restart != result.best_restart)
      warn(fmt::format("restart {}: {}", one.restart + 1, one.message));
  }
  print_summary(job, summary);
  if (result.status == TrainStatus::kInterrupted) {
    throw fail(ErrorCode::kInterrupted, "interrupted: the best model so far is in {}{}", job.out,
               run ? "; " + how_to_go_on(job) : "");
  }
  if (result.status == TrainStatus::kDiverged) {
    throw fail(ErrorCode::kDiverged, "training diverged: {}; the best model before that is in {}",
               result.message, job.out);
  }
}

void run_train(TrainFlags& flags) {
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

void add_train(Command program) {
  auto flags = std::make_shared<TrainFlags>();
  Command command = program.add_subcommand("train", "Learn a model from sequences").group("Learn");
  flags->add_to(command);
  command.footer(
      R"(Without any options but -o this is the recipe that did best in our measurements: NS-RIS with a feasible
retraction, a cosine schedule, averaged parameters, the epoch with the best validation likelihood kept.

Examples:
  hqmm train data.txt -o model.h5
  hqmm train train.txt --validation validation.txt -n 6 -w 2 -o model.h5 --run runs/first
  hqmm train --resume runs/first
  hqmm train train.txt --learner em -n 6 -o hmm.h5
  hqmm train train.txt --preset paper --learner cosm -n 6 -w 2 -o cosm.h5)");
  command.callback([flags] { run_train(*flags); });
}

}  // namespace hqmm::cli

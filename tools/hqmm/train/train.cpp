// hqmm train DATA: learns one model. Parses, reads the data, runs a session of the library with a
// line of progress and Ctrl-C, writes the model and prints a summary.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/hash_text.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/stationarity.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/run/active_run.hpp"
#include "hqmm/run/session.hpp"
#include "hqmm/run/train_config.hpp"
#include "hqmm/score/score_json.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/ranks.hpp"
#include "support/rescue.hpp"
#include "support/run_config.hpp"
#include "support/training_end.hpp"
#include "train/data.hpp"
#include "train/doubt.hpp"
#include "train/live.hpp"
#include "train/options.hpp"
#include "train/progress.hpp"

namespace hqmm::cli {
namespace {

void warn_of_other_device(const TrainJob& job) {
  const std::string here = device_name(job.options.device);
  if (!job.resuming || job.expected_device == here) return;
  const auto named = [](const std::string& name) { return name.empty() ? "the CPU" : name; };
  warn(fmt::format(
      "the run began on {} and continues on {}: its results agree to rounding, but not byte for "
      "byte, with those of an uninterrupted run",
      printable(named(job.expected_device), 200), named(here)));
}

std::string how_to_go_on(const TrainJob& job) {
  return cli::how_to_go_on("train", job.run_path, job.common.out);
}

/// A run that has its warm start needs no other.
WarmStart find_warm_start(const TrainJob& job, const std::optional<ActiveRun>& run) {
  if (job.warm_start.empty()) return {};
  if (job.warm_start == "em") return {WarmStart::Kind::kEm, {}};
  if (job.warm_model) return {WarmStart::Kind::kModel, job.warm_model};
  if (run && run->has("warm_start.h5")) return {WarmStart::Kind::kModel, {}};
  return {WarmStart::Kind::kModel, read_model(job.warm_start).model};
}

void write_bound(const TrainJob& job, std::optional<ActiveRun>& run,
                 const StationarityReport& report) {
  const std::string path =
      run ? (*run)->file("stationarity.json")
          : (std::filesystem::path(job.out).parent_path() / "stationarity.json").string();
  write_file(path, dump(to_json(report)));
  narrate(job.common, fmt::format("every term of the paper's bound → {}{}", path,
                                  run ? fmt::format(" (hqmm inspect {})", job.run_path) : ""));
}

Json summarise(const TrainJob& job, const SessionResult& found) {
  const TrainResult& result = found.trained;
  Json out;
  out["model"] = job.out;
  out["learner"] = name_of(job.options.learner);
  out["epochs_run"] = result.epochs_run;
  out["best_epoch"] = result.best_epoch;
  out["train"] = score_json(found.scores.train);
  out["validation"] = score_json(found.scores.validation);
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

/// "8, on validation 1.9131 (best), 1.9160 (median) to 1.9207 bits per symbol; 7 dropped on the
/// way".
std::string spread_of(const Json& summary) {
  const Json& restarts = summary["restarts"];
  const double symbols = summary["validation"]["symbols"].get<double>();
  std::vector<double> bits;
  std::size_t dropped = 0;
  for (const Json& one : restarts) {
    const Json& worth = one["best_validation_log_likelihood"];
    if (worth.is_number() && symbols > 0.0)
      bits.push_back(-worth.get<double>() / symbols / std::numbers::ln2);
    if (one["status"] == name_of(TrainStatus::kDropped)) ++dropped;
  }
  std::string out = fmt::format("{}", restarts.size());
  if (!bits.empty()) {
    std::sort(bits.begin(), bits.end());
    out += fmt::format(", on validation {:.4f} (best), {:.4f} (median) to {:.4f} bits per symbol",
                       bits.front(), bits[bits.size() / 2], bits.back());
  }
  if (dropped > 0) out += fmt::format("; {} dropped on the way", dropped);
  return out;
}

void print_summary(const TrainJob& job, const Json& summary) {
  Output output(readers_of(job.common));
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
      "{:<22}{}; the best was epoch {}{}\n", "training",
      training_end(summary["status"].get<std::string>(), summary["epochs_run"].get<std::size_t>(),
                   summary["seconds"].get<double>()),
      summary["best_epoch"].get<std::size_t>(),
      summary["restarts"].size() > 1
          ? fmt::format(" of restart {} of {}", summary["best_restart"].get<std::size_t>() + 1,
                        summary["restarts"].size())
          : ""));
  if (summary["restarts"].size() > 1 && summary["validation"]["raw"].is_null())
    output.write(fmt::format("{:<22}{}\n", "restarts", spread_of(summary)));
  output.finish();
}

/// A model that cannot be written is not lost: the run has it, or a temporary file gets it.
void save_model(const TrainJob& job, bool in_run, const ModelFile& file) {
  const auto write = [&] { write_model(job.out, file); };
  if (!in_run) {
    write_or_rescue("model", write, [&] { return serialize_model(file, ModelFormat::kHdf5); });
    return;
  }
  try {
    write();
  } catch (const Error& error) {
    throw with_advice(
        error, fmt::format("nothing is lost, resume with 'hqmm train --resume {}' [-o elsewhere]",
                           job.run_path));
  }
}

/// Trains with a line of progress for people.
SessionResult train_in(const TrainJob& job, const Session& session, std::optional<ActiveRun>& run,
                       const StopRequest& stop, std::optional<LivePage>& live) {
  std::optional<Progress> progress;
  SessionRequest request;
  request.warm_start = find_warm_start(job, run);
  request.run = run ? &*run : nullptr;
  request.resume = job.resuming;
  request.ranks = ranks();
  request.stationarity = job.stationarity;
  request.hooks.stop_requested = stop;
  request.hooks.on_note = [&](const std::string& text) { narrate(job.common, text); };
  request.hooks.on_stage = [&](Stage stage, const TrainOptions& options) {
    progress.reset();
    narrate(job.common, stage == Stage::kTraining
                            ? describe_run(session)
                            : fmt::format("warm start: EM, {} states, {} restarts",
                                          options.latent_dim, options.restarts));
    progress.emplace(job.common, options);
  };
  request.hooks.on_resume = [&](const Resumption& at) { progress->go_on(at); };
  request.hooks.on_epoch = [&](Stage, const EpochRecord& record) {
    progress->show(record);
    if (live) live->tell();
  };
  try {
    return session.run(request);
  } catch (const Error& error) {
    if (run && run->has("checkpoint.h5") && error.code() == ErrorCode::kCannotWrite)
      throw with_advice(error, "once there is room, " + how_to_go_on(job));
    if (run && run->has("checkpoint.h5") && job.options.device != DeviceKind::kCpu)
      throw with_advice(error, how_to_go_on(job) + ", or without the GPU: --device cpu");
    if (run && ranks() != nullptr && error.code() == ErrorCode::kInterrupted)
      throw with_advice(error, how_to_go_on(job));
    throw;
  }
}

/// How a run ended that is not as it should be. The exit status says so too.
void require_good_end(const TrainJob& job, const TrainResult& result, bool in_run) {
  if (result.status == TrainStatus::kInterrupted) {
    throw fail(ErrorCode::kInterrupted, "interrupted: the best model so far is in {}{}", job.out,
               in_run ? "; " + how_to_go_on(job) : "");
  }
  if (result.status == TrainStatus::kDiverged) {
    throw fail(ErrorCode::kDiverged, "training diverged: {}; the best model before that is in {}",
               result.message, job.out);
  }
}

void run_training(TrainJob& job, std::optional<ActiveRun>& run) {
  leave_on_interrupts();
  if (!job.run_path.empty()) on_lost_rank(how_to_go_on(job));
  SessionData data = read_train_data(job);
  warn_of_other_instructions(job.expected_simd);
  warn_of_other_device(job);
  job.settle(data.train->alphabet().size());
  const Session session(std::move(data), job.options);
  const StopRequest stop = catch_interrupts();
  if (run) {
    run->remove("summary.json");  // of an end that was not the last
  } else if (!job.run_path.empty()) {
    const Json config =
        job.config(hash_text(*session.data().train), hash_text(*session.data().validation));
    run.emplace(job.run_path, config.dump());
  }
  std::optional<LivePage> live;  // until all is written
  if (job.live_port) {
    live.emplace(job.run_path, *job.live_port);
    narrate(job.common, fmt::format("{} shows the run while it trains", live->address()));
  }
  tell_where_the_result_goes(job.common, "model", job.out, job.began_with);
  if (!session.data().how.empty()) narrate(job.common, session.data().how);
  const SessionResult trained = train_in(job, session, run, stop, live);
  if (trained.ended_in == Stage::kWarmStart) {
    throw fail(ErrorCode::kInterrupted, "interrupted during the warm start: {}",
               run ? how_to_go_on(job) : "nothing was written");
  }
  const TrainResult& result = trained.trained;
  const Json summary = summarise(job, trained);
  save_model(job, run.has_value(), {result.model, trained.provenance});
  if (trained.bound) write_bound(job, run, *trained.bound);
  if (run) write_file((*run)->file("summary.json"), dump(summary));
  warn_if_infeasible(result.model, job.out);
  warn_if_beyond(job.options.memory);
  if (const std::string doubt = doubt_about(session, trained); !doubt.empty()) warn(doubt);
  for (const RestartSummary& one : result.restarts) {
    if (!one.message.empty() && one.restart != result.best_restart)
      warn(fmt::format("restart {}: {}", one.restart + 1, one.message));
  }
  try {
    print_summary(job, summary);
  } catch (const ClosedPipe&) {  // the Ctrl-C that ends `hqmm train … | tee log` ends tee as well
    require_good_end(job, result, run.has_value());
    throw;
  }
  require_good_end(job, result, run.has_value());
}

/// Another rank's part: the same data and options.
void help_train(TrainJob job, Ranks& others) {
  if (!job.run_path.empty()) on_lost_rank(how_to_go_on(job));
  SessionData data = read_train_data(job);
  job.settle(data.train->alphabet().size());
  Session(std::move(data), job.options).help(others);
}

void run_train(TrainFlags& flags) {
  if (Ranks* const others = ranks(); others != nullptr && !others->leads()) {
    help_train(flags.resume_path().empty() ? flags.job()
                                           : flags.resume(RunDirectory::open(flags.resume_path())),
               *others);
    return;
  }
  std::optional<ActiveRun> run;
  if (!flags.resume_path().empty()) run.emplace(flags.resume_path());
  TrainJob job = run ? flags.resume(run->directory()) : flags.job();
  run_training(job, run);
}

}  // namespace

void add_train(Command program) {
  auto flags = std::make_shared<TrainFlags>();
  Command command = program.add_subcommand("train", "Learn a model from sequences").group("Learn");
  flags->add_to(command);
  command.footer(
      R"(Without options other than -o this is the recipe that did best in our measurements: NS-RIS with a feasible
retraction, a cosine schedule and averaged parameters; the epoch with the best validation likelihood is kept.

Examples:
  hqmm train data.txt -o model.h5
  hqmm train train.txt --validation validation.txt -n 6 -w 2 -o model.h5 --run runs/first
  hqmm train --resume runs/first
  hqmm train train.txt --learner em -n 6 -o hmm.h5
  hqmm train train.txt --preset paper --learner cosm -n 6 -w 2 -o cosm.h5)");
  command.callback([flags] { run_train(*flags); });
}

}  // namespace hqmm::cli

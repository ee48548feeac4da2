#include "train/options.hpp"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/option_table.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/learn/recipes.hpp"
#include "hqmm/model/filter.hpp"
#include "hqmm/model/hqmm.hpp"
#include "hqmm/run/run_directory.hpp"
#include "hqmm/run/selection.hpp"
#include "hqmm/run/train_config.hpp"
#include "hqmm/version.hpp"
#include "support/data_files.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/run_config.hpp"
#include "train/live.hpp"

namespace hqmm::cli {
namespace {

/// Flags that change only where a run continues and for how long.
const std::set<std::string> kWithResume = {"--resume", "--out",     "--time-limit", "--json",
                                           "--quiet",  "--threads", "--max-ratio",  "--live",
                                           "--device", "--memory"};

const std::set<std::string> kWithGridResume = {"--out",     "--json",      "--tsv",    "--quiet",
                                               "--threads", "--max-ratio", "--models", "--memory"};

std::string absolute(const std::string& path) { return path == "em" ? path : absolute_path(path); }

std::string model_in(const std::string& run_path) {
  return (std::filesystem::path(run_path) / "model.h5").string();
}

bool same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
  return !b.empty() && std::filesystem::weakly_canonical(a.empty() ? "." : a) ==
                           std::filesystem::weakly_canonical(b / "").parent_path();
}

/// A slip of the hand must cost neither the data nor what a run keeps.
void require_own_files(const TrainJob& job) {
  const std::string run_option = job.resuming ? "--resume" : "--run";
  std::vector<NamedFile> inputs{{"--warm-start", job.warm_start == "em" ? "" : job.warm_start}};
  add_named(inputs, "DATA", job.train_paths);
  add_named(inputs, "--validation", job.validation_paths);
  std::vector<NamedFile> kept = files_of_run(job.run_path);
  if (job.resuming) {  // it reads what it has written; its own warm start may be one of its files
    require_other_files({{"-o", job.out}}, kept);
    kept.clear();
  }
  for (NamedFile& one : kept) one.name = run_option;
  kept.push_back({job.common.out.empty() ? run_option : "-o", job.out});
  if (job.stationarity && job.run_path.empty()) {
    const auto folder = std::filesystem::path(job.out).parent_path();
    kept.push_back({"--stationarity", (folder / "stationarity.json").string()});
  }
  require_other_files(kept, inputs);
}

}  // namespace

void TrainJob::settle(std::size_t alphabet_size) {
  if (finish_options) finish_options(options, alphabet_size);
  options.threads = common.threads;
  require_usable(options);
}

Json TrainJob::config(const std::string& train_hash, const std::string& validation_hash) const {
  Json config;
  config["command"] = "train";
  config["version"] = HQMM_VERSION;
  config["simd"] = simd_target();
  if (const std::string device = device_name(options.device); !device.empty())
    config["device"] = device;
  config["train"] = paths_json(train_paths);
  config["validation"] = paths_json(validation_paths);
  config["validation_share"] = validation_share;
  config["train_hash"] = train_hash;
  config["validation_hash"] = validation_hash;
  config["reading"] = data.to_json();
  config["out"] =
      utf8_path(absolute(common.out));  // empty: model.h5 in the run directory, wherever it moves
  config["warm_start"] = utf8_path(absolute(warm_start));
  config["stationarity"] = stationarity;
  config["options"] = to_json(options);
  return config;
}

void TrainJob::take(const nlohmann::json& config) {
  train_paths = paths_from_json(config.at("train"));
  validation_paths = paths_from_json(config.at("validation"));
  config.at("validation_share").get_to(validation_share);
  config.at("train_hash").get_to(expected_train_hash);
  config.at("validation_hash").get_to(expected_validation_hash);
  config.at("out").get_to(began_with);
  config.at("simd").get_to(expected_simd);
  data.from_json(config.at("reading"));
}

std::size_t TrainFlags::memory() const {
  TrainOptions options;
  set_options(train_option_table(), options, given_);
  return options.memory;
}

std::vector<GridPoint> TrainFlags::grid_points() const {
  return detail::grid_points(learner(), {latent_dims_, kraus_ranks_, fields_, emissions_});
}

TrainOptions TrainFlags::cell_options(std::size_t alphabet_size, const GridPoint& point) const {
  TrainOptions options = options_for(alphabet_size, &point);
  options.threads = 1;
  require_usable(options);
  return options;
}

TrainOptions TrainFlags::options_for(std::size_t alphabet_size, const GridPoint* cell) const {
  const auto apply_given = [&](TrainOptions& options) {
    if (stationarity_) options.schedule = ScheduleKind::kConstant;
    set_options(train_option_table(), options, given_);
    if (cell != nullptr) put_point(*cell, options);
  };
  TrainOptions options = recipe(learner(), preset_, alphabet_size, apply_given);
  take_sizes_from_warm_start(options);
  options.seed = common_.seed;
  return options;
}

LearnerKind TrainFlags::learner() const {
  TrainOptions options;
  set_options(train_option_table(), options, given_);
  return options.learner;
}

std::optional<int> TrainFlags::live_port() const {
  if (grid_ || !live_.given()) return {};
  require_live_pages();
  if (live_port_.empty()) return 0;
  int port = 0;
  const char* end = live_port_.data() + live_port_.size();
  const auto [rest, fault] = std::from_chars(live_port_.data(), end, port);
  if (fault != std::errc() || rest != end || port < 1 || port > 65535) {
    throw fail(ErrorCode::kUsage,
               "--live: expected a port from 1 to 65535 or none, found '{}' (DATA goes before it)",
               printable(live_port_, 60));
  }
  return port;
}

void TrainFlags::take_sizes_from_warm_start(TrainOptions& options) const {
  if (warm_start_.empty()) return;
  Index rank =
      options.latent_dim;  // the embedding of an HMM has as many operators per symbol as states
  if (warm_model_) {
    const Index n = std::visit([](const auto& m) { return m.latent_dim(); }, *warm_model_);
    if (!given("latent_dim")) options.latent_dim = n;
    rank = n;
    if (const Hqmm* hqmm = std::get_if<Hqmm>(&*warm_model_)) {
      rank = hqmm->kraus_rank();
      if (!given("field")) options.field = hqmm->field;
      if (!given("emission")) options.emission = hqmm->emits_on();
    }
  }
  if (!given("kraus_rank")) options.kraus_rank = rank;
}

void TrainFlags::require_flags_that_go_together() const {
  static_cast<void>(live_port());  // it may have taken DATA
  if (train_paths_.empty()) throw fail(ErrorCode::kUsage, "DATA is required (or --resume DIR)");
  if (common_.out.empty() && run_path_.empty() && !grid_) {
    throw fail(ErrorCode::kUsage, "where should the model go? Give -o model.h5 (or --run DIR)");
  }
  if (!run_path_.empty()) {
    require_no_stdin(train_paths_);
    require_no_stdin(validation_paths_);
  }
  if (!grid_ && live_.given() && run_path_.empty())
    throw fail(ErrorCode::kUsage, "--live shows the run in a folder: give --run DIR as well");
  require_one_stdin({train_paths_, validation_paths_, {warm_start_}});
  require_compatible(given_);
  if (stationarity_ && learner() != LearnerKind::kNsRis)
    throw fail(ErrorCode::kUsage, "--stationarity applies to ns-ris, not to {}",
               name_of(learner()));
}

TrainJob TrainFlags::job() {
  require_flags_that_go_together();
  if (!warm_start_.empty() && warm_start_ != "em") warm_model_ = read_model(warm_start_).model;
  TrainJob job;
  job.common = common_;
  job.data = data_;
  job.train_paths = train_paths_;
  job.validation_paths = validation_paths_;
  job.validation_share = validation_share_;
  job.run_path = run_path_;
  job.out = common_.out.empty() ? model_in(run_path_) : common_.out;
  job.warm_start = warm_start_;
  job.warm_model = warm_model_;
  job.stationarity = stationarity_;
  job.live_port = live_port();
  job.options = options_for(0);
  require_usable(job.options);
  job.finish_options = [this](TrainOptions& options, std::size_t alphabet_size) {
    options = options_for(alphabet_size);
  };
  if (grid_ && common_.out.empty() && run_path_.empty()) {
    job.out.clear();
    return job;
  }
  if (!grid_) require_own_files(job);
  if (!same_folder(std::filesystem::path(job.out).parent_path(), run_path_))
    require_writable_place(job.out);
  return job;
}

TrainJob TrainFlags::resumed() const {
  TrainJob job;
  job.common = common_;
  job.data = data_;  // --max-ratio
  job.resuming = true;
  job.run_path = resume_path_;
  // A folder from someone else must not choose what is overwritten: its `out` is told, not used.
  job.out = common_.out.empty() ? model_in(resume_path_) : common_.out;
  return job;
}

TrainJob TrainFlags::resume_grid(
    const RunDirectory& run, const std::function<void(const nlohmann::json&)>& take_grid) const {
  require_only(command_, kWithGridResume);
  TrainJob job = resumed();
  read_config(run, "a selection", [&](const nlohmann::json& config) {
    job.take(config);
    take_grid(config);
  });
  require_writable_place(job.out);
  return job;
}

TrainJob TrainFlags::resume(const RunDirectory& run) const {
  require_only(command_, kWithResume);
  TrainJob job = resumed();
  job.live_port = live_port();
  read_config(run, "a training run", [&](const nlohmann::json& config) {
    job.take(config);
    config.at("warm_start").get_to(job.warm_start);
    config.at("stationarity").get_to(job.stationarity);
    job.expected_device = config.value("device", "");
    job.options = train_options_from_json(config.at("options"));
    require_usable_elsewhere(job.options);
  });
  set_options(train_option_table(), job.options, given_);  // the few that can be given
  require_usable(job.options);
  require_own_files(job);
  require_writable_place(job.out);
  return job;
}

}  // namespace hqmm::cli

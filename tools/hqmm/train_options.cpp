#include "train_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <set>

#include "hqmm/core/simd.hpp"
#include "hqmm/engine/choose.hpp"

namespace hqmm::cli {
namespace {

/// Flags that change nothing about a run but where and how long it goes on.
const std::set<std::string> kWithResume = {"--resume", "--out",   "--time-limit",
                                           "--json",   "--quiet", "--threads"};

/// A count, or "auto".
CLI::Validator count_or_auto() {
  return {[](std::string& text) { return text == "auto" ? std::string() : whole_number()(text); },
          ""};
}

std::optional<std::size_t> parse_count(const std::string& text) {
  if (text == "auto") return {};
  return std::stoull(text);
}

std::string absolute(const std::string& path) {
  return path.empty() || path == "-" || path == "em" ? path
                                                     : std::filesystem::absolute(path).string();
}

std::string model_in(const std::string& run_path) {
  return (std::filesystem::path(run_path) / "model.h5").string();
}

bool same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
  return !b.empty() && std::filesystem::weakly_canonical(a.empty() ? "." : a) ==
                           std::filesystem::weakly_canonical(b / "").parent_path();
}

/// A slip of the hand must not cost the data.
void require_not_an_input(const std::string& out, const std::string& input) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(out, input, ignored)) return;
  throw fail(ErrorCode::kUsage, "the model would overwrite its own data, {}: give another -o",
             input);
}

/// Paths go into config.json, which holds UTF-8 only.
std::string utf8(const std::string& path) {
  const nlohmann::json json = path;
  const std::string kept = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (nlohmann::json::parse(kept) == json) return path;
  throw fail(ErrorCode::kUsage, "--run cannot keep a path that is not UTF-8: {}",
             printable(path, 200));
}

}  // namespace

void require_writable_place(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!std::filesystem::is_directory(folder)) {
    throw fail(ErrorCode::kCannotWrite, {path, {}, {}, {}, {}}, "there is no folder '{}'",
               folder.string());
  }
  if (std::filesystem::is_directory(path) || ::access(folder.c_str(), W_OK) != 0) {
    throw fail(ErrorCode::kCannotWrite, {path, {}, {}, {}, {}}, "cannot be written");
  }
}

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
  config["train"] = utf8(absolute(train_path));
  config["validation"] = utf8(absolute(validation_path));
  config["validation_share"] = validation_share;
  config["train_hash"] = train_hash;
  config["validation_hash"] = validation_hash;
  config["reading"] = data.to_json();
  config["out"] =
      utf8(absolute(common.out));  // empty: model.h5 in the run directory, wherever it moves
  config["warm_start"] = utf8(absolute(warm_start));
  config["stationarity"] = stationarity;
  config["options"] = to_json(options);
  return config;
}

void TrainFlags::add_to(CLI::App& command) {
  command_ = &command;
  command.add_option("DATA", train_path_, "Training sequences")->type_name("");
  add_size_flags(command);
  add_model_flags(command);
  add_warm_start_flags(command);
  add_descent_flags(command);
  add_data_flags(command);
  add_run_flags(command);
  add_stop_flags(command);
  data_.add_to(command);
  add_common(command, common_, "Model file to write");
}

void TrainFlags::add_grid_to(CLI::App& command) {
  grid_ = true;
  command_ = &command;
  command.add_option("DATA", train_path_, "Training sequences")->required()->type_name("");
  add_size_lists(command);
  add_model_flags(command);
  add_descent_flags(command);
  add_data_flags(command);
  add_stop_flags(command);
  data_.add_to(command);
  add_common(command, common_, "Model file to write: the best");
}

void TrainFlags::add_model_flags(CLI::App& command) {
  constexpr const char* kGroup = "Model and learner";
  const auto flag = [&](CLI::Option* option, auto apply) {
    option->group(kGroup);
    overrides_.emplace_back(option, apply);
  };
  command.add_option("--learner", learner_, "ns-ris, cosm, givens (HQMMs) or em (HMMs)")
      ->capture_default_str()
      ->check(one_of({"ns-ris", "cosm", "givens", "em"}))
      ->group(kGroup)
      ->type_name("L");
  flag(command
           .add_option(
               "--retraction", retraction_,
               "feasible (default: stays a probability model) or literal (the paper's: does not)")
           ->check(one_of({"feasible", "literal"}))
           ->type_name("R"),
       [this](TrainOptions& o) { o.retraction = parse_retraction(retraction_); });
  flag(command
           .add_option("--initial-state", initial_state_,
                       "uniform (I/n, default), random, learned, or pure (learned, rank one)")
           ->check(one_of({"uniform", "random", "learned", "pure"}))
           ->type_name("S"),
       [this](TrainOptions& o) { o.initial_state = parse_initial_state(initial_state_); });
  command
      .add_option("--preset", preset_,
                  "default, or paper: its protocol, with COSM's tuned step sizes; other flags "
                  "still override")
      ->check(one_of({"default", "paper"}))
      ->capture_default_str()
      ->group(kGroup)
      ->type_name("P");
  flag(command
           .add_option("--restarts", given_.restarts,
                       "Independent starts, the best on validation kept (default 1; em 16)")
           ->check(whole_number(1))
           ->type_name("R"),
       [this](TrainOptions& o) { o.restarts = given_.restarts; });
}

void TrainFlags::add_size_flags(CLI::App& command) {
  constexpr const char* kGroup = "Model and learner";
  const auto flag = [&](CLI::Option* option, auto apply) {
    option->group(kGroup);
    overrides_.emplace_back(option, apply);
  };
  flag(
      command
          .add_option("-n,--latent-dim", given_.latent_dim, "Latent dimension, or number of states")
          ->check(whole_number(1, 4096))
          ->capture_default_str()
          ->type_name("N"),
      [this](TrainOptions& o) { o.latent_dim = given_.latent_dim; });
  flag(command.add_option("-w,--kraus-rank", given_.kraus_rank, "Kraus operators per symbol")
           ->check(whole_number(1, 4096))
           ->capture_default_str()
           ->type_name("W"),
       [this](TrainOptions& o) { o.kraus_rank = given_.kraus_rank; });
}

void TrainFlags::add_size_lists(CLI::App& command) {
  constexpr const char* kGroup = "Model and learner";
  command.add_option("-n,--latent-dim", latent_dims_, "Latent dimensions, or numbers of states")
      ->check(whole_number(1, 4096))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->group(kGroup)
      ->type_name("N,…");
  command.add_option("-w,--kraus-rank", kraus_ranks_, "Kraus operators per symbol")
      ->check(whole_number(1, 4096))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->group(kGroup)
      ->type_name("W,…");
}

void TrainFlags::add_warm_start_flags(CLI::App& command) {
  constexpr const char* kGroup = "Model and learner";
  const auto flag = [&](CLI::Option* option, auto apply) {
    option->group(kGroup);
    overrides_.emplace_back(option, apply);
  };
  command
      .add_option("--warm-start", warm_start_,
                  "Start from a model file, or from 'em': an HMM learned first (then w = n)")
      ->group(kGroup)
      ->type_name("MODEL|em");
  flag(command.add_option("--warm-noise", given_.warm_noise, "Noise on a warm start from an HMM")
           ->capture_default_str()
           ->type_name("X"),
       [this](TrainOptions& o) { o.warm_noise = given_.warm_noise; });
}

void TrainFlags::add_stop_flags(CLI::App& command) {
  constexpr const char* kGroup = "Runs and stopping";
  const auto flag = [&](CLI::Option* option, auto apply) {
    option->group(kGroup);
    overrides_.emplace_back(option, apply);
  };
  flag(command
           .add_option("--time-limit", given_.time_limit,
                       "Stop after so many seconds; 0 for no limit")
           ->capture_default_str()
           ->type_name("S"),
       [this](TrainOptions& o) { o.time_limit = given_.time_limit; });
  flag(command
           .add_option("--patience", given_.patience,
                       "Stop after so many epochs without a better validation score; 0 never does")
           ->check(whole_number())
           ->capture_default_str()
           ->type_name("N"),
       [this](TrainOptions& o) { o.patience = given_.patience; });
}

void TrainFlags::add_descent_flags(CLI::App& command) {
  const auto flag = [&](const char* group, CLI::Option* option, auto apply) {
    option->group(group);
    overrides_.emplace_back(option, apply);
  };
  constexpr const char* kDescent = "Descent (ns-ris, cosm)";
  flag(kDescent,
       command
           .add_option("--epochs", given_.epochs,
                       "Passes over the data (em: iterations, 600; givens: batches, 15)")
           ->check(whole_number())
           ->capture_default_str()
           ->type_name("N"),
       [this](TrainOptions& o) { o.epochs = given_.epochs; });
  flag(kDescent,
       command.add_option("--batch-size", given_.batch_size, "Chunks per update (givens 1)")
           ->check(whole_number(1))
           ->capture_default_str()
           ->type_name("N"),
       [this](TrainOptions& o) { o.batch_size = given_.batch_size; });
  flag(kDescent,
       command.add_option("--step-size", given_.step_size, "Step size η at the start")
           ->capture_default_str()
           ->type_name("X"),
       [this](TrainOptions& o) { o.step_size = given_.step_size; });
  flag(kDescent,
       command
           .add_option("--schedule", schedule_, "cosine to zero (default), geometric or constant")
           ->check(one_of({"cosine", "geometric", "constant"}))
           ->type_name("S"),
       [this](TrainOptions& o) { o.schedule = parse_schedule(schedule_); });
  flag(kDescent,
       command
           .add_option("--step-decay", given_.step_decay,
                       "Factor per epoch of the geometric schedule")
           ->capture_default_str()
           ->type_name("X"),
       [this](TrainOptions& o) { o.step_decay = given_.step_decay; });
  flag(kDescent,
       command.add_option("--momentum", given_.momentum, "Momentum β")
           ->capture_default_str()
           ->type_name("X"),
       [this](TrainOptions& o) { o.momentum = given_.momentum; });
  flag(kDescent,
       command.add_option("--ns-steps", given_.ns_steps, "Newton–Schulz steps T of the direction")
           ->check(whole_number(1, 100))
           ->capture_default_str()
           ->type_name("T"),
       [this](TrainOptions& o) { o.ns_steps = given_.ns_steps; });
  flag(kDescent,
       command
           .add_option("--average", given_.average,
                       "Running mean of the parameters: weight of the past; 0 for none")
           ->capture_default_str()
           ->type_name("X"),
       [this](TrainOptions& o) { o.average = given_.average; });
  flag(kDescent,
       command
           .add_option("--engine", engine_,
                       "How gradients are computed; all agree to rounding. auto (default): the "
                       "fastest for n, w and the batch; naive: as written down; factor: w = 1; "
                       "pure: w = 1 from a pure state; lanes: n = 2; superoperator; kraus")
           ->check(one_of({"auto", "naive", "factor", "pure", "lanes", "superoperator", "kraus"}))
           ->type_name("E"),
       [this](TrainOptions& o) { o.engine = engine_named(engine_); });
  constexpr const char* kOthers = "Givens search and EM";
  flag(kOthers,
       command.add_option("--givens-pairs", given_.givens_pairs, "Row pairs tried per batch")
           ->check(whole_number(1))
           ->capture_default_str()
           ->type_name("N"),
       [this](TrainOptions& o) { o.givens_pairs = given_.givens_pairs; });
  flag(kOthers,
       command
           .add_option("--givens-evaluations", given_.givens_evaluations,
                       "Likelihood evaluations per row pair")
           ->check(whole_number(1, 1000000))
           ->capture_default_str()
           ->type_name("N"),
       [this](TrainOptions& o) { o.givens_evaluations = given_.givens_evaluations; });
  flag(kOthers,
       command
           .add_option("--emission", emission_,
                       "EM: symbols of the state (default), or of the edge: one free matrix for "
                       "each symbol (Mealy type)")
           ->check(one_of({"state", "edge"}))
           ->type_name("E"),
       [this](TrainOptions& o) { o.emission = parse_emission(emission_); });
  flag(kOthers,
       command
           .add_option("--tolerance", given_.tolerance,
                       "EM: stop at this relative change of the log-likelihood")
           ->capture_default_str()
           ->type_name("X"),
       [this](TrainOptions& o) { o.tolerance = given_.tolerance; });
}

void TrainFlags::add_data_flags(CLI::App& command) {
  constexpr const char* kGroup = "Validation and chunks";
  const auto flag = [&](CLI::Option* option, auto apply) {
    option->group(kGroup);
    overrides_.emplace_back(option, apply);
  };
  command.add_option("--validation", validation_path_, "Sequences to select the best epoch on")
      ->group(kGroup)
      ->type_name("PATH");
  command
      .add_option("--validation-share", validation_share_,
                  "Without --validation: share of the training sequences to hold out")
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str()
      ->group(kGroup)
      ->type_name("X");
  flag(command
           .add_option("--chunk-length", chunk_length_,
                       "Cut training sequences; 0 leaves them whole; auto: 300 when some are "
                       "longer than 600")
           ->check(count_or_auto())
           ->type_name("N|auto"),
       [this](TrainOptions& o) { o.chunk_length = parse_count(chunk_length_); });
  flag(command
           .add_option("--burn-in", burn_in_,
                       "Unscored symbols at a chunk's start; auto: 20 when chunks are cut")
           ->check(count_or_auto())
           ->type_name("N|auto"),
       [this](TrainOptions& o) { o.burn_in = parse_count(burn_in_); });
  flag(command
           .add_option("--validation-burn-in", validation_burn_in_,
                       "The same for validation; auto: a third of long sequences, at most 1000")
           ->check(count_or_auto())
           ->type_name("N|auto"),
       [this](TrainOptions& o) { o.validation_burn_in = parse_count(validation_burn_in_); });
  flag(command.add_flag("--gradient-through-burn-in,!--stop-gradient-at-burn-in",
                        given_.gradient_through_burn_in,
                        "Let the gradient flow through the burn-in (default), or stop it there"),
       [this](TrainOptions& o) { o.gradient_through_burn_in = given_.gradient_through_burn_in; });
}

void TrainFlags::add_run_flags(CLI::App& command) {
  constexpr const char* kGroup = "Runs and stopping";
  command
      .add_option("--run", run_path_,
                  "Folder to keep config.json, history.jsonl and checkpoint.h5 in")
      ->group(kGroup)
      ->type_name("DIR");
  command
      .add_option("--resume", resume_path_, "Go on with the run in this folder; needs nothing else")
      ->group(kGroup)
      ->type_name("DIR");
  command
      .add_flag(
          "--stationarity", stationarity_,
          "Measure every term of the paper's convergence bound (constant step size); see inspect")
      ->group(kGroup);
}

TrainOptions TrainFlags::cell_options(std::size_t alphabet_size, Index n, Index w) const {
  TrainOptions options = options_for(alphabet_size, Sizes{n, w});
  options.threads = 1;
  require_usable(options);
  return options;
}

TrainOptions TrainFlags::options_for(std::size_t alphabet_size,
                                     const std::optional<Sizes>& cell) const {
  TrainOptions options = default_options(parse_learner(learner_));
  const auto apply_given = [&] {
    for (const auto& [option, apply] : overrides_) {
      if (option->count() > 0) apply(options);
    }
    if (cell) {
      options.latent_dim = cell->n;
      options.kraus_rank = cell->w;
    }
  };
  apply_given();  // the preset looks at n and w
  if (preset_ == "paper") apply_paper_preset(options, alphabet_size);
  if (stationarity_) options.schedule = ScheduleKind::kConstant;
  if (retraction_ == "literal") options.average = 0.0;
  apply_given();
  take_sizes_from_warm_start(options);
  options.seed = common_.seed;
  return options;
}

bool TrainFlags::given(const std::string& name) const {
  return std::any_of(overrides_.begin(), overrides_.end(), [&](const auto& one) {
    return one.first->check_lname(name) && one.first->count() > 0;
  });
}

void TrainFlags::take_sizes_from_warm_start(TrainOptions& options) const {
  if (warm_start_.empty()) return;
  Index rank =
      options.latent_dim;  // the embedding of an HMM has as many operators per symbol as states
  if (warm_model_) {
    const Index n = std::visit([](const auto& m) { return m.latent_dim(); }, *warm_model_);
    if (!given("latent-dim")) options.latent_dim = n;
    rank =
        std::holds_alternative<Hqmm>(*warm_model_) ? std::get<Hqmm>(*warm_model_).kraus_rank() : n;
  }
  if (!given("kraus-rank")) options.kraus_rank = rank;
}

void TrainFlags::require_flags_that_go_together() const {
  if (train_path_.empty()) throw fail(ErrorCode::kUsage, "DATA is required (or --resume DIR)");
  if (common_.out.empty() && run_path_.empty() && !grid_) {
    throw fail(ErrorCode::kUsage, "where should the model go? Give -o model.h5 (or --run DIR)");
  }
  if (!run_path_.empty() && (train_path_ == "-" || validation_path_ == "-")) {
    throw fail(ErrorCode::kUsage,
               "--run needs data in a file: a run that goes on must read it again");
  }
  const std::initializer_list<std::string> inputs = {train_path_, validation_path_, warm_start_};
  if (std::count(inputs.begin(), inputs.end(), "-") > 1)
    throw fail(ErrorCode::kUsage, "only one input can come from stdin");
  if (retraction_ == "literal" && learner_ != "ns-ris")
    throw fail(ErrorCode::kUsage, "--retraction literal is about ns-ris, not {}", learner_);
  if (retraction_ == "literal" && given("average")) {
    throw fail(ErrorCode::kUsage,
               "--average does not go with --retraction literal: a mean of infeasible models is "
               "projected back before it is scored");
  }
  if (stationarity_ && learner_ != "ns-ris")
    throw fail(ErrorCode::kUsage, "--stationarity is about ns-ris, not {}", learner_);
}

TrainJob TrainFlags::job() {
  require_flags_that_go_together();
  if (!warm_start_.empty() && warm_start_ != "em") warm_model_ = read_model(warm_start_).model;
  TrainJob job;
  job.common = common_;
  job.data = data_;
  job.train_path = train_path_;
  job.validation_path = validation_path_;
  job.validation_share = validation_share_;
  job.run_path = run_path_;
  job.out = common_.out.empty() ? model_in(run_path_) : common_.out;
  job.warm_start = warm_start_;
  job.warm_model = warm_model_;
  job.stationarity = stationarity_;
  job.options = options_for(0);
  require_usable(job.options);
  job.finish_options = [this](TrainOptions& options, std::size_t alphabet_size) {
    options = options_for(alphabet_size);
  };
  if (grid_ && common_.out.empty()) {
    job.out.clear();
    return job;
  }
  for (const std::string& input : {train_path_, validation_path_})
    require_not_an_input(job.out, input);
  if (!same_folder(std::filesystem::path(job.out).parent_path(), run_path_))
    require_writable_place(job.out);
  return job;
}

TrainJob TrainFlags::resume(const RunDirectory& run) const {
  for (const CLI::Option* option : command_->get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || kWithResume.contains(name)) continue;
    throw fail(ErrorCode::kUsage,
               "--resume goes on with the run's own data and options: {} cannot be given", name);
  }
  TrainJob job;
  job.common = common_;
  job.resuming = true;
  job.run_path = resume_path_;
  const nlohmann::json& config = run.config();
  try {
    config.at("train").get_to(job.train_path);
    config.at("validation").get_to(job.validation_path);
    config.at("validation_share").get_to(job.validation_share);
    config.at("train_hash").get_to(job.expected_train_hash);
    config.at("validation_hash").get_to(job.expected_validation_hash);
    config.at("out").get_to(job.out);
    config.at("warm_start").get_to(job.warm_start);
    config.at("stationarity").get_to(job.stationarity);
    config.at("simd").get_to(job.expected_simd);
    job.data.from_json(config.at("reading"));
    job.options = train_options_from_json(config.at("options"));
    require_usable(job.options);
  } catch (const nlohmann::json::exception&) {
    throw fail(ErrorCode::kBadData, {run.file("config.json"), {}, {}, {}, {}},
               "does not describe a training run");
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadData, error.message(), {run.file("config.json"), {}, {}, {}, {}});
  }
  if (given("time-limit")) job.options.time_limit = given_.time_limit;
  require_usable(job.options);
  if (!common_.out.empty()) job.out = common_.out;
  if (job.out.empty()) job.out = model_in(resume_path_);
  for (const std::string& input : {job.train_path, job.validation_path})
    require_not_an_input(job.out, input);
  require_writable_place(job.out);
  return job;
}

}  // namespace hqmm::cli

// The flags of `hqmm train` and `hqmm select`, as --help shows them.
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/learn/options.hpp"
#include "support/command.hpp"
#include "train/options.hpp"

namespace hqmm::cli {
namespace {

std::optional<std::size_t> parse_count(const std::string& text) {
  if (text == "auto") return {};
  return std::stoull(text);
}

}  // namespace

void TrainFlags::add_to(Command command) {
  command_ = command;
  command.add_option("DATA", train_path_, "Training sequences").type_name("");
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

void TrainFlags::add_grid_to(Command command) {
  grid_ = true;
  command_ = command;
  command.add_option("DATA", train_path_, "Training sequences").required().type_name("");
  add_size_lists(command);
  add_model_flags(command);
  add_descent_flags(command);
  add_data_flags(command);
  add_stop_flags(command);
  data_.add_to(command);
  add_common(command, common_, "Model file to write: the best");
}

void TrainFlags::flag(const char* group, Option option, std::function<void(TrainOptions&)> apply) {
  option.group(group);
  overrides_.emplace_back(option, std::move(apply));
}

void TrainFlags::add_model_flags(Command command) {
  constexpr const char* kGroup = "Model and learner";
  command.add_option("--learner", learner_, "ns-ris, cosm, givens (HQMMs) or em (HMMs)")
      .capture_default_str()
      .check(one_of({"ns-ris", "cosm", "givens", "em"}))
      .group(kGroup)
      .type_name("L");
  flag(kGroup,
       command
           .add_option(
               "--retraction", retraction_,
               "feasible (default: stays a probability model) or literal (the paper's: does not)")
           .check(one_of({"feasible", "literal"}))
           .type_name("R"),
       [this](TrainOptions& o) { o.retraction = parse_retraction(retraction_); });
  flag(kGroup,
       command
           .add_option("--initial-state", initial_state_,
                       "uniform (I/n, default), random, learned, or pure (learned, rank one)")
           .check(one_of({"uniform", "random", "learned", "pure"}))
           .type_name("S"),
       [this](TrainOptions& o) { o.initial_state = parse_initial_state(initial_state_); });
  command
      .add_option("--preset", preset_,
                  "default, or paper: its protocol, with COSM's tuned step sizes; other flags "
                  "still override")
      .check(one_of({"default", "paper"}))
      .capture_default_str()
      .group(kGroup)
      .type_name("P");
  flag(kGroup,
       command
           .add_option("--restarts", given_.restarts,
                       "Independent starts, the best on validation kept (default 1; em 16)")
           .check(whole_number(1))
           .type_name("R"),
       [this](TrainOptions& o) { o.restarts = given_.restarts; });
}

void TrainFlags::add_size_flags(Command command) {
  constexpr const char* kGroup = "Model and learner";
  flag(
      kGroup,
      command
          .add_option("-n,--latent-dim", given_.latent_dim, "Latent dimension, or number of states")
          .check(whole_number(1, 4096))
          .capture_default_str()
          .type_name("N"),
      [this](TrainOptions& o) { o.latent_dim = given_.latent_dim; });
  flag(kGroup,
       command.add_option("-w,--kraus-rank", given_.kraus_rank, "Kraus operators per symbol")
           .check(whole_number(1, 4096))
           .capture_default_str()
           .type_name("W"),
       [this](TrainOptions& o) { o.kraus_rank = given_.kraus_rank; });
}

void TrainFlags::add_size_lists(Command command) {
  constexpr const char* kGroup = "Model and learner";
  command.add_option("-n,--latent-dim", latent_dims_, "Latent dimensions, or numbers of states")
      .check(whole_number(1, 4096))
      .delimiter(',')
      .one_word()
      .capture_default_str()
      .group(kGroup)
      .type_name("N,…");
  command.add_option("-w,--kraus-rank", kraus_ranks_, "Kraus operators per symbol")
      .check(whole_number(1, 4096))
      .delimiter(',')
      .one_word()
      .capture_default_str()
      .group(kGroup)
      .type_name("W,…");
}

void TrainFlags::add_warm_start_flags(Command command) {
  constexpr const char* kGroup = "Model and learner";
  command
      .add_option("--warm-start", warm_start_,
                  "Start from a model file, or from 'em': an HMM learned first (then w = n)")
      .group(kGroup)
      .type_name("MODEL|em");
  flag(kGroup,
       command.add_option("--warm-noise", given_.warm_noise, "Noise on a warm start from an HMM")
           .capture_default_str()
           .type_name("X"),
       [this](TrainOptions& o) { o.warm_noise = given_.warm_noise; });
}

void TrainFlags::add_stop_flags(Command command) {
  constexpr const char* kGroup = "Runs and stopping";
  flag(kGroup,
       command
           .add_option("--time-limit", given_.time_limit,
                       "Stop after so many seconds; 0 for no limit")
           .capture_default_str()
           .type_name("S"),
       [this](TrainOptions& o) { o.time_limit = given_.time_limit; });
  flag(kGroup,
       command
           .add_option("--patience", given_.patience,
                       "Stop after so many epochs without a better validation score; 0 never does")
           .check(whole_number())
           .capture_default_str()
           .type_name("N"),
       [this](TrainOptions& o) { o.patience = given_.patience; });
}

void TrainFlags::add_descent_flags(Command command) {
  constexpr const char* kDescent = "Descent (ns-ris, cosm)";
  flag(kDescent,
       command
           .add_option("--epochs", given_.epochs,
                       "Passes over the data (em: iterations, 600; givens: batches, 15)")
           .check(whole_number())
           .capture_default_str()
           .type_name("N"),
       [this](TrainOptions& o) { o.epochs = given_.epochs; });
  flag(kDescent,
       command.add_option("--batch-size", given_.batch_size, "Chunks per update (givens 1)")
           .check(whole_number(1))
           .capture_default_str()
           .type_name("N"),
       [this](TrainOptions& o) { o.batch_size = given_.batch_size; });
  flag(kDescent,
       command.add_option("--step-size", given_.step_size, "Step size η at the start")
           .capture_default_str()
           .type_name("X"),
       [this](TrainOptions& o) { o.step_size = given_.step_size; });
  flag(
      kDescent,
      command.add_option("--schedule", schedule_, "cosine to zero (default), geometric or constant")
          .check(one_of({"cosine", "geometric", "constant"}))
          .type_name("S"),
      [this](TrainOptions& o) { o.schedule = parse_schedule(schedule_); });
  flag(kDescent,
       command
           .add_option("--step-decay", given_.step_decay,
                       "Factor per epoch of the geometric schedule")
           .capture_default_str()
           .type_name("X"),
       [this](TrainOptions& o) { o.step_decay = given_.step_decay; });
  flag(kDescent,
       command.add_option("--momentum", given_.momentum, "Momentum β")
           .capture_default_str()
           .type_name("X"),
       [this](TrainOptions& o) { o.momentum = given_.momentum; });
  flag(kDescent,
       command.add_option("--ns-steps", given_.ns_steps, "Newton–Schulz steps T of the direction")
           .check(whole_number(1, 100))
           .capture_default_str()
           .type_name("T"),
       [this](TrainOptions& o) { o.ns_steps = given_.ns_steps; });
  flag(kDescent,
       command
           .add_option("--average", given_.average,
                       "Running mean of the parameters: weight of the past; 0 for none")
           .capture_default_str()
           .type_name("X"),
       [this](TrainOptions& o) { o.average = given_.average; });
  flag(kDescent,
       command
           .add_option("--engine", engine_,
                       "How gradients are computed; all agree to rounding. auto (default): the "
                       "fastest for n, w and the batch; naive: as written down; factor: w = 1; "
                       "pure: w = 1 from a pure state; lanes: n = 2; superoperator; kraus")
           .check(one_of({"auto", "naive", "factor", "pure", "lanes", "superoperator", "kraus"}))
           .type_name("E"),
       [this](TrainOptions& o) { o.engine = engine_named(engine_); });
  constexpr const char* kOthers = "Givens search and EM";
  flag(kOthers,
       command.add_option("--givens-pairs", given_.givens_pairs, "Row pairs tried per batch")
           .check(whole_number(1))
           .capture_default_str()
           .type_name("N"),
       [this](TrainOptions& o) { o.givens_pairs = given_.givens_pairs; });
  flag(kOthers,
       command
           .add_option("--givens-evaluations", given_.givens_evaluations,
                       "Likelihood evaluations per row pair")
           .check(whole_number(1, 1000000))
           .capture_default_str()
           .type_name("N"),
       [this](TrainOptions& o) { o.givens_evaluations = given_.givens_evaluations; });
  flag(kOthers,
       command
           .add_option("--emission", emission_,
                       "EM: symbols of the state (default), or of the edge: one free matrix for "
                       "each symbol (Mealy type)")
           .check(one_of({"state", "edge"}))
           .type_name("E"),
       [this](TrainOptions& o) { o.emission = parse_emission(emission_); });
  flag(kOthers,
       command
           .add_option("--tolerance", given_.tolerance,
                       "EM: stop at this relative change of the log-likelihood")
           .capture_default_str()
           .type_name("X"),
       [this](TrainOptions& o) { o.tolerance = given_.tolerance; });
}

void TrainFlags::add_data_flags(Command command) {
  constexpr const char* kGroup = "Validation and chunks";
  command.add_option("--validation", validation_path_, "Sequences to select the best epoch on")
      .group(kGroup)
      .type_name("PATH");
  command
      .add_option("--validation-share", validation_share_,
                  "Without --validation: share of the training sequences to hold out")
      .check(number_between(0.01, 0.99))
      .capture_default_str()
      .group(kGroup)
      .type_name("X");
  flag(kGroup,
       command
           .add_option("--chunk-length", chunk_length_,
                       "Cut training sequences; 0 leaves them whole; auto: 300 when some are "
                       "longer than 600")
           .check(count_or_auto())
           .type_name("N|auto"),
       [this](TrainOptions& o) { o.chunk_length = parse_count(chunk_length_); });
  flag(kGroup,
       command
           .add_option("--burn-in", burn_in_,
                       "Unscored symbols at a chunk's start; auto: 20 when chunks are cut")
           .check(count_or_auto())
           .type_name("N|auto"),
       [this](TrainOptions& o) { o.burn_in = parse_count(burn_in_); });
  flag(kGroup,
       command
           .add_option("--validation-burn-in", validation_burn_in_,
                       "The same for validation; auto: a third of long sequences, at most 1000")
           .check(count_or_auto())
           .type_name("N|auto"),
       [this](TrainOptions& o) { o.validation_burn_in = parse_count(validation_burn_in_); });
  flag(kGroup,
       command.add_flag("--gradient-through-burn-in,!--stop-gradient-at-burn-in",
                        given_.gradient_through_burn_in,
                        "Let the gradient flow through the burn-in (default), or stop it there"),
       [this](TrainOptions& o) { o.gradient_through_burn_in = given_.gradient_through_burn_in; });
}

void TrainFlags::add_run_flags(Command command) {
  constexpr const char* kGroup = "Runs and stopping";
  command
      .add_option("--run", run_path_,
                  "Folder to keep config.json, history.jsonl and checkpoint.h5 in")
      .group(kGroup)
      .type_name("DIR");
  command
      .add_option("--resume", resume_path_, "Go on with the run in this folder; needs nothing else")
      .group(kGroup)
      .type_name("DIR");
  command
      .add_flag(
          "--stationarity", stationarity_,
          "Measure every term of the paper's convergence bound (constant step size); see inspect")
      .group(kGroup);
}

}  // namespace hqmm::cli

// The options of a training run, a row each, in the order of config.json. An option that is added
// to TrainOptions gets its row here, and with it its checks, its place in files, its flag and its
// Python parameter.
#include "hqmm/learn/option_row.hpp"

namespace hqmm::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kModelGroup = "Model and learner";
constexpr const char* kDescentGroup = "Descent (ns-ris, cosm)";
constexpr const char* kOthersGroup = "Givens search and EM";
constexpr const char* kDataGroup = "Validation and chunks";
constexpr const char* kRunGroup = "Runs and stopping";

constexpr OptionRange kSize{.least = 1, .most = 4096};
constexpr OptionRange kAtLeastOne{.least = 1};
constexpr OptionRange kShareBelowOne{.most = 1, .without_most = true};

using L = LearnerKind;
using O = TrainOptions;

void add_model_rows(OptionTable<O>& table) {
  const std::vector<L> hqmm = {L::kNsRis, L::kCosm, L::kGivens};
  table.push_back(
      option_row(&O::learner,
                 {.id = "learner",
                  .group = kModelGroup,
                  .type_name = "L",
                  .help = "How the model is learned: ns-ris, cosm or givens (HQMMs), em (HMMs)"}));
  table.push_back(option_row(
      &O::retraction,
      {.id = "retraction",
       .group = kModelGroup,
       .type_name = "R",
       .help =
           "How a step ends: feasible keeps a probability model, literal (the paper's) does not",
       .learners = {L::kNsRis}}));
  table.push_back(option_row(&O::latent_dim, {.id = "latent_dim",
                                              .group = kModelGroup,
                                              .type_name = "N",
                                              .help = "Latent dimension, or number of states",
                                              .short_flag = 'n',
                                              .range = kSize,
                                              .python_name = "n_states"}));
  table.push_back(option_row(&O::kraus_rank, {.id = "kraus_rank",
                                              .group = kModelGroup,
                                              .type_name = "W",
                                              .help = "Kraus operators per symbol",
                                              .short_flag = 'w',
                                              .range = kSize,
                                              .python_name = "n_kraus",
                                              .learners = hqmm}));
  table.push_back(
      option_row(&O::field, {.id = "field",
                             .group = kModelGroup,
                             .type_name = "F",
                             .help = "Whether Kraus operators and states are complex or real",
                             .learners = hqmm}));
  table.push_back(option_row(
      &O::emission,
      {.id = "emission",
       .group = kModelGroup,
       .type_name = "E",
       .help = "Where symbols come from: edge: the move, with operators (for an HMM a matrix) "
               "for each symbol; state: the new state, with operators shared by all symbols"}));
  table.push_back(
      option_row(&O::initial_state,
                 {.id = "initial_state",
                  .group = kModelGroup,
                  .type_name = "S",
                  .help = "The state before the first symbol: uniform (I/n) or random, both "
                          "fixed; learned; or pure (learned, rank one)",
                  .learners = hqmm}));
}

void add_descent_rows(OptionTable<O>& table) {
  const std::vector<L> descent = {L::kNsRis, L::kCosm};
  table.push_back(option_row(
      &O::epochs, {.id = "epochs",
                   .group = kDescentGroup,
                   .type_name = "N",
                   .help = "Passes over the data; iterations of em, batches of givens"}));
  table.push_back(option_row(&O::batch_size, {.id = "batch_size",
                                              .group = kDescentGroup,
                                              .type_name = "N",
                                              .help = "Chunks per update",
                                              .range = kAtLeastOne,
                                              .learners = {L::kNsRis, L::kCosm, L::kGivens}}));
  table.push_back(option_row(&O::step_size, {.id = "step_size",
                                             .group = kDescentGroup,
                                             .type_name = "X",
                                             .help = "Step size η at the start",
                                             .learners = descent}));
  table.push_back(
      option_row(&O::emission_step,
                 {.id = "emission_step",
                  .group = kDescentGroup,
                  .type_name = "X",
                  .help = "Step size of the emission vectors at the start, for emission on states",
                  .learners = descent}));
  table.push_back(
      option_row(&O::step_decay, {.id = "step_decay",
                                  .group = kDescentGroup,
                                  .type_name = "X",
                                  .help = "Factor per epoch of the geometric schedule",
                                  .range = {.least = 0, .most = 1, .without_least = true},
                                  .learners = descent}));
  table.push_back(option_row(
      &O::schedule, {.id = "schedule",
                     .group = kDescentGroup,
                     .type_name = "S",
                     .help = "How the step size falls: cosine to zero, geometric, or constant",
                     .learners = descent}));
  table.push_back(option_row(&O::momentum, {.id = "momentum",
                                            .group = kDescentGroup,
                                            .type_name = "X",
                                            .help = "Momentum β",
                                            .range = kShareBelowOne,
                                            .learners = descent}));
  table.push_back(option_row(&O::ns_steps, {.id = "ns_steps",
                                            .group = kDescentGroup,
                                            .type_name = "T",
                                            .help = "Newton–Schulz steps T of the direction",
                                            .range = {.least = 1, .most = 100},
                                            .learners = {L::kNsRis}}));
  table.push_back(option_row(
      &O::average, {.id = "average",
                    .group = kDescentGroup,
                    .type_name = "X",
                    .help = "Running mean of the parameters: weight of the past; 0 for none",
                    .range = kShareBelowOne,
                    .learners = descent}));
  table.push_back(option_row(
      &O::engine,
      {.id = "engine",
       .group = kDescentGroup,
       .type_name = "E",
       .help = "How gradients are computed; all agree to rounding. auto: the fastest for n, w and "
               "the batch; naive: as written down; factor: w = 1; pure: w = 1 from a pure state; "
               "lanes: n = 2; superoperator; kraus",
       .learners = descent}));
  table.push_back(option_row(
      &O::device, {.id = "device",
                   .group = kDescentGroup,
                   .type_name = "D",
                   .help = "Where gradients and validation are computed: cpu, or cuda, an "
                           "NVIDIA GPU. The numbers agree to rounding",
                   .learners = descent}));
}

void add_data_rows(OptionTable<O>& table) {
  const std::vector<L> hqmm = {L::kNsRis, L::kCosm, L::kGivens};
  table.push_back(option_row(&O::chunk_length,
                             {.id = "chunk_length",
                              .group = kDataGroup,
                              .type_name = "N|auto",
                              .help = "Cut training sequences; 0 leaves them whole; auto: 300 when "
                                      "some are longer than 600",
                              .learners = hqmm}));
  table.push_back(option_row(
      &O::burn_in, {.id = "burn_in",
                    .group = kDataGroup,
                    .type_name = "N|auto",
                    .help = "Unscored symbols at a chunk's start; auto: 20 when chunks are cut",
                    .learners = hqmm}));
  table.push_back(option_row(&O::validation_burn_in,
                             {.id = "validation_burn_in",
                              .group = kDataGroup,
                              .type_name = "N|auto",
                              .help = "Unscored symbols at the start of validation sequences; "
                                      "auto: a third of long ones, at most 1000"}));
  table.push_back(
      option_row(&O::gradient_through_burn_in,
                 {.id = "gradient_through_burn_in",
                  .group = kDataGroup,
                  .type_name = "",
                  .help = "Let the gradient flow through the burn-in (default), or stop it there",
                  .opposite = "stop_gradient_at_burn_in",
                  .learners = {L::kNsRis, L::kCosm}}));
}

void add_other_rows(OptionTable<O>& table) {
  table.push_back(option_row(&O::givens_pairs, {.id = "givens_pairs",
                                                .group = kOthersGroup,
                                                .type_name = "N",
                                                .help = "Givens: row pairs tried per batch",
                                                .range = kAtLeastOne,
                                                .learners = {L::kGivens}}));
  table.push_back(
      option_row(&O::givens_evaluations, {.id = "givens_evaluations",
                                          .group = kOthersGroup,
                                          .type_name = "N",
                                          .help = "Givens: likelihood evaluations per row pair",
                                          .range = {.least = 1, .most = 1000000},
                                          .learners = {L::kGivens}}));
  table.push_back(
      option_row(&O::tolerance, {.id = "tolerance",
                                 .group = kOthersGroup,
                                 .type_name = "X",
                                 .help = "EM: stop at this relative change of the log-likelihood",
                                 .range = {.most = kInfinity},
                                 .learners = {L::kEm}}));
}

void add_run_rows(OptionTable<O>& table) {
  table.push_back(
      option_row(&O::restarts, {.id = "restarts",
                                .group = kModelGroup,
                                .type_name = "R",
                                .help = "Independent starts, in parallel on the threads; the "
                                        "best on validation is kept",
                                .range = {.least = 1, .most = 10000}}));
  table.push_back(
      option_row(&O::halving, {.id = "halving",
                               .group = kModelGroup,
                               .type_name = "",
                               .help = "Keep the better half of the restarts, by validation, "
                                       "after equal shares of the epochs, until one is left",
                               .opposite = "no_halving"}));
  table.push_back(option_row(
      &O::patience,
      {.id = "patience",
       .group = kRunGroup,
       .type_name = "N",
       .help = "Stop after this many epochs without a better validation score; 0: never"}));
  table.push_back(
      option_row(&O::time_limit, {.id = "time_limit",
                                  .group = kRunGroup,
                                  .type_name = "S",
                                  .help = "Stop after this many seconds; 0: no limit. A resumed "
                                          "run gets the full time again",
                                  .range = {.most = kInfinity}}));
  table.push_back(
      option_row(&O::memory, {.id = "memory",
                              .group = kRunGroup,
                              .type_name = "SIZE",
                              .help = "Stay within this much memory, such as 512M or 2G: data that "
                                      "do not fit go through a scratch file; 0: no limit",
                              .passing = true,
                              .type = OptionType::kBytes}));
  table.push_back(option_row(&O::warm_noise, {.id = "warm_noise",
                                              .group = kModelGroup,
                                              .type_name = "X",
                                              .help = "Noise on a warm start from an HMM",
                                              .learners = {L::kNsRis, L::kCosm, L::kGivens}}));
  table.push_back(option_row(&O::seed, {.id = "seed",
                                        .group = kRunGroup,
                                        .type_name = "N",
                                        .help = "Seed of every random choice",
                                        .only_kept = true}));
}

}  // namespace

/// Not the threads: they change nothing, and every command has them.
const OptionTable<TrainOptions>& train_option_table() {
  static const OptionTable<TrainOptions> table = [] {
    OptionTable<TrainOptions> out;
    add_model_rows(out);
    add_descent_rows(out);
    add_data_rows(out);
    add_other_rows(out);
    add_run_rows(out);
    return out;
  }();
  return table;
}

TrainOptions recipe(const GivenOptions& given, std::string_view preset, std::size_t alphabet_size) {
  require_compatible(given);
  const auto on_top = [&](TrainOptions& options) {
    set_options(train_option_table(), options, given);
  };
  TrainOptions asked;
  on_top(asked);
  return recipe(asked.learner, preset, alphabet_size, on_top);
}

void require_compatible(const GivenOptions& given) {
  TrainOptions asked;
  set_options(train_option_table(), asked, given);
  if (asked.retraction != RetractionKind::kLiteral) return;
  const OptionRef literal = option("retraction", name_of(asked.retraction));
  if (asked.learner != LearnerKind::kNsRis)
    throw fail(ErrorCode::kUsage, "{} applies to ns-ris, not to {}", literal,
               name_of(asked.learner));
  if (given.contains("average")) {
    throw fail(ErrorCode::kUsage,
               "{} cannot be combined with {}: a mean of infeasible "
               "models is projected back before it is scored",
               option("average"), literal);
  }
}

std::string default_text(const OptionRow<TrainOptions>& row) {
  std::string out = value_text(row.get(TrainOptions{}));
  if (row.id == "learner") return out;
  std::string others;
  for (const auto& [learner, name] : EnumNames<LearnerKind>::kAll) {
    const std::string its = value_text(row.get(default_options(learner)));
    if (row.is_about(learner) && its != out)
      others += fmt::format("{}{} {}", others.empty() ? "" : ", ", name, its);
  }
  return others.empty() ? out : fmt::format("{} ({})", out, others);
}

}  // namespace hqmm::detail

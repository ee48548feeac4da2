// The options of classifiers, a row each, in the order of classifier files. Those of the training
// inside are rows of the training table, in the words of classifiers where these differ.
#include <cassert>

#include "hqmm/learn/option_row.hpp"

namespace hqmm::detail {
namespace {

constexpr const char* kClassModels = "Models";
constexpr const char* kClassLearning = "Learning";
constexpr OptionRange kBelowOne{.most = 1, .without_most = true};

using C = ClassifierOptions;

/// The option of the same name of the training inside.
OptionRow<C> of_training(std::string_view id, std::string_view group, std::string_view help = {}) {
  const OptionRow<TrainOptions>* inner = find_option(train_option_table(), id);
  assert(inner != nullptr);
  OptionRow<C> row;
  static_cast<OptionInfo&>(row) = *inner;
  row.group = group;
  if (!help.empty()) row.help = help;
  row.get = [inner](const C& options) { return inner->get(options.train); };
  row.put = [inner](C& options, const OptionValue& value) { inner->put(options.train, value); };
  return row;
}

OptionRow<C> positions_row() {
  OptionRow<C> row;
  static_cast<OptionInfo&>(row) = {
      .id = "positions",
      .group = kClassModels,
      .type_name = "P",
      .help =
          "Which positions share parameters: stationary, each, window:A-B,tie=K or map:FILE; "
          "by default a window in the middle if all sequences have the same length, otherwise "
          "stationary",
      .by_data = true};
  row.get = [](const C& options) -> OptionValue {
    const bool mapped = options.positions.kind == PositionPlan::Kind::kMap;
    return mapped ? "map" : options.positions.text();
  };
  row.put = [](C& options, const OptionValue& value) {
    const bool from_end = options.positions.from_end;
    options.positions = PositionPlan::parse(std::get<std::string>(value));
    options.positions.from_end = from_end;
  };
  return row;
}

OptionRow<C> anchor_row() {
  OptionRow<C> row;
  static_cast<OptionInfo&>(row) = {.id = "anchor",
                                   .group = kClassModels,
                                   .type_name = "start|end",
                                   .help = "The end that positions are counted from",
                                   .type = OptionType::kWord,
                                   .words = {"start", "end"}};
  row.get = [](const C& options) -> OptionValue {
    return std::string(options.positions.from_end ? "end" : "start");
  };
  row.put = [](C& options, const OptionValue& value) {
    options.positions.from_end = std::get<std::string>(value) == "end";
  };
  return row;
}

void add_training_rows(OptionTable<C>& table) {
  table.push_back(of_training(
      "learner", kClassLearning,
      "How models are learned: ns-ris; cosm, givens or em for stationary generative ones"));
  table.push_back(of_training("latent_dim", kClassModels, "Latent dimension of each model"));
  table.push_back(
      of_training("kraus_rank", kClassModels,
                  "Kraus operators per symbol during learning; smoothing mixes in those of all "
                  "symbols, which makes more, at most n²"));
  table.push_back(of_training("field", kClassModels));
  table.push_back(of_training("emission", kClassModels));
  table.push_back(of_training("epochs", kClassLearning, "Passes over the data"));
  table.push_back(of_training("batch_size", kClassLearning,
                              "Sequences per step; by default a twelfth of them, 10 to 200"));
  table.back().by_data = true;
  table.push_back(
      of_training("step_size", kClassLearning, "Size of the first step; falls as a cosine"));
  table.push_back(of_training("emission_step", kClassLearning));
  table.push_back(of_training("schedule", kClassLearning));
  table.back().only_kept = true;
  table.push_back(of_training("device", kClassLearning));
  table.push_back(of_training("memory", kClassLearning));
  table.push_back(of_training("momentum", kClassLearning, "Weight of the previous direction"));
}

void add_joint_rows(OptionTable<C>& table) {
  table.push_back(option_row(&C::generative_epochs,
                             {.id = "generative_epochs",
                              .group = kClassLearning,
                              .type_name = "N",
                              .help = "Epochs of the generative start of the hybrid objective"}));
  table.push_back(option_row(&C::smoothing, {.id = "smoothing",
                                             .group = kClassModels,
                                             .type_name = "X",
                                             .help = "Share of the total channel "
                                                     "that is mixed into every symbol",
                                             .range = {.most = 1}}));
  table.push_back(option_row(&C::dropout, {.id = "dropout",
                                           .group = kClassLearning,
                                           .type_name = "X",
                                           .help = "Share of positions that a "
                                                   "step leaves out (marginalises)",
                                           .range = kBelowOne}));
  table.push_back(option_row(&C::second_moment,
                             {.id = "second_moment",
                              .group = kClassLearning,
                              .type_name = "X",
                              .help = "Decay of the squared gradient that scales the step of each "
                                      "Kraus set; 0: no scaling",
                              .range = kBelowOne}));
  table.push_back(option_row(&C::start_noise, {.id = "start_noise",
                                               .group = kClassLearning,
                                               .type_name = "X",
                                               .help = "Noise added to the start"}));
  table.push_back(option_row(&C::pseudo_count,
                             {.id = "pseudo_count",
                              .group = kClassLearning,
                              .type_name = "X",
                              .help = "Added to every count of the start's position frequencies"}));
}

}  // namespace

const OptionTable<ClassifierOptions>& classifier_option_table() {
  static const OptionTable<ClassifierOptions> table = [] {
    OptionTable<ClassifierOptions> out;
    out.push_back(
        option_row(&C::objective, {.id = "objective",
                                   .group = kClassLearning,
                                   .type_name = "O",
                                   .help = "How classes are learned: discriminative (all "
                                           "together), generative (each separately) or hybrid"}));
    out.push_back(positions_row());
    out.push_back(anchor_row());
    add_training_rows(out);
    add_joint_rows(out);
    out.push_back(option_row(&C::prior, {.id = "prior",
                                         .group = kClassModels,
                                         .type_name = "P",
                                         .help = "Class probabilities before anything is seen",
                                         .only_kept = true}));
    out.push_back(option_row(&C::members, {.id = "members",
                                           .group = kClassModels,
                                           .type_name = "N",
                                           .help = "Models per class, combined "
                                                   "into one mixture (an ensemble)",
                                           .range = {.least = 1}}));
    return out;
  }();
  return table;
}

std::string default_text(const OptionRow<ClassifierOptions>& row) {
  return row.by_data ? "" : value_text(row.get(ClassifierOptions{}));
}

}  // namespace hqmm::detail

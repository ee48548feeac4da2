// The flags of `hqmm train` and `hqmm select`, as --help shows them: those of the options' table,
// and those that are about files and runs.
#include <fmt/format.h>

#include <cassert>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/learn/option_table.hpp"
#include "support/command.hpp"
#include "support/option_flags.hpp"
#include "support/run_config.hpp"
#include "train/options.hpp"

namespace hqmm::cli {
namespace {

constexpr const char* kModel = "Model and learner";
constexpr const char* kData = "Validation and chunks";
constexpr const char* kRuns = "Runs and stopping";

/// What `hqmm select` does not offer as it is: sizes and structure are lists there, and nothing
/// starts warm.
bool is_about_one_run(std::string_view id) {
  return id == "latent_dim" || id == "kraus_rank" || id == "field" || id == "emission" ||
         id == "warm_noise";
}

}  // namespace

void TrainFlags::add_to(Command command) {
  command_ = command;
  command.add_option("DATA", train_paths_, "Training sequences, one or more files").type_name("");
  add_option_flags(command);
  add_preset_flag(command);
  add_warm_start_flag(command);
  add_data_flags(command);
  add_run_flags(command);
  data_.add_to(command);
  add_common(command, common_, "Model file to write");
}

void TrainFlags::add_grid_to(Command command) {
  grid_ = true;
  command_ = command;
  command.add_option("DATA", train_paths_, "Training sequences, one or more files").type_name("");
  add_size_lists(command);
  add_option_flags(command);
  add_preset_flag(command);
  add_data_flags(command);
  add_run_folder(command, run_path_, "Folder for config.json and, in cells/, a run of every model");
  add_resume_folder(command, resume_path_,
                    "Resume the selection in this folder; no other option is needed. Without -o "
                    "the best model is written to model.h5 there");
  data_.add_to(command);
  add_common(command, common_, "File for the best model");
  add_tsv(command, common_, "The ranking, separated by TABs");
}

void TrainFlags::add_option_flags(Command command) {
  for (const auto& row : train_option_table()) {
    if (row.only_kept || (grid_ && is_about_one_run(row.id))) continue;
    add_flag_of(command, row, given_, default_text(row));
  }
}

void TrainFlags::add_preset_flag(Command command) {
  command
      .add_option("--preset", preset_,
                  "default, or paper: its protocol, "
                  "with COSM's tuned step sizes; other flags still override")
      .check(one_of({"default", "paper"}))
      .capture_default_str()
      .group(kModel)
      .type_name("P");
}

void TrainFlags::add_size_lists(Command command) {
  command.add_option("-n,--latent-dim", latent_dims_, "Latent dimensions, or numbers of states")
      .check(whole_number(1, 4096))
      .delimiter(',')
      .one_word()
      .capture_default_str()
      .group(kModel)
      .type_name("N,…");
  command.add_option("-w,--kraus-rank", kraus_ranks_, "Kraus operators per symbol")
      .check(whole_number(1, 4096))
      .delimiter(',')
      .one_word()
      .capture_default_str()
      .group(kModel)
      .type_name("W,…");
  add_word_list(command, "field", fields_, "F,…");
  add_word_list(command, "emission", emissions_, "E,…");
}

/// Several words of an option of the table.
void TrainFlags::add_word_list(Command command, std::string_view id,
                               std::vector<std::string>& words, const char* type_name) {
  const OptionRow<TrainOptions>* row = find_option(train_option_table(), id);
  assert(row != nullptr);
  command.add_option(fmt::format("--{}", id), words, std::string(row->help))
      .check(one_of({row->words.begin(), row->words.end()}))
      .delimiter(',')
      .one_word()
      .group(kModel)
      .type_name(type_name);
}

void TrainFlags::add_warm_start_flag(Command command) {
  command
      .add_option("--warm-start", warm_start_,
                  "Start from a model file, or from 'em': an HMM learned first (then w = n)")
      .group(kModel)
      .type_name("MODEL|em");
}

void TrainFlags::add_data_flags(Command command) {
  command
      .add_option("--validation", validation_paths_,
                  "Sequences to select the best epoch on; repeat it for more files")
      .one_word()
      .group(kData)
      .type_name("PATH");
  command
      .add_option("--validation-share", validation_share_,
                  "Without --validation: share of the training sequences to hold out")
      .check(number_between(0.01, 0.99))
      .capture_default_str()
      .group(kData)
      .type_name("X");
}

void TrainFlags::add_run_flags(Command command) {
  add_run_folder(command, run_path_, "Folder for config.json, history.jsonl and checkpoint.h5");
  add_resume_folder(command, resume_path_,
                    "Resume the run in this folder; no other option is needed. "
                    "Without -o the model is written to model.h5 there");
  live_ =
      command
          .add_option("--live", live_port_,
                      "Show the run in a browser as it trains: 127.0.0.1, this port or a free one")
          .optional_value()
          .group(kRuns)
          .type_name("[PORT]");
  command
      .add_flag(
          "--stationarity", stationarity_,
          "Measure every term of the paper's convergence bound (constant step size); see inspect")
      .group(kRuns);
}

}  // namespace hqmm::cli

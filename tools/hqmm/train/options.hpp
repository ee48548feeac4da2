// The flags of `hqmm train` and what they add up to: a TrainJob, which config.json of a run
// directory keeps.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hqmm/core/types.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/model/any_model.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/internals.hpp"
#include "support/option_flags.hpp"

namespace hqmm::detail {
class RunDirectory;
struct GridPoint;
}  // namespace hqmm::detail

namespace hqmm::cli {

/// One training run, complete: made from flags, or read back from a run directory.
struct TrainJob {
  CommonOptions common;
  DataOptions data;
  Paths train_paths;
  Paths validation_paths;  // none: a share of the training data
  double validation_share = 0.2;
  std::string out;         // where the model goes
  std::string began_with;  // when resuming: the -o that the run began with
  std::string run_path;
  std::string warm_start;              // a model file, "em", or nothing
  std::optional<AnyModel> warm_model;  // the model of that file
  std::string expected_train_hash;     // when resuming
  std::string expected_validation_hash;
  std::string expected_simd;
  std::string expected_device;  // that the run began on; empty: the CPU
  bool stationarity = false;
  bool resuming = false;
  std::optional<int> live_port;  // 0: any that is free; none: no page is served
  TrainOptions options;
  /// Fills in what depends on the alphabet (the paper preset's tuned values).
  std::function<void(TrainOptions&, std::size_t)> finish_options;

  void settle(std::size_t alphabet_size);
  [[nodiscard]] Json config(const std::string& train_hash,
                            const std::string& validation_hash) const;
  /// What config() says about the data and where the run began. Throws nlohmann::json::exception.
  void take(const nlohmann::json& config);
};

class TrainFlags {
 public:
  void add_to(Command command);
  /// For a grid: sizes and structure take lists, and options for a single run are left out.
  void add_grid_to(Command command);
  /// An HMM has no w and no field.
  [[nodiscard]] std::vector<GridPoint> grid_points() const;
  [[nodiscard]] TrainOptions cell_options(std::size_t alphabet_size, const GridPoint& point) const;
  [[nodiscard]] const std::string& resume_path() const { return resume_path_; }
  /// --memory, which a resumed run does not know of.
  [[nodiscard]] std::size_t memory() const;
  /// Throws kUsage for flags that do not go together. The job refers to these flags.
  [[nodiscard]] TrainJob job();
  [[nodiscard]] TrainJob resume(const RunDirectory& run) const;
  /// Of a grid; `take_grid` gets what config.json says, for what only the grid knows.
  [[nodiscard]] TrainJob resume_grid(
      const RunDirectory& run, const std::function<void(const nlohmann::json&)>& take_grid) const;

 private:
  void add_option_flags(Command command);
  void add_preset_flag(Command command);
  void add_size_lists(Command command);
  static void add_word_list(Command command, std::string_view id, std::vector<std::string>& words,
                            const char* type_name);
  void add_warm_start_flag(Command command);
  void add_data_flags(Command command);
  void add_run_flags(Command command);
  void require_flags_that_go_together() const;
  /// A job with the settings of --resume.
  [[nodiscard]] TrainJob resumed() const;
  /// The recipe of the learner and preset, with every flag that was given on top.
  [[nodiscard]] TrainOptions options_for(std::size_t alphabet_size,
                                         const GridPoint* cell = nullptr) const;
  /// n and w, when they were not given, are those of the model training starts from.
  void take_sizes_from_warm_start(TrainOptions& options) const;
  [[nodiscard]] bool given(std::string_view id) const { return given_.contains(id); }
  [[nodiscard]] LearnerKind learner() const;
  [[nodiscard]] std::optional<int> live_port() const;

  Command command_;
  bool grid_ = false;
  std::vector<Index> latent_dims_{2, 4, 8};
  std::vector<Index> kraus_ranks_{1, 2, 4};
  std::vector<std::string> fields_, emissions_;  // of a grid; none: the learner's own
  CommonOptions common_;
  DataOptions data_;
  std::optional<AnyModel> warm_model_;
  Paths train_paths_, validation_paths_;
  std::string run_path_, resume_path_, warm_start_;
  double validation_share_ = 0.2;
  bool stationarity_ = false;
  Option live_;
  std::string live_port_;
  std::string preset_ = "default";
  GivenOptions given_;  // by the flags of the options' table
};

}  // namespace hqmm::cli

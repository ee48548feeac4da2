// What a person sees while training runs: a line on a terminal, nothing in a pipe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "hqmm/learn/options.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/run/session.hpp"
#include "support/internals.hpp"
#include "support/progress_line.hpp"
#include "support/sparkline.hpp"

namespace hqmm::cli {

class Progress {
 public:
  Progress(const CommonOptions& common, const TrainOptions& options);
  /// For a resumed run: shows its best so far at once.
  void go_on(const Resumption& at);
  void show(const EpochRecord& record);
  void clear() { line_.clear(); }

 private:
  [[nodiscard]] std::string time_left(const EpochRecord& record);
  void show(std::size_t restart, std::size_t epoch, const std::optional<double>& da,
            const std::string& left);

  ProgressLine line_;
  TrainOptions options_;
  std::optional<double> best_da_;
  std::map<std::size_t, Sparkline> bits_;  // of validation, of each restart: they take turns
  bool draws_;                             // the terminal shows its characters
  double first_share_ = 0.0;               // of the work that was done before this line began
  double first_seconds_ = 0.0;             // that it took
};

/// "ns-ris (feasible), n = 4, w = 2, s = 6: 20 training sequences, 60000 symbols in chunks of 300,
/// …"
[[nodiscard]] std::string describe_run(const Session& session);

}  // namespace hqmm::cli

// What a person sees while training runs: a line on a terminal, nothing in a pipe.
#pragma once

#include <optional>
#include <string>

#include "hqmm/learn/options.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/run/session.hpp"
#include "support/progress_line.hpp"

namespace hqmm::cli {

class Progress {
 public:
  Progress(const CommonOptions& common, const TrainOptions& options);
  void show(const EpochRecord& record);
  void clear() { line_.clear(); }

 private:
  [[nodiscard]] std::string time_left(const EpochRecord& record);

  ProgressLine line_;
  TrainOptions options_;
  std::optional<double> best_da_;
  double first_share_ = -1.0;  // of the work that was done before this line began; < 0: not known
  double first_seconds_ = 0.0;
};

/// "ns-ris (feasible), n = 4, w = 2, s = 6: 20 training sequences, 60000 symbols in chunks of 300,
/// …"
[[nodiscard]] std::string describe_run(const Session& session);

}  // namespace hqmm::cli

// What a person sees while training runs: a line on a terminal, nothing in a pipe; and Ctrl-C.
#pragma once

#include "command.hpp"

namespace hqmm::cli {

class Progress {
 public:
  Progress(const CommonOptions& common, const TrainOptions& options);
  void show(const EpochRecord& record);
  /// Removes the line.
  void clear();

 private:
  bool visible_;
  TrainOptions options_;
  std::optional<double> best_da_;
};

/// From here on SIGINT and SIGTERM ask training to stop at the next update; a second one kills.
[[nodiscard]] StopRequest catch_interrupts();

/// "ns-ris (feasible), n = 4, w = 2, s = 6: 200 chunks of 300 symbols, …"
[[nodiscard]] std::string describe_run(const TrainOptions& options, const SequenceSet& train,
                                       const SequenceSet& validation);

}  // namespace hqmm::cli

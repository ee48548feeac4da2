// What a person sees while training runs: a line on a terminal, nothing in a pipe; and Ctrl-C.
#pragma once

#include "progress_line.hpp"

namespace hqmm::cli {

/// Processor time of the calling thread: of one model that it trains alone, other work on the
/// machine adds nothing to it.
[[nodiscard]] double thread_seconds();

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
  std::size_t restart_ = 0;         // of the last record
  std::size_t epoch_ = 0;           // of the last record
  std::size_t epochs_earlier_ = 0;  // of the restarts before it
};

/// SIGINT and SIGTERM end the program with code 130: there is nothing to save yet.
void leave_on_interrupts();
/// From here on they ask training to stop at the next update; a second one kills.
[[nodiscard]] StopRequest catch_interrupts();

/// "ns-ris (feasible), n = 4, w = 2, s = 6: 200 chunks of 300 symbols, …"
[[nodiscard]] std::string describe_run(const TrainOptions& options, const SequenceSet& train,
                                       const SequenceSet& validation);

}  // namespace hqmm::cli

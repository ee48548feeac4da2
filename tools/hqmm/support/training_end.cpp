#include "support/training_end.hpp"

#include <fmt/format.h>

#include "hqmm/learn/trainer.hpp"

namespace hqmm::cli {

std::string training_end(std::string_view status, std::size_t epochs) {
  const std::string count = fmt::format("{} epoch{}", epochs, epochs == 1 ? "" : "s");
  switch (parse<TrainStatus>(status)) {
    case TrainStatus::kMaxEpochs:
      return epochs == 1 ? "ran its one epoch" : "ran all " + count;
    case TrainStatus::kConverged:
      return "converged after " + count;
    case TrainStatus::kDiverged:
      return "diverged after " + count;
    case TrainStatus::kTimeLimit:
      return "reached its time limit after " + count;
    case TrainStatus::kDropped:
      return "dropped after " + count;
    case TrainStatus::kInterrupted:
      break;
  }
  return "interrupted after " + count;
}

std::string training_end(std::string_view status, std::size_t epochs, double seconds) {
  return fmt::format("{} in {:.{}f} seconds", training_end(status, epochs), seconds,
                     seconds < 1.0 ? 2 : 1);
}

}  // namespace hqmm::cli

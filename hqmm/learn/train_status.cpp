// The names of a training run's end, as files and the terminal have them.
#include "hqmm/core/fail.hpp"
#include "hqmm/learn/progress.hpp"

namespace hqmm {
using namespace detail;

std::string_view name_of(TrainStatus status) {
  switch (status) {
    case TrainStatus::kConverged:
      return "converged";
    case TrainStatus::kMaxEpochs:
      return "max-epochs";
    case TrainStatus::kDiverged:
      return "diverged";
    case TrainStatus::kTimeLimit:
      return "time-limit";
    case TrainStatus::kDropped:
      return "dropped";
    case TrainStatus::kInterrupted:
      break;
  }
  return "interrupted";
}

template <>
TrainStatus parse(std::string_view text) {
  for (const TrainStatus status :
       {TrainStatus::kConverged, TrainStatus::kMaxEpochs, TrainStatus::kDiverged,
        TrainStatus::kTimeLimit, TrainStatus::kInterrupted, TrainStatus::kDropped}) {
    if (name_of(status) == text) return status;
  }
  throw fail(ErrorCode::kBadData, "there is no training status '{}'", printable(text));
}

}  // namespace hqmm

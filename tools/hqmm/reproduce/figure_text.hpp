// Figures of a reproduction as its tables show them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/reproduction/summary.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

inline constexpr const char* kNone = "–";

[[nodiscard]] inline std::string figure(const Spread& spread, bool with_spread) {
  if (spread.count == 0) return kNone;
  const std::string mean = fmt::format("{:.4f}", spread.mean);
  return with_spread && spread.deviation ? fmt::format("{} ± {:.4f}", mean, *spread.deviation)
                                         : mean;
}

/// Test accuracy, marked where the time limit cut it short.
[[nodiscard]] inline std::string test_figure(const reproduction::Group* group, bool with_spread) {
  if (group == nullptr) return kNone;
  return figure(group->test, with_spread) + (group->time_bounded ? "*" : "");
}

}  // namespace hqmm::cli

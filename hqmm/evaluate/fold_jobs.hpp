// The jobs of a cross-validation, shared out among threads and ranks (core/rank_cells.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hqmm/evaluate/fold_learner.hpp"

namespace hqmm::detail {

/// A setting, by its number and how many members it has here, learned from some rows.
struct FoldJob {
  std::string name;
  std::size_t setting = 0;
  std::size_t members = 1;
  const SplitRows* rows = nullptr;
  bool keep_classifier = false;
};

/// What came of the jobs, in their order; those that the hooks of the meter know are not done
/// again. Throws like FoldLearner::score.
[[nodiscard]] std::vector<FoldCell> do_jobs(std::span<const FoldJob> jobs,
                                            const std::vector<ClassifierSetting>& settings,
                                            const FoldLearner& learner, int threads, Meter& meter);

}  // namespace hqmm::detail

// What options follow from other options: presets, steps of an epoch, shares of work.
#pragma once

#include <functional>
#include <string_view>

#include "hqmm/learn/options.hpp"

namespace hqmm::detail {

/// EM for the model that a run with these options starts from.
[[nodiscard]] TrainOptions em_start_options(const TrainOptions& options);

/// The paper's protocol: chunks of 300 with a burn-in of 100 that the gradient does not pass, 60
/// epochs, geometric decay, a random initial state, no averaging; for COSM batches of 20 and the
/// tuned step size and decay of (n, s, w), the nearest tuned shape where there is none.
void apply_paper_preset(TrainOptions& options, std::size_t alphabet_size);

/// The options of a run: the learner's recipe, the preset ("default" or "paper") and, overriding
/// both, the given options. `apply_given` runs twice: the preset looks at n and w.
[[nodiscard]] TrainOptions recipe(LearnerKind learner, std::string_view preset,
                                  std::size_t alphabet_size,
                                  const std::function<void(TrainOptions&)>& apply_given);

/// The step size and decay published for COSM at this (n, s, w), or at the nearest tuned shape.
void apply_published_steps(TrainOptions& options, std::size_t alphabet_size);

/// η of an epoch (0-based).
[[nodiscard]] double step_size_at(const TrainOptions& options, std::size_t epoch);
/// The same of C.
[[nodiscard]] double emission_step_at(const TrainOptions& options, std::size_t epoch);

/// The share of its first epochs in a run's work. Restarts run in parallel, so an epoch of
/// one counts as that epoch of all.
[[nodiscard]] double share_of_work(const TrainOptions& options, std::size_t epochs);

/// As require_usable(), for a run that began elsewhere: its device need not be here.
void require_usable_elsewhere(TrainOptions options);

}  // namespace hqmm::detail

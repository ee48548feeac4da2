// Learner: what the trainer drives, one epoch at a time. A learner takes data and returns models;
// it prints nothing, opens no file and knows no flag.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/ranks.hpp"
#include "hqmm/learn/progress.hpp"
#include "hqmm/model/any_model.hpp"

namespace hqmm::detail {

/// What load() throws for a state of another shape.
[[nodiscard]] inline Error misfit_checkpoint() {
  return fail(ErrorCode::kBadData, "the checkpoint does not match the run's options");
}
[[nodiscard]] inline const std::vector<Complex>& array_of(const LearnerState& state,
                                                          const std::string& name) {
  const auto found = state.find(name);
  if (found == state.end()) throw misfit_checkpoint();
  return found->second;
}

struct EpochOutcome {
  std::uint64_t scored = 0;     // training symbols, as they went by during the epoch
  double log_likelihood = 0.0;  // of them, normalised, parameters changing
  double raw_log_likelihood = 0.0;
  double gradient_nuclear_norm =
      0.0;  // of the epoch's mean gradient, tangent; 0 where there is none
  std::uint64_t halved_steps =
      0;                   // retractions that failed and were tried again with half the step
  bool converged = false;  // nothing more to gain
  bool stopped = false;    // by the stop request: the epoch is incomplete
};

/// Training cannot go on: the loss is not finite at this symbol.
struct Divergence {
  std::size_t sequence = 0;
  std::size_t position = 0;
};
class DivergedError : public std::exception {
 public:
  explicit DivergedError(Divergence place) : place_(place) {}
  [[nodiscard]] const Divergence& place() const noexcept { return place_; }
  [[nodiscard]] const char* what() const noexcept override { return "training diverged"; }

 private:
  Divergence place_;
};

class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  /// Epochs count from 0. Throws DivergedError.
  virtual EpochOutcome run_epoch(std::size_t epoch, const StopRequest& stop) = 0;
  /// On how many threads an epoch runs: it changes nothing but the time.
  virtual void set_threads(int threads) = 0;
  /// Other processes that share the work of an epoch, or null. They change nothing but the time.
  virtual void set_ranks(Ranks* /*ranks*/) {}
  /// Gives memory back that the next epoch would only fill again.
  virtual void rest() {}
  /// The model to validate and keep now.
  [[nodiscard]] virtual AnyModel candidate() const = 0;
  [[nodiscard]] virtual LearnerState save() const = 0;
  /// Throws kBadData when the state is not of this learner with these options.
  virtual void load(const LearnerState& state) = 0;
};

}  // namespace hqmm::detail

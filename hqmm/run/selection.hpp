// Selection: a grid of model sizes trained in parallel, each model on one thread, and ranked by
// its bits per validation symbol. The same data, options and seed give the same models from any
// face of the library. Candidates with a run directory resume where they were stopped or killed.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hqmm/learn/option_table.hpp"
#include "hqmm/run/session.hpp"

namespace hqmm::detail {

/// What a grid varies; at least one size of each. No field or emission: the learner's own.
struct GridAxes {
  std::vector<Index> latent_dims;
  std::vector<Index> kraus_ranks;
  std::vector<std::string> fields;
  std::vector<std::string> emissions;
};

/// One model of a grid.
struct GridPoint {
  Index n = 1, w = 1;
  std::string field, emission;  // empty: the learner's own
  std::string name;             // n8-w2, and what else the grid varies
};

/// Every combination. An HMM has no w, and no field: throws kUsage for fields of HMMs.
[[nodiscard]] std::vector<GridPoint> grid_points(LearnerKind learner, const GridAxes& axes);
/// A point's own options on top of others.
void put_point(const GridPoint& point, TrainOptions& options);

/// A model of a grid, trained or not.
struct Candidate {
  std::string name;
  std::shared_ptr<const Session> session;
  SessionResult found;
  double bits = 0.0;     // per validation symbol
  double seconds = 0.0;  // of one processor
  bool done = false;
  /// Its own run directory, made or resumed, and the configuration to make it with.
  std::string run_path;  // empty: none
  std::string run_config;
  /// Bits per symbol more than the best, and the standard error of that over sequences.
  double behind = 0.0;
  std::optional<double> standard_error;

  [[nodiscard]] const TrainOptions& options() const { return session->options(); }
  [[nodiscard]] const TrainResult& result() const { return found.trained; }
  [[nodiscard]] bool of_hmms() const { return options().learner == LearnerKind::kEm; }
};

/// Plans the data of a model; its options must say one thread. Throws like Session.
[[nodiscard]] Candidate make_candidate(std::string name, const SessionData& data,
                                       const TrainOptions& options);

struct SelectionHooks {
  std::function<void(const Candidate&)> on_trained;  // one call at a time
  StopRequest stop_requested;
  Ranks* ranks = nullptr;  // other processes, which help_selection()
};
/// The trained models, the best first, of equal ones the smaller; those that a stop left out are
/// not among them. `threads` models at a time (0 = as many as cores).
[[nodiscard]] std::vector<Candidate> run_selection(std::vector<Candidate> candidates, int threads,
                                                   const SelectionHooks& hooks = {});

/// Another rank's part of that: the same candidates, on so many threads.
void help_selection(Ranks& ranks, const std::vector<Candidate>& candidates, int threads);

/// A ranked model: sizes, parameters, bits, its distance from the best, seconds.
[[nodiscard]] nlohmann::ordered_json candidate_json(const Candidate& candidate);

}  // namespace hqmm::detail

// Where training starts: a random model, or a warm one.
#pragma once

#include <optional>

#include "hqmm/learn/options.hpp"
#include "hqmm/model/any_model.hpp"

namespace hqmm::detail {

/// The first model of a restart, and a candidate before it if there is something to
/// lose: a warm start's own model, exactly as given.
struct Start {
  AnyModel model;
  std::optional<AnyModel> keep;
};

/// A random start: Haar-random Kraus operators with the initial state asked for, or a random HMM
/// for EM.
[[nodiscard]] AnyModel random_start(const TrainOptions& options, const Alphabet& alphabet,
                                    std::size_t restart);

/// From a model. An HMM warms an HQMM through its cyclic embedding plus noise (training would be
/// stuck at the exact rank-one embedding, which reads nothing but the diagonal of ρ), with the
/// exact embedding kept as the candidate to beat. Throws kUsage when sizes or alphabets do not fit.
[[nodiscard]] Start warm_start(const AnyModel& from, const TrainOptions& options,
                               const Alphabet& alphabet, std::size_t restart);

}  // namespace hqmm::detail

#include "support/model_text.hpp"

#include <fmt/format.h>

#include <variant>

#include "support/command.hpp"

namespace hqmm::cli {

void warn_if_infeasible(const AnyModel& model, const std::string& path) {
  if (is_feasible(model)) return;
  warn(
      fmt::format("{}: this model is not trace preserving (‖Γ†Γ − I‖ = {:.3g}): its raw weights "
                  "are no probabilities, "
                  "so figures are of the normalised model",
                  path, feasibility_residual(model)));
}

std::string describe(const AnyModel& model) {
  if (const auto* hmm = std::get_if<Hmm>(&model)) {
    return fmt::format("HMM, n = {}, s = {}", hmm->latent_dim(), hmm->alphabet_size());
  }
  if (const auto* hmm = std::get_if<EdgeHmm>(&model)) {
    return fmt::format("HMM emitting on its edges, n = {}, s = {}", hmm->latent_dim(),
                       hmm->alphabet_size());
  }
  const auto& hqmm = std::get<Hqmm>(model);
  const std::string sets = hqmm.positions.stationary()
                               ? ""
                               : fmt::format(", {} Kraus sets by position", hqmm.sets.size());
  return fmt::format("HQMM, n = {}, s = {}, w = {}{}", hqmm.latent_dim(), hqmm.alphabet_size(),
                     hqmm.kraus_rank(), sets);
}

}  // namespace hqmm::cli

#include "support/model_text.hpp"

#include <fmt/format.h>

#include <variant>

#include "support/command.hpp"

namespace hqmm::cli {
namespace {

std::string describe_kind(const Hqmm& model) {
  return fmt::format("{}HQMM{}", model.field == Field::kReal ? "real " : "",
                     model.emits_on() == EmissionKind::kState ? " emitting on its states" : "");
}

/// What a trace-preserving model has at zero.
std::string_view residual_of(const AnyModel& model) {
  const auto* hqmm = std::get_if<Hqmm>(&model);
  return hqmm != nullptr && hqmm->emits_on() == EmissionKind::kState
             ? "‖V†V − I‖ with the columns of C, of length one,"
             : "‖Γ†Γ − I‖";
}

}  // namespace

void warn_if_infeasible(const AnyModel& model, const std::string& path) {
  if (is_feasible(model)) return;
  warn(
      fmt::format("{}: this model is not trace preserving ({} = {:.3g}): its raw weights "
                  "are not probabilities, "
                  "so figures are of the normalised model",
                  path, residual_of(model), feasibility_residual(model)));
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
  return fmt::format("{}, n = {}, s = {}, w = {}{}", describe_kind(hqmm), hqmm.latent_dim(),
                     hqmm.alphabet_size(), hqmm.kraus_rank(), sets);
}

}  // namespace hqmm::cli

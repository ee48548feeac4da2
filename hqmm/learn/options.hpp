// All options of a training run. The defaults are the recipe that did best in our
// measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hqmm/core/enum_text.hpp"
#include "hqmm/core/export.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/engine/device_kind.hpp"
#include "hqmm/engine/engine_kind.hpp"
#include "hqmm/model/kraus.hpp"

namespace HQMM_API hqmm {

enum class LearnerKind { kNsRis, kCosm, kGivens, kEm };
enum class RetractionKind {
  kFeasible,  // convergent Newton–Schulz: Γ†Γ = I to 1e-12 after every step
  kLiteral,   // the paper's: leaves the manifold; kept to show what it does
};
enum class ScheduleKind { kCosine, kGeometric, kConstant };
enum class InitialStateKind {
  kUniform,  // I/n, fixed
  kRandom,   // a random density matrix, fixed
  kLearned,  // BB†, learned with the operators
  kPure,     // |b⟩⟨b|, learned, rank one throughout
};

struct TrainOptions {
  LearnerKind learner = LearnerKind::kNsRis;
  RetractionKind retraction = RetractionKind::kFeasible;
  Index latent_dim = 4;
  Index kraus_rank = 2;
  Field field = Field::kComplex;                // of an HQMM
  EmissionKind emission = EmissionKind::kEdge;  // for EM: EdgeHmm or Hmm, which is its default
  InitialStateKind initial_state = InitialStateKind::kUniform;

  // Descent (ns-ris, cosm)
  std::size_t epochs = 60;
  std::size_t batch_size = 4;
  double step_size = 0.2;
  double emission_step = 0.2;  // of C, for emission on states; falls as the step size does
  double step_decay = 0.95;    // per epoch, geometric schedule only
  ScheduleKind schedule = ScheduleKind::kCosine;
  double momentum = 0.9;
  int ns_steps = 5;  // Newton–Schulz steps of the direction (and of the literal retraction)
  /// Weight of the past in the running mean of Γ that is scored, at most (k+1)/(k+10) after k
  /// updates; 0 scores the last Γ itself, as the literal retraction always does: projecting a mean
  /// back would repair what it breaks.
  double average = 0.98;
  /// How gradients are computed. All engines agree to rounding, but the bytes of a run may differ.
  EngineKind engine = EngineKind::kAuto;
  /// Where gradients and validation are computed; the numbers agree to rounding.
  DeviceKind device = DeviceKind::kCpu;
  /// Memory limit in bytes, for this process and for the GPU each; 0: no limit. Data that do not
  /// fit go through a scratch file. Changes nothing but the time.
  std::size_t memory = 0;

  // Data
  std::optional<std::size_t> chunk_length;  // 0: whole sequences; unset: see plan_chunks
  std::optional<std::size_t> burn_in;
  std::optional<std::size_t> validation_burn_in;
  bool gradient_through_burn_in = true;

  // Givens search
  std::size_t givens_pairs = 6;         // row pairs tried per batch; an epoch is one batch
  std::size_t givens_evaluations = 60;  // of the likelihood, per row pair

  // EM
  double tolerance = 7e-6;  // on the relative change of the log-likelihood

  std::size_t restarts = 1;
  bool halving = false;      // drop the worse half of the restarts repeatedly: trainer.hpp
  std::size_t patience = 0;  // epochs without a better validation score before stopping; 0: never
  double time_limit = 0.0;   // seconds; 0: none
  double warm_noise = 0.1;   // noise added to a warm start from an HMM
  std::uint64_t seed = 1;
  int threads = 0;
};

[[nodiscard]] std::string_view name_of(LearnerKind kind);
template <>
[[nodiscard]] LearnerKind parse(std::string_view name);
[[nodiscard]] std::string_view name_of(RetractionKind kind);
template <>
[[nodiscard]] RetractionKind parse(std::string_view name);
[[nodiscard]] std::string_view name_of(ScheduleKind kind);
template <>
[[nodiscard]] ScheduleKind parse(std::string_view name);
[[nodiscard]] std::string_view name_of(InitialStateKind kind);
template <>
[[nodiscard]] InitialStateKind parse(std::string_view name);
[[nodiscard]] std::string_view name_of(EmissionKind kind);
template <>
[[nodiscard]] EmissionKind parse(std::string_view name);
[[nodiscard]] std::string_view name_of(Field field);
template <>
[[nodiscard]] Field parse(std::string_view name);

/// The recipe of a learner: what differs from the defaults above for cosm, givens and em.
[[nodiscard]] TrainOptions default_options(LearnerKind learner);

/// Throws kUsage for a value that no run can use.
void require_usable(const TrainOptions& options);

}  // namespace hqmm

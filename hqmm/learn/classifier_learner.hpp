// Learning a classifier: one model per class, each separately (generative) or all together so that
// the right class wins (discriminative):
//
//   maximise  Σ_x v_c log softmax_c(ℓ_c(x) + log P(c))   over the product of all Stiefel manifolds
//
// v_c = P(c)/(share of c among the sequences): the classes count as often as the prior expects
// them, so that posteriors mean what they say under that prior.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hqmm/core/enum_text.hpp"
#include "hqmm/core/export.hpp"
#include "hqmm/data/position_plan.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/learn/progress.hpp"
#include "hqmm/model/classifier.hpp"

namespace HQMM_API hqmm {

enum class ObjectiveKind {
  kGenerative,      // every class separately
  kDiscriminative,  // all classes together, from a start that knows the position frequencies
  kHybrid,          // discriminative, after a generative start of `generative_epochs`
};

/// The assumed frequencies of the classes.
enum class PriorKind { kUniform, kEmpirical, kGiven };

[[nodiscard]] std::string_view name_of(ObjectiveKind kind);
template <>
[[nodiscard]] ObjectiveKind parse(std::string_view name);
[[nodiscard]] std::string_view name_of(PriorKind kind);
template <>
[[nodiscard]] PriorKind parse(std::string_view name);

/// What worked best for the joint objective: 20 epochs, batches of 200, a cosine from 0.02.
[[nodiscard]] TrainOptions joint_train_options();

struct ClassifierOptions {
  /// Learner, sizes, epochs, batch, step, momentum, schedule, seed, threads. The joint objective
  /// and position-dependent models are learned by ns-ris's convergent retraction only; stationary
  /// generative ones by any learner, through train().
  TrainOptions train = joint_train_options();
  ObjectiveKind objective = ObjectiveKind::kDiscriminative;
  PositionPlan positions;
  std::size_t generative_epochs = 0;  // kHybrid
  double smoothing = 0.01;            // ε: 𝒦_y ← (1−ε) 𝒦_y + (ε/s) Σ_z 𝒦_z
  double dropout = 0.5;         // share of the positions that a discriminative step leaves out
  double second_moment = 0.99;  // decay of ‖∇‖² of each set, which scales its step; 0: none
  double start_noise = 0.1;     // expected norm of what is added to a column of Γ
  double pseudo_count = 1.0;    // for the position frequencies
  PriorKind prior = PriorKind::kUniform;
  std::vector<double> given_priors;  // kGiven: by class, in the order of Classifier::classes
  std::size_t members = 1;           // models per class from different seeds, kept as one mixture
};

/// After every epoch: its number from 1 and the mean objective per sequence during the epoch.
struct ClassifierHooks {
  std::function<void(std::size_t member, std::size_t epoch, double objective)> on_epoch;
  StopRequest stop_requested;
  /// Called after every epoch; true ends the current training, of one member or, if classes are
  /// learned separately, of one class, and keeps what it has learned.
  StopRequest enough;
  /// Finished members, by number: a member found here is not learned again.
  std::function<std::optional<Classifier>(std::size_t member)> find_member;
  std::function<void(std::size_t member, const Classifier&)> keep_member;
};

/// Labelled data, at least two classes; unlabelled sequences are refused. The same bytes at any
/// thread count. Every set of every model is feasible to 1e-12 after every step. Throws kUsage,
/// kBadData, kDiverged, and kInterrupted when stopped.
[[nodiscard]] Classifier fit_classifier(const SequenceSet& data, const ClassifierOptions& options,
                                        const ClassifierHooks& hooks = {});

/// Throws kUsage for impossible combinations of options, before any work.
void require_usable(const ClassifierOptions& options);

}  // namespace hqmm

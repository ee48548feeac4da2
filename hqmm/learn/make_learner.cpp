#include "hqmm/learn/make_learner.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/learn/baum_welch.hpp"
#include "hqmm/learn/descent.hpp"
#include "hqmm/learn/edge_baum_welch.hpp"
#include "hqmm/learn/givens.hpp"

namespace hqmm::detail {
namespace {

void require_engine(const Hqmm& model, const Chunks& chunks, const TrainOptions& options) {
  if (options.engine == EngineKind::kAuto) return;
  std::vector<SequenceView> all;
  for (std::size_t i = 0; i < chunks.size(); ++i) all.push_back(chunks[i].symbols);
  const bool literal =
      options.learner == LearnerKind::kNsRis && options.retraction == RetractionKind::kLiteral;
  const bool stays_feasible = !literal && is_feasible(model);
  static_cast<void>(choose(shape_of(model, all, stays_feasible), options.engine));
}

std::unique_ptr<UpdateRule> make_rule(const TrainOptions& options, const TrainHooks& hooks) {
  if (hooks.make_rule) return hooks.make_rule(options);
  return options.learner == LearnerKind::kCosm ? make_cosm(options) : make_ns_ris(options);
}

}  // namespace

std::unique_ptr<Learner> make_learner(const AnyModel& start, std::size_t restart,
                                      const PlannedData& data, const Chunks& chunks,
                                      const TrainOptions& options, const TrainHooks& hooks,
                                      CudaEngine* gpu) {
  if (options.learner == LearnerKind::kEm) {
    if (const auto* edge = std::get_if<EdgeHmm>(&start))
      return std::make_unique<EdgeBaumWelch>(*edge, data.train, options);
    return std::make_unique<BaumWelch>(std::get<Hmm>(start), data.train, options);
  }
  const auto& hqmm = std::get<Hqmm>(start);
  if (options.learner == LearnerKind::kGivens)
    return std::make_unique<GivensSearch>(hqmm, chunks, data.plan.burn_in, options, restart);
  auto rule = make_rule(options, hooks);
  if (hooks.on_step) rule->watch(hooks.on_step);
  auto learner = std::make_unique<DescentLearner>(hqmm, chunks, data.plan.burn_in, options, restart,
                                                  std::move(rule), gpu);
  require_engine(learner->current(), chunks, options);
  return learner;
}

}  // namespace hqmm::detail

#include "hqmm/learn/training_ranks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "hqmm/core/packing.hpp"
#include "hqmm/core/rank_cells.hpp"
#include "hqmm/engine/classical/edge_counts.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/learn/make_learner.hpp"
#include "hqmm/model/model_packing.hpp"
#include "hqmm/score/score_packing.hpp"

namespace hqmm::detail {
namespace {

void pack(const LearnerState& state, Packer& out) {
  out.number(std::uint64_t{state.size()});
  for (const auto& [name, values] : state) out.text(name).numbers(std::span<const Complex>(values));
}

LearnerState unpack_state(Unpacker& in) {
  LearnerState out;
  for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
    std::string name(in.text());
    out[std::move(name)] = in.numbers<Complex>();
  }
  return out;
}

std::string packed(const EpochReturn& found) {
  Packer out;
  out.number(found.outcome).number(found.diverged);
  if (found.diverged) return out.take();
  pack(found.state, out);
  pack(found.candidate, out);
  pack(found.score, out);
  return out.take();
}

/// The order at this place of pack_orders().
EpochOrder unpack_order(std::size_t place, std::string_view orders, LearnerKind& learner) {
  Unpacker in(orders);
  learner = in.number<LearnerKind>();
  std::string_view bytes;
  for (std::size_t i = 0; i <= place; ++i) bytes = in.text();
  Unpacker of_one(bytes);
  EpochOrder out;
  out.restart = of_one.number<std::size_t>();
  out.epoch = of_one.number<std::size_t>();
  out.start = unpack_model(of_one);
  out.state = unpack_state(of_one);
  return out;
}

std::string run_epoch(const EpochOrder& order, const PlannedData& data, const Chunks& chunks,
                      const TrainOptions& options) {
  EpochReturn out;
  const auto learner = make_learner(order.start, order.restart, data, chunks, options);
  if (order.epoch > 0) learner->load(order.state);
  learner->set_threads(1);
  try {
    out.outcome = learner->run_epoch(order.epoch, [] { return false; });
  } catch (const DivergedError& error) {
    out.diverged = error.place();
    return packed(out);
  }
  out.state = learner->save();
  out.candidate = learner->candidate();
  out.score = score(out.candidate, data.validation,
                    {.burn_in = data.plan.validation_burn_in, .threads = 1, .per_sequence = false});
  return packed(out);
}

}  // namespace

RankTasks training_tasks(Ranks& ranks, const PlannedData& data, const Chunks& chunks,
                         std::span<const TrainOptions> options, int threads) {
  RankTasks out;
  const Share share = ranks.share();
  out[kCountsTask] = counts_task(data.train, share, threads);
  out[kEdgesTask] = edges_task(data.train, share, threads);
  out[kGradientTask] =
      gradient_task([&chunks](std::uint32_t i) { return chunks[i].symbols; }, share, threads);
  out[kTrainScoreTask] = likelihood_task(data.train, share, threads);
  out[kValidationScoreTask] = likelihood_task(data.validation, share, threads);
  const auto there = [data, &chunks, options](std::size_t cell, std::string_view orders) {
    LearnerKind learner{};
    const EpochOrder order = unpack_order(cell, orders, learner);
    const auto fits = [learner](const TrainOptions& one) { return one.learner == learner; };
    const auto found = std::find_if(options.begin(), options.end(), fits);
    if (found == options.end())
      throw fail(ErrorCode::kInternal,
                 "another rank asks for a learner that is not part of this "
                 "run");
    return run_epoch(order, data, chunks, *found);
  };
  out[kEpochsTask] = cells_task(ranks, threads, there);
  return out;
}

std::string pack_orders(LearnerKind learner, std::span<const EpochOrder> orders) {
  Packer out;
  out.number(learner);
  for (const EpochOrder& order : orders) {
    Packer one;
    one.number(order.restart).number(order.epoch);
    pack(order.start, one);
    pack(order.state, one);
    out.text(one.take());
  }
  return out.take();
}

EpochReturn unpack_return(std::string_view bytes) {
  Unpacker in(bytes);
  EpochReturn out;
  out.outcome = in.number<EpochOutcome>();
  out.diverged = in.number<std::optional<Divergence>>();
  if (out.diverged) return out;
  out.state = unpack_state(in);
  out.candidate = unpack_model(in);
  out.score = unpack_score(in);
  return out;
}

}  // namespace hqmm::detail

#include "hqmm/learn/data_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/chunks.hpp"
#include "hqmm/data/folds.hpp"
#include "hqmm/data/group_sequences.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kLargestAutoBurnIn = 1000;  // of validation sequences

Error nothing_left(const char* what, const SequenceSet& set, std::size_t burn_in,
                   const char* option_id) {
  return fail(ErrorCode::kBadData,
              "no {} symbol is left after the burn-in of {}: "
              "the longest sequence has {} (use a smaller {})",
              what, burn_in, set.longest(), option(option_id));
}

bool any_known(const SequenceSet& set, std::size_t burn_in) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    const SequenceView sequence = set[i];
    for (std::size_t t = burn_in; t < sequence.size(); ++t)
      if (sequence[t] != kMissing) return true;
  }
  return false;
}

}  // namespace

DataPlan plan_data(const SequenceSet& train, const SequenceSet& validation,
                   const TrainOptions& options) {
  const ChunkPlan chunks = plan_chunks(train, options.chunk_length, options.burn_in);
  std::size_t validation_burn_in = 0;
  if (validation.longest() > kAutoChunkAbove) {
    std::size_t shortest = validation.longest();
    for (std::size_t i = 0; i < validation.size(); ++i)
      shortest = std::min(shortest, validation[i].size());
    validation_burn_in = std::min(kLargestAutoBurnIn, shortest / 3);
  }
  return {chunks.chunk_length, chunks.burn_in,
          options.validation_burn_in.value_or(validation_burn_in)};
}

void require_trainable(const SequenceSet& set) {
  if (set.empty()) throw fail(ErrorCode::kBadData, "there is nothing to train on");
  const std::size_t size = set.alphabet().size();
  if (size == 0) throw fail(ErrorCode::kBadData, "the training data's alphabet has no symbols");
  const SymbolBlock& symbols = set.symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i] < size || set.alphabet().knows(symbols[i])) continue;
    throw fail(ErrorCode::kBadData, "training symbol {} is beyond the alphabet's 0..{}", symbols[i],
               size - 1);
  }
}

void require_known_symbols(const SequenceSet& set, const char* what) {
  if (!any_known(set, 0))
    throw fail(ErrorCode::kBadData, "every symbol of the {} is missing", what);
}

void require_something_to_learn(const PlannedData& data, LearnerKind learner) {
  const std::size_t burn_in = data.plan.burn_in;
  if (learner == LearnerKind::kEm || data.train.longest() > burn_in) return;
  throw nothing_left("training", data.train, burn_in, "burn_in");
}

void require_something_to_score(const PlannedData& data) {
  const std::size_t burn_in = data.plan.validation_burn_in;
  if (any_known(data.validation, burn_in)) return;
  if (data.validation.symbol_count() > 0) require_known_symbols(data.validation, "validation data");
  throw nothing_left("validation", data.validation, burn_in, "validation_burn_in");
}

ValidationSplit split_validation(const SequenceSet& set, double share, std::uint64_t seed) {
  if (!(share > 0.0 && share < 1.0)) {
    throw fail(ErrorCode::kUsage, "the share to hold out must lie between 0 and 1, not {}", share);
  }
  ValidationSplit out;
  const auto groups = group_sequences(set, {Grouping::Kind::kIdentical, 0});
  const bool separable =
      std::any_of(groups.begin(), groups.end(), [](std::uint32_t g) { return g > 0; });
  if (separable) {
    const Split split = hold_out(set, share, {Grouping::Kind::kIdentical, 0}, seed);
    out.train = set.subset(split.kept);
    out.validation = set.subset(split.held_out);
    out.how = fmt::format("{} of {} sequences held out for validation (seed {})",
                          split.held_out.size(), set.size(), seed);
    return out;
  }
  for (SequenceSet* part : {&out.train, &out.validation}) {
    *part = SequenceSet(set.alphabet());
    part->open_block().keep_within(set.symbols().budget());
  }
  const std::size_t length = set.longest();
  const auto tail = static_cast<std::size_t>(share * static_cast<double>(length));
  if (set.size() == 1 && tail > 0) {
    out.train.append(set[0].part(0, length - tail));
    out.validation.append(set[0].part(length - tail, tail));
    out.how = fmt::format("the last {} of the only sequence's {} symbols held out for validation",
                          tail, length);
    return out;
  }
  out.train = set;
  out.validation = set;
  out.how =
      "nothing can be held out of this data: validation is on the training sequences themselves";
  return out;
}

}  // namespace hqmm::detail

#include "hqmm/data/chunks.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

void require_something_to_score(const ChunkPlan& plan) {
  if (plan.chunk_length == 0 || plan.burn_in < plan.chunk_length) return;
  throw fail(ErrorCode::kUsage,
             "a burn-in of {} leaves nothing to score in chunks of {} symbols: it must be shorter",
             plan.burn_in, plan.chunk_length);
}

}  // namespace

ChunkPlan plan_chunks(const SequenceSet& set, std::optional<std::size_t> chunk_length,
                      std::optional<std::size_t> burn_in) {
  const bool long_sequences = set.longest() > kAutoChunkAbove;
  ChunkPlan plan;
  plan.chunk_length = chunk_length.value_or(long_sequences ? kAutoChunkLength : 0);
  const std::size_t most = plan.chunk_length == 0 ? kAutoBurnIn : plan.chunk_length / 2;
  plan.burn_in = burn_in.value_or(long_sequences ? std::min(kAutoBurnIn, most) : 0);
  require_something_to_score(plan);
  return plan;
}

Chunks::Chunks(const SequenceSet& set, const ChunkPlan& plan)
    : set_(&set), step_(plan.chunk_length) {
  assert(set.size() < std::numeric_limits<std::uint32_t>::max());
  whole_ = true;
  for (std::size_t i = 0; i < set.size() && whole_; ++i) {
    const std::size_t length = set[i].size();
    whole_ = length > plan.burn_in && (step_ == 0 || length <= step_);
  }
  for (std::uint32_t i = 0; i < set.size() && !whole_; ++i) {
    const std::size_t length = set[i].size();
    const std::size_t step = step_ == 0 ? length : step_;
    std::uint32_t number = 0;
    for (std::size_t begin = 0; begin < length; begin += step) {
      if (std::min(step, length - begin) <= plan.burn_in) break;
      pieces_.push_back({i, number++});
    }
  }
}

Chunk Chunks::operator[](std::size_t i) const noexcept {
  if (whole_) return {(*set_)[i], i, 0};
  const Piece& piece = pieces_[i];
  const SequenceView sequence = (*set_)[piece.sequence];
  if (step_ == 0) return {sequence, piece.sequence, 0};
  const std::size_t begin = piece.number * step_;
  return {sequence.part(begin, std::min(step_, sequence.size() - begin)), piece.sequence, begin};
}

Chunks cut(const SequenceSet& set, const ChunkPlan& plan) {
  require_something_to_score(plan);
  return {set, plan};
}

}  // namespace hqmm::detail

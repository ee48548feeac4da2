#include "hqmm/data/chunks.hpp"

#include <algorithm>

#include "hqmm/core/error.hpp"

namespace hqmm {
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

std::vector<Chunk> cut(const SequenceSet& set, const ChunkPlan& plan) {
  require_something_to_score(plan);
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const SequenceView sequence = set[i];
    const std::size_t step = plan.chunk_length == 0 ? sequence.size() : plan.chunk_length;
    for (std::size_t begin = 0; begin < sequence.size(); begin += step) {
      const std::size_t length = std::min(step, sequence.size() - begin);
      if (length <= plan.burn_in) break;
      chunks.push_back({sequence.part(begin, length), i, begin});
    }
  }
  return chunks;
}

}  // namespace hqmm

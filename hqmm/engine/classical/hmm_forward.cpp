#include "hqmm/engine/classical/hmm_forward.hpp"

#include <algorithm>
#include <array>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/classical/long_hmm.hpp"
#include "hqmm/engine/classical/tile_forward.hpp"
#include "hqmm/engine/classical/tile_layout.hpp"
#include "hqmm/engine/elsewhere.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {
namespace {

/// Where a sequence stands after the burn-in; without one, the scale it starts at.
struct BurntIn {
  double sum = 1.0;
  std::int64_t exponent = 0;
};

/// Scores a tile, except for the sequences that are lost.
void score_tile(TileForward& forward, std::size_t burn_in, std::vector<SequenceLikelihood>& out) {
  std::array<BurntIn, kTileSlots> burnt_in;
  while (forward.position() < forward.longest()) {
    const std::size_t begin = forward.position();
    if (begin == burn_in && burn_in > 0) {
      for (std::size_t q = 0; q < forward.active(begin); ++q)
        burnt_in[q] = {forward.current_sum(q), forward.slots()[q].exponent};
    }
    forward.start_segment();
    forward.advance(begin < burn_in ? burn_in : forward.longest());
  }
  for (std::size_t q = 0; q < forward.slots().size(); ++q) {
    const TileSlot& slot = forward.slots()[q];
    if (slot.lost || slot.scored == 0) continue;
    SequenceLikelihood& to = out[slot.sequence];
    to.scored = slot.scored;
    to.log_likelihood = log_of(slot.sum / burnt_in[q].sum, slot.exponent - burnt_in[q].exponent);
    to.raw_log_likelihood = to.log_likelihood;
  }
}

void score_part(const Hmm& model, const HmmTables& tables, const SequenceSet& set,
                std::span<const std::size_t> sequences, std::size_t burn_in,
                std::vector<SequenceLikelihood>& out) {
  TileForward forward(tables, 0);
  for (std::size_t first = 0; first < sequences.size(); first += kTileSlots) {
    const std::size_t size = std::min(kTileSlots, sequences.size() - first);
    forward.start(set, sequences.subspan(first, size), burn_in);
    score_tile(forward, burn_in, out);
    for (const TileSlot& slot : forward.slots()) {
      if (!slot.lost) continue;
      HmmFilter filter(model);
      out[slot.sequence] = log_likelihood(filter, set[slot.sequence], burn_in);
    }
  }
}

}  // namespace

std::vector<SequenceLikelihood> hmm_log_likelihoods(const Hmm& model, const SequenceSet& set,
                                                    std::size_t burn_in, int threads, Share share) {
  // multiplications of a part: each has scratch of its own
  constexpr std::size_t kPartCost = std::size_t{1} << 19;
  const HmmTables tables(model);
  std::vector<SequenceLikelihood> out(set.size());
  std::vector<char> done(set.size(), 0);
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (const auto found = long_hmm_log_likelihood(model, set[i], burn_in, threads)) {
      out[i] = *found;
      done[i] = 1;
    }
  }
  const TileLayout layout(set, kTileSlots, kPartCost / (tables.states * tables.states + 20), done);
  const std::size_t begin = share.begin(layout.parts());
  const std::size_t end = share.end(layout.parts());
  for (std::size_t i = 0; i < layout.parts(); ++i) {
    if (i >= begin && i < end) continue;
    for (const std::size_t sequence : layout.part(i)) out[sequence].scored = kElsewhere;
  }
  parallel_for(end - begin, threads, [&](std::size_t i) {
    score_part(model, tables, set, layout.part(begin + i), burn_in, out);
  });
  return out;
}

}  // namespace hqmm::detail

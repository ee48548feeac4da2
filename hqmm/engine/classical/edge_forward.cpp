#include "hqmm/engine/classical/edge_forward.hpp"

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/classical/edge_chain.hpp"
#include "hqmm/engine/classical/long_hmm.hpp"
#include "hqmm/engine/elsewhere.hpp"
#include "hqmm/engine/scratch_pool.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kPartSymbols = 32768;  // that a thread takes at a time

/// The sequences in turn, in parts of enough symbols.
std::vector<std::vector<std::uint32_t>> parts_of(const SequenceSet& set,
                                                 const std::vector<std::uint32_t>& sequences) {
  std::vector<std::vector<std::uint32_t>> out;
  std::size_t symbols = kPartSymbols;
  for (const std::uint32_t i : sequences) {
    if (symbols >= kPartSymbols) {
      out.emplace_back();
      symbols = 0;
    }
    out.back().push_back(i);
    symbols += set[i].size();
  }
  return out;
}

void score_part(const EdgeHmm& model, const SequenceSet& set,
                const std::vector<std::uint32_t>& part, std::size_t burn_in, EdgeChain& chain,
                std::vector<SequenceLikelihood>& out) {
  std::vector<SequenceView> views;
  views.reserve(part.size());
  for (const std::uint32_t i : part) views.push_back(set[i]);
  if (chain.score(views, burn_in)) {
    for (std::size_t k = 0; k < part.size(); ++k) {
      SequenceLikelihood& to = out[part[k]];
      to.scored = chain.scored(k);
      to.log_likelihood = to.raw_log_likelihood = chain.log_likelihood(k);
    }
    return;
  }
  EdgeHmmFilter filter(model);
  for (std::size_t k = 0; k < part.size(); ++k)
    out[part[k]] = log_likelihood(filter, views[k], burn_in);
}

}  // namespace

std::vector<SequenceLikelihood> edge_log_likelihoods(const EdgeHmm& model, const SequenceSet& set,
                                                     std::size_t burn_in, int threads,
                                                     Share share) {
  std::vector<SequenceLikelihood> out(set.size());
  std::vector<std::uint32_t> others;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    if (const auto found = long_hmm_log_likelihood(model, set[i], burn_in, threads)) {
      out[i] = *found;
    } else {
      others.push_back(i);
    }
  }
  const auto parts = parts_of(set, others);
  const std::size_t begin = share.begin(parts.size());
  const std::size_t end = share.end(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (p >= begin && p < end) continue;
    for (const std::uint32_t sequence : parts[p]) out[sequence].scored = kElsewhere;
  }
  ScratchPool<EdgeChain> pool;
  parallel_for(end - begin, threads, [&](std::size_t p) {
    ScratchPool<EdgeChain>::Loan loan(pool, model);
    score_part(model, set, parts[begin + p], burn_in, loan.scratch(), out);
  });
  return out;
}

}  // namespace hqmm::detail

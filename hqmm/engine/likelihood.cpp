#include "hqmm/engine/likelihood.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/engine/classical/edge_forward.hpp"
#include "hqmm/engine/classical/hmm_forward.hpp"
#include "hqmm/engine/quantum/hqmm_forward.hpp"
#include "hqmm/model/filter_likelihood.hpp"
#include "hqmm/model/mixture.hpp"

namespace hqmm::detail {
namespace {

/// log(e^a + e^b)
double log_add(double a, double b) {
  const double larger = std::max(a, b);
  if (std::isinf(larger)) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

/// A mixture by its members, whose states are smaller: log Σ_m λ_m P_m.
std::vector<SequenceLikelihood> by_members(const Components& mixture, const SequenceSet& set,
                                           int threads) {
  std::vector<SequenceLikelihood> out;
  for (std::size_t m = 0; m < mixture.members.size(); ++m) {
    const double log_weight = std::log(mixture.weights[m]);
    const auto one = hqmm_log_likelihoods(mixture.members[m], set, 0, threads);
    if (m == 0) out = one;
    for (std::size_t i = 0; i < one.size(); ++i) {
      SequenceLikelihood& sum = out[i];
      const double share = log_weight + one[i].log_likelihood;
      sum.log_likelihood = m == 0 ? share : log_add(sum.log_likelihood, share);
      sum.raw_log_likelihood = sum.log_likelihood;
      // impossible once it is for every member
      if (!one[i].impossible_at) {
        sum.impossible_at.reset();
      } else if (sum.impossible_at) {
        sum.impossible_at = std::max(*sum.impossible_at, *one[i].impossible_at);
      }
    }
  }
  return out;
}

/// All but the sequences of `others`, which are ascending.
std::vector<std::uint32_t> without(std::size_t size, const std::vector<std::uint32_t>& others) {
  std::vector<std::uint32_t> out;
  auto next = others.begin();
  for (std::uint32_t i = 0; i < size; ++i) {
    if (next != others.end() && *next == i) {
      ++next;
    } else {
      out.push_back(i);
    }
  }
  return out;
}

/// Only the filters know symbols that stand for several: they take the sequences that have some.
std::vector<SequenceLikelihood> around_sets(const AnyModel& model, const SequenceSet& set,
                                            const std::vector<std::uint32_t>& with_sets,
                                            std::size_t burn_in, int threads) {
  const std::vector<std::uint32_t> others = without(set.size(), with_sets);
  std::vector<SequenceLikelihood> out(set.size());
  const auto put = [&](const std::vector<std::uint32_t>& chosen, const auto& found) {
    for (std::size_t k = 0; k < chosen.size(); ++k) out[chosen[k]] = found[k];
  };
  put(with_sets, log_likelihoods(model, set.subset(with_sets), burn_in, threads));
  if (!others.empty())
    put(others, fast_log_likelihoods(model, set.subset(others), burn_in, threads));
  return out;
}

}  // namespace

std::vector<SequenceLikelihood> fast_log_likelihoods(const AnyModel& model, const SequenceSet& set,
                                                     std::size_t burn_in, int threads) {
  std::vector<SequenceLikelihood> out;
  fast_log_likelihoods(model, set, burn_in, threads, [&](std::size_t, auto found) {
    out.reserve(set.size());
    out.insert(out.end(), found.begin(), found.end());
  });
  return out;
}

void fast_log_likelihoods(const AnyModel& model, const SequenceSet& set, std::size_t burn_in,
                          int threads, const LikelihoodSink& sink) {
  require_fitting(model, set);
  if (const auto with_sets = set.with_sets(); !with_sets.empty())
    return sink(0, around_sets(model, set, with_sets, burn_in, threads));
  if (const Hmm* hmm = std::get_if<Hmm>(&model))
    return sink(0, hmm_log_likelihoods(*hmm, set, burn_in, threads));
  if (const EdgeHmm* edge_hmm = std::get_if<EdgeHmm>(&model))
    return sink(0, edge_log_likelihoods(*edge_hmm, set, burn_in, threads));
  const Hqmm& hqmm = std::get<Hqmm>(model);
  if (burn_in == 0 && is_feasible(hqmm)) {
    const Components mixture = components_of(hqmm);
    if (mixture.members.size() > 1) return sink(0, by_members(mixture, set, threads));
  }
  hqmm_log_likelihoods(hqmm, set, burn_in, threads, sink);
}

}  // namespace hqmm::detail

#include "hqmm/engine/likelihood.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "hqmm/core/packing.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/classical/edge_forward.hpp"
#include "hqmm/engine/classical/hmm_forward.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/engine/elsewhere.hpp"
#include "hqmm/engine/quantum/hqmm_forward.hpp"
#include "hqmm/model/filter_likelihood.hpp"
#include "hqmm/model/mixture.hpp"
#include "hqmm/model/model_packing.hpp"

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
                                           int threads, Share share, CudaEngine* gpu) {
  std::vector<SequenceLikelihood> out;
  for (std::size_t m = 0; m < mixture.members.size(); ++m) {
    const double log_weight = std::log(mixture.weights[m]);
    const auto one = hqmm_log_likelihoods(mixture.members[m], set, 0, threads, share, gpu);
    if (m == 0) out = one;
    for (std::size_t i = 0; i < one.size(); ++i) {
      SequenceLikelihood& sum = out[i];
      if (one[i].scored == kElsewhere) continue;
      const double term = log_weight + one[i].log_likelihood;
      sum.log_likelihood = m == 0 ? term : log_add(sum.log_likelihood, term);
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
                                            std::size_t burn_in, int threads, Share share) {
  const std::vector<std::uint32_t> others = without(set.size(), with_sets);
  std::vector<SequenceLikelihood> out(set.size());
  const auto put = [&](const std::vector<std::uint32_t>& chosen, const auto& found) {
    for (std::size_t k = 0; k < chosen.size(); ++k) out[chosen[k]] = found[k];
  };
  for (SequenceLikelihood& one : out) one.scored = kElsewhere;
  const std::span all(with_sets);
  const std::size_t begin = share.begin(all.size());
  const auto mine = all.subspan(begin, share.end(all.size()) - begin);
  const std::vector<std::uint32_t> filtered(mine.begin(), mine.end());
  if (!filtered.empty())
    put(filtered, log_likelihoods(model, set.subset(filtered), burn_in, threads));
  if (!others.empty())
    put(others, fast_log_likelihoods(model, set.subset(others), burn_in, threads, share));
  return out;
}

/// Whether all symbols are below `size`, or missing. Without a branch, in numbers as small as they
/// are: many at a time.
template <typename Stored>
bool all_below(const Stored* symbols, std::size_t count, std::size_t size) {
  constexpr Stored kNone = std::numeric_limits<Stored>::max();
  if (size >= kNone) return true;
  const auto first = static_cast<Stored>(size);
  const auto others = static_cast<Stored>(kNone - first);
  Stored found = 0;
  for (std::size_t i = 0; i < count; ++i)
    found |= static_cast<Stored>(static_cast<Stored>(symbols[i] - first) < others);
  return found == 0;
}

/// The same for a whole set, whose symbols lie one after another.
bool all_below(const SequenceSet& set, std::size_t size, int threads) {
  constexpr std::size_t kTogether = std::size_t{1} << 18;
  const SequenceView all(set.symbols(), 0, set.symbols().size());
  std::atomic<bool> below = true;
  parallel_for((all.size() + kTogether - 1) / kTogether, threads, [&](std::size_t i) {
    const SequenceView part =
        all.part(i * kTogether, std::min(kTogether, all.size() - i * kTogether));
    const auto look = [&](const auto* symbols) { return all_below(symbols, part.size(), size); };
    if (!part.with_stored(look)) below = false;
  });
  return below;
}

/// require_fitting(), which looks at one symbol after another, only where one may not fit.
void require_fitting_fast(const AnyModel& model, const SequenceSet& set, int threads) {
  require_fitting_alphabet(model, set);
  if (!all_below(set, alphabet_of(model).size(), threads)) require_fitting(model, set);
}

void require_for_gpu(const AnyModel& model, const SequenceSet& set) {
  if (!std::holds_alternative<Hqmm>(model)) throw gpu_knows_no("HMMs");
  if (!is_feasible(model)) throw gpu_knows_no("models that are not trace preserving");
  if (!set.with_sets().empty()) throw gpu_knows_no("symbols that stand for several");
}

}  // namespace

std::vector<SequenceLikelihood> fast_log_likelihoods(const AnyModel& model, const SequenceSet& set,
                                                     std::size_t burn_in, int threads, Share share,
                                                     CudaEngine* gpu) {
  std::vector<SequenceLikelihood> out;
  const auto take = [&](std::size_t, auto found) {
    out.reserve(set.size());
    out.insert(out.end(), found.begin(), found.end());
  };
  fast_log_likelihoods(model, set, burn_in, threads, take, share, gpu);
  return out;
}

void fast_log_likelihoods(const AnyModel& model, const SequenceSet& set, std::size_t burn_in,
                          int threads, const LikelihoodSink& sink, Share share, CudaEngine* gpu) {
  require_fitting_fast(model, set, threads);
  if (gpu != nullptr) require_for_gpu(model, set);
  if (const auto with_sets = set.with_sets(); !with_sets.empty())
    return sink(0, around_sets(model, set, with_sets, burn_in, threads, share));
  if (const Hmm* hmm = std::get_if<Hmm>(&model))
    return sink(0, hmm_log_likelihoods(*hmm, set, burn_in, threads, share));
  if (const EdgeHmm* edge_hmm = std::get_if<EdgeHmm>(&model))
    return sink(0, edge_log_likelihoods(*edge_hmm, set, burn_in, threads, share));
  const Hqmm& hqmm = std::get<Hqmm>(model);
  if (burn_in == 0 && is_feasible(hqmm)) {
    const Components mixture = components_of(hqmm);
    if (mixture.members.size() > 1) return sink(0, by_members(mixture, set, threads, share, gpu));
  }
  hqmm_log_likelihoods(hqmm, set, burn_in, threads, sink, share, gpu);
}

RankTask likelihood_task(const SequenceSet& set, Share share, int threads) {
  RankTask out;
  out.work = [&set, share, threads](std::string_view request) {
    Unpacker in(request);
    const AnyModel model = unpack_model(in);
    const auto burn_in = in.number<std::uint64_t>();
    const auto found = fast_log_likelihoods(model, set, burn_in, threads, share);
    Packer reply;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i].scored != kElsewhere) reply.number(std::uint64_t{i}).number(found[i]);
    return reply.take();
  };
  out.merge = [](const std::string& ours, const std::string& theirs) { return ours + theirs; };
  return out;
}

std::vector<SequenceLikelihood> ask_log_likelihoods(Ranks& ranks, const std::string& task,
                                                    const AnyModel& model, const SequenceSet& set,
                                                    std::size_t burn_in, int threads) {
  require_fitting_fast(model, set, threads);
  Packer request;
  pack(model, request);
  request.number(std::uint64_t{burn_in});
  const std::string reply =
      ranks.ask(task, request.take(), likelihood_task(set, ranks.share(), threads));
  std::vector<SequenceLikelihood> out(set.size());
  for (Unpacker in(reply); !in.at_end();) {
    const auto i = in.number<std::uint64_t>();
    out.at(i) = in.number<SequenceLikelihood>();
  }
  return out;
}

}  // namespace hqmm::detail

#include "hqmm/engine/classical/edge_counts.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/engine/classical/edge_chain.hpp"
#include "hqmm/engine/classical/edge_long.hpp"
#include "hqmm/engine/scratch_pool.hpp"
#include "hqmm/engine/shared_sum.hpp"
#include "hqmm/model/model_packing.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kEdgeStatesKept = 4096;  // states kept; the others are computed again
constexpr double kNegligible = 1e-200;  // keeps γ/p, and sums of it, inside the range of doubles
constexpr std::size_t kPartsTogether = 16;  // a wave, after which to ask whether to stop

/// Sums of r xᵀ: by symbol, then by set where there are any, and at last for the missing ones.
struct Sums {
  std::uint64_t scored = 0;
  double log_likelihood = 0.0;
  std::vector<RealMatrix> outer;
  RealVector initial;
  std::optional<ImpossibleSymbol> impossible;

  Sums& operator+=(const Sums& other) {
    scored += other.scored;
    log_likelihood += other.log_likelihood;
    for (std::size_t y = 0; y < outer.size(); ++y) outer[y] += other.outer[y];
    initial += other.initial;
    if (!impossible) impossible = other.impossible;  // parts are in the order of sequences
    return *this;
  }
  void pack(Packer& out) const {
    out.number(scored).number(log_likelihood).number(std::uint64_t{outer.size()});
    out.numbers(std::span(initial.data(), static_cast<std::size_t>(initial.size())));
    for (const RealMatrix& one : outer)
      out.numbers(std::span(one.data(), static_cast<std::size_t>(one.size())));
    out.number(impossible.has_value()).number(impossible.value_or(ImpossibleSymbol{}));
  }
  void unpack(Unpacker& in) {
    scored = in.number<std::uint64_t>();
    log_likelihood = in.number<double>();
    outer.resize(in.number<std::uint64_t>());
    const std::vector<double> start = in.numbers<double>();
    const auto n = static_cast<Index>(start.size());
    initial = Eigen::Map<const RealVector>(start.data(), n);
    for (RealMatrix& one : outer) {
      one.resize(n, n);
      in.numbers(std::span(one.data(), static_cast<std::size_t>(one.size())));
    }
    const bool has_impossible = in.number<bool>();
    const auto place = in.number<ImpossibleSymbol>();
    impossible = has_impossible ? std::optional(place) : std::nullopt;
  }
};

/// What counting needs of a model.
struct Steps {
  const EdgeHmm& model;
  /// Of all symbols, of the sets when the data have any, and of a missing symbol.
  std::vector<RealMatrix> matrices;

  [[nodiscard]] std::size_t index_of(Symbol symbol) const {
    return symbol == kMissing ? matrices.size() - 1 : symbol;
  }
  [[nodiscard]] Sums no_sums() const {
    Sums out;
    const Index n = model.latent_dim();
    out.outer.assign(matrices.size(), RealMatrix::Zero(n, n));
    out.initial = RealVector::Zero(n);
    return out;
  }
};

/// Many sequences at a time, for as long as numbers stay in range.
class ChainCounts {
 public:
  explicit ChainCounts(const Steps& steps) : model_(steps.model), chain_(model_) {}

  /// Adds the sums of sequences with a known symbol each and no sets. When it is false nothing has
  /// been added.
  [[nodiscard]] bool add(const SequenceSet& set, std::span<const std::size_t> sequences,
                         Sums& sums) {
    views_.clear();
    weights_.clear();
    for (const std::size_t i : sequences) {
      views_.push_back(set[i]);
      weights_.push_back(set.weight(i));
    }
    if (!chain_.differentiate(views_, weights_)) return false;
    const std::size_t s = model_.edges.size();
    for (std::size_t y = 0; y < s; ++y) chain_.add_derivative(y, sums.outer[y]);
    chain_.add_derivative(s, sums.outer.back());
    RealVector initial = RealVector::Zero(model_.latent_dim());
    chain_.add_initial_derivative(initial);
    sums.initial += model_.initial.cwiseProduct(initial);
    for (std::size_t k = 0; k < views_.size(); ++k) {
      sums.scored += chain_.scored(k);
      sums.log_likelihood += weights_[k] * chain_.log_likelihood(k);
    }
    return true;
  }

 private:
  const EdgeHmm& model_;
  EdgeChain chain_;
  std::vector<SequenceView> views_;
  std::vector<double> weights_;
};

/// One sequence at a time, in terms of probabilities alone.
class CarefulEdges {
 public:
  CarefulEdges(const Steps& steps, Sums& sums) : model_(steps.model), steps_(steps), out_(sums) {
    states_.resize(model_.latent_dim(), static_cast<Index>(kEdgeStatesKept) + 1);
  }

  void add(const SequenceSet& set, std::size_t index) {
    const SequenceView sequence = set[index];
    double log_likelihood = 0.0;
    std::uint64_t scored = 0;
    starts_.clear();
    RealVector x = model_.initial;
    for (std::size_t begin = 0; begin < sequence.size(); begin += kEdgeStatesKept) {
      starts_.push_back(x);
      const std::size_t end = std::min(begin + kEdgeStatesKept, sequence.size());
      for (std::size_t t = begin; t < end; ++t) {
        const double weight = advance(sequence[t], x);
        if (!(weight > 0.0) || !std::isfinite(weight)) {
          if (!out_.impossible) out_.impossible = {index, t};
          return;
        }
        if (sequence[t] == kMissing) continue;
        ++scored;
        log_likelihood += std::log(weight);
      }
    }
    out_.scored += scored;
    weight_ = set.weight(index);
    out_.log_likelihood += weight_ * log_likelihood;
    go_back(sequence, x);
  }

 private:
  /// x ← T_y x, scaled to sum one; returns the sum before.
  double advance(Symbol symbol, RealVector& x) {
    next_.noalias() = steps_.matrices[steps_.index_of(symbol)] * x;
    const double weight = next_.sum();
    x = next_ / weight;
    return weight;
  }

  void go_back(const SequenceView& sequence, RealVector posterior) {
    for (std::size_t block = starts_.size(); block-- > 0;) {
      const std::size_t begin = block * kEdgeStatesKept;
      const std::size_t size = std::min(kEdgeStatesKept, sequence.size() - begin);
      RealVector x = starts_[block];
      for (std::size_t k = 0; k < size; ++k) {
        states_.col(static_cast<Index>(k)) = x;
        advance(sequence[begin + k], x);
      }
      for (std::size_t k = size; k-- > 0;)
        retreat(sequence[begin + k], states_.col(static_cast<Index>(k)), posterior);
    }
    out_.initial += weight_ * posterior;
  }

  void retreat(Symbol symbol, const Eigen::Ref<const RealVector>& x, RealVector& posterior) {
    const RealMatrix& step = steps_.matrices[steps_.index_of(symbol)];
    next_.noalias() = step * x;
    ratio_ = (next_.array() > kNegligible).select(posterior.array() / next_.array(), 0.0);
    out_.outer[steps_.index_of(symbol)].noalias() += weight_ * ratio_ * x.transpose();
    posterior.noalias() = step.transpose() * ratio_;
    posterior.array() *= x.array();
    posterior /= posterior.sum();
  }

  const EdgeHmm& model_;
  const Steps& steps_;
  Sums& out_;
  double weight_ = 1.0;  // of the sequence at hand
  std::vector<RealVector> starts_;
  RealMatrix states_;
  RealVector next_, ratio_;
};

/// Where parts of the chosen sequences begin, and the end: enough symbols each, and not many parts.
std::vector<std::size_t> cut_parts(const SequenceSet& set, std::span<const std::size_t> chosen) {
  std::size_t all = 0;
  for (const std::size_t i : chosen) all += set[i].size();
  const std::size_t enough = std::max<std::size_t>(32768, all / 64);
  std::vector<std::size_t> out{0};
  std::size_t symbols = 0;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    symbols += set[chosen[k]].size();
    if (symbols < enough && k + 1 < chosen.size()) continue;
    out.push_back(k + 1);
    symbols = 0;
  }
  return out;
}

Steps steps_of(const EdgeHmm& model, const SequenceSet& set) {
  const std::size_t symbols = model.edges.size();
  const SymbolBlock& all = set.symbols();
  bool sets = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] < symbols || all[i] == kMissing) continue;
    sets = true;
    if (!members(symbols, all[i]).empty()) continue;
    throw fail(ErrorCode::kBadData, "symbol {} is beyond the model's 0..{}", all[i], symbols - 1);
  }
  Steps out{model, model.edges};
  for (std::size_t i = 0; sets && i < set_letters(symbols).size(); ++i)
    out.matrices.push_back(model.seen(static_cast<Symbol>(symbols + i)));
  out.matrices.push_back(model.transition());
  return out;
}

bool can_be_chained(const Steps& steps, const SequenceView& sequence) {
  return any_known(sequence) && !sequence.has_sets(steps.model.edges.size());
}

Sums count_part(const Steps& steps, const SequenceSet& set, std::span<const std::size_t> part,
                ScratchPool<ChainCounts>& pool) {
  Sums out = steps.no_sums();
  std::vector<std::size_t> together, alone;
  for (const std::size_t i : part) (can_be_chained(steps, set[i]) ? together : alone).push_back(i);
  ScratchPool<ChainCounts>::Loan loan(pool, steps);
  if (!together.empty() && !loan.scratch().add(set, together, out)) {
    alone.insert(alone.end(), together.begin(), together.end());
    std::sort(alone.begin(), alone.end());
  }
  CarefulEdges careful(steps, out);
  for (const std::size_t i : alone) careful.add(set, i);
  return out;
}

/// Long sequences one after another, each on all threads; returns those that are left.
std::vector<std::size_t> count_long(const Steps& steps, const SequenceSet& set, int threads,
                                    const std::function<bool()>& stop, Sums& sums) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < set.size(); ++i) {
    std::optional<LongDerivatives> found;
    if (is_long_for_edges(set[i], steps.model.edges.size()))
      found = long_derivatives(steps.model, set[i], set.weight(i), threads, stop);
    if (!found) {
      left.push_back(i);
      continue;
    }
    const std::size_t s = steps.model.edges.size();
    for (std::size_t y = 0; y < s; ++y) sums.outer[y] += found->edges[y];
    sums.outer.back() += found->edges[s];
    sums.scored += found->scored;
    sums.log_likelihood += set.weight(i) * found->log_likelihood;
    sums.initial += set.weight(i) * found->posterior;
  }
  return left;
}

/// Long sequences, into `of_long`, and a share of the parts of the others. False when stopped.
bool count_share(const Steps& steps, const SequenceSet& set, Share share, int threads,
                 const std::function<bool()>& stop, Sums& of_long, TreeSum<Sums>& sum) {
  ScratchPool<ChainCounts> pool;
  const std::vector<std::size_t> chosen = count_long(steps, set, threads, stop, of_long);
  const std::vector<std::size_t> parts = cut_parts(set, chosen);
  const std::size_t end = share.end(parts.size() - 1);
  std::vector<Sums> wave;
  for (std::size_t begin = share.begin(parts.size() - 1); begin < end; begin += wave.size()) {
    if (stop()) return false;
    wave.resize(std::min(kPartsTogether, end - begin));
    parallel_for(wave.size(), threads, [&](std::size_t k) {
      const std::size_t first = parts[begin + k];
      const std::size_t size = parts[begin + k + 1] - first;
      wave[k] = count_part(steps, set, std::span(chosen).subspan(first, size), pool);
    });
    for (std::size_t k = 0; k < wave.size(); ++k) sum.add_leaf(begin + k, wave[k]);
  }
  return true;
}

}  // namespace

EdgeCounts::EdgeCounts(const EdgeHmm& model)
    : edges(model.edges.size(), RealMatrix::Zero(model.latent_dim(), model.latent_dim())),
      initial(RealVector::Zero(model.latent_dim())) {}

std::optional<EdgeCounts> expected_edges(const EdgeHmm& model, const SequenceSet& set, int threads,
                                         const std::function<bool()>& stop, Ranks* ranks) {
  const Steps steps = steps_of(model, set);
  Sums sums = steps.no_sums();
  TreeSum<Sums> tree;
  if (ranks == nullptr) {
    if (!count_share(steps, set, {}, threads, stop, sums, tree)) return {};
  } else {
    if (stop()) return {};
    const RankTask task{[&](std::string_view) {
                          if (!count_share(steps, set, ranks->share(), threads, stop, sums, tree))
                            throw fail(ErrorCode::kInterrupted, "interrupted");
                          return pack_sum(tree);
                        },
                        merge_sums<Sums>};
    Packer request;
    pack(model, request);
    const std::string found = ranks->ask(kEdgesTask, request.take(), task);
    tree.clear();
    add_packed(found, tree);
  }
  if (!tree.empty()) sums += tree.total();
  EdgeCounts out(model);
  out.scored = sums.scored;
  out.log_likelihood = sums.log_likelihood;
  out.initial = sums.initial;
  out.impossible = sums.impossible;
  const std::size_t symbols = out.edges.size();
  for (std::size_t y = 0; y < symbols; ++y) out.edges[y] = sums.outer[y] + sums.outer.back();
  for (std::size_t i = symbols; i + 1 < sums.outer.size(); ++i)
    for (const Symbol y : members(symbols, static_cast<Symbol>(i))) out.edges[y] += sums.outer[i];
  for (std::size_t y = 0; y < symbols; ++y)
    out.edges[y] = model.edges[y].cwiseProduct(out.edges[y]);
  return out;
}

RankTask edges_task(const SequenceSet& set, Share share, int threads) {
  RankTask out;
  out.work = [&set, share, threads](std::string_view request) {
    Unpacker in(request);
    const auto model = std::get<EdgeHmm>(unpack_model(in));
    const Steps steps = steps_of(model, set);
    Sums of_long = steps.no_sums();  // which rank 0 counts
    TreeSum<Sums> sum;
    const auto never = [] { return false; };
    static_cast<void>(count_share(steps, set, share, threads, never, of_long, sum));
    return pack_sum(sum);
  };
  out.merge = merge_sums<Sums>;
  return out;
}

}  // namespace hqmm::detail

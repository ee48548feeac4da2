#include "hqmm/engine/classical/forward_backward.hpp"

#include <algorithm>
#include <limits>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/classical/edge_long.hpp"
#include "hqmm/engine/classical/tile_expectation.hpp"
#include "hqmm/engine/classical/tile_layout.hpp"
#include "hqmm/engine/scratch_pool.hpp"
#include "hqmm/engine/shared_sum.hpp"
#include "hqmm/model/model_packing.hpp"

namespace hqmm::detail {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
/// Numbers of all T_y = diag(C_y) A with which long sequences are still shared between threads.
constexpr std::size_t kMostEdgeNumbers = std::size_t{1} << 18;

/// Counts of some sequences, and those of them that need care.
struct Part {
  TileCounts counts;
  std::vector<std::size_t> lost;

  Part& operator+=(const Part& other) {
    counts += other.counts;
    lost.insert(lost.end(), other.lost.begin(), other.lost.end());
    return *this;
  }
  void pack(Packer& out) const {
    out.number(counts.scored).number(counts.log_likelihood).number(counts.spread);
    for (const AlignedDoubles* one : {&counts.transitions, &counts.emissions, &counts.initial})
      out.numbers(std::span<const double>(*one));
    out.numbers(std::span<const std::size_t>(lost));
  }
  void unpack(Unpacker& in) {
    counts.scored = in.number<std::uint64_t>();
    counts.log_likelihood = in.number<double>();
    counts.spread = in.number<std::size_t>();
    for (AlignedDoubles* one : {&counts.transitions, &counts.emissions, &counts.initial}) {
      const std::vector<double> values = in.numbers<double>();
      one->assign(values.begin(), values.end());
    }
    lost = in.numbers<std::size_t>();
  }
};

class ExpectationStep {
 public:
  ExpectationStep(const Hmm& model, const SequenceSet& set)
      : model_(model), set_(set), tables_(model) {}

  std::optional<ExpectedCounts> run(int threads, const std::function<bool()>& stop, Ranks* ranks) {
    ExpectedCounts out(model_);
    TreeSum<Part> sum;
    if (ranks == nullptr) {
      if (!count({}, threads, stop, out, sum)) return {};
    } else {
      if (stop()) return {};
      const RankTask task{[&](std::string_view) {
                            if (!count(ranks->share(), threads, stop, out, sum))
                              throw fail(ErrorCode::kInterrupted, "interrupted");
                            return pack_sum(sum);
                          },
                          merge_sums<Part>};
      Packer request;
      pack(model_, request);
      const std::string found = ranks->ask(kCountsTask, request.take(), task);
      sum.clear();
      add_packed(found, sum);
    }
    for (std::size_t i = 0; i < set_.size(); ++i)
      if (set_[i].empty()) out.initial += set_.weight(i) * model_.initial;
    if (sum.empty()) return out;
    unpack(sum.total().counts, out);
    for (const std::size_t sequence : sum.total().lost) {
      if (stop()) return {};
      add_carefully(sequence, out);
    }
    return out;
  }

  /// Long sequences, into `out`, and a share of the parts of the others. False when stopped.
  bool count(Share share, int threads, const std::function<bool()>& stop, ExpectedCounts& out,
             TreeSum<Part>& sum) {
    const std::vector<char> counted = count_long(threads, stop, out);
    const TileLayout layout(set_, kTileSlots, part_symbols(), counted);
    const std::size_t end = share.end(layout.parts());
    std::vector<Part> wave;
    for (std::size_t begin = share.begin(layout.parts()); begin < end; begin += wave.size()) {
      if (stop()) return false;
      wave.resize(std::min(parts_together(), end - begin));
      parallel_for(wave.size(), threads,
                   [&](std::size_t i) { count_part(layout.part(begin + i), wave[i]); });
      for (std::size_t i = 0; i < wave.size(); ++i) sum.add_leaf(begin + i, wave[i]);
    }
    return true;
  }

 private:
  /// Enough that threads do not spend their time on clearing and adding tables of counts.
  [[nodiscard]] std::size_t part_symbols() const {
    return std::max(8 * tables_.symbols,
                    (std::size_t{1} << 17) / (tables_.states * tables_.states + 40));
  }
  /// A wave of parts is as much as memory holds tables for, and does not take long.
  [[nodiscard]] std::size_t parts_together() const {
    const std::size_t doubles = (tables_.states + tables_.symbols + 2) * tables_.stride;
    return std::clamp<std::size_t>((std::size_t{1} << 26) / doubles, 2, 64);
  }

  /// Long sequences one after another, each on all threads, as those of a model with T_y. Which
  /// they were.
  std::vector<char> count_long(int threads, const std::function<bool()>& stop,
                               ExpectedCounts& out) {
    std::vector<char> counted(set_.size(), 0);
    if (tables_.symbols * tables_.states * tables_.states > kMostEdgeNumbers) return counted;
    std::optional<EdgeHmm> edges;
    for (std::size_t i = 0; i < set_.size(); ++i) {
      if (!is_long_for_edges(set_[i], tables_.symbols)) continue;
      if (!edges) edges = as_edge_hmm(model_);
      const auto found = long_derivatives(*edges, set_[i], set_.weight(i), threads, stop);
      if (!found) continue;
      counted[i] = 1;
      for (std::size_t y = 0; y < tables_.symbols; ++y) {
        const RealMatrix taken = edges->edges[y].cwiseProduct(found->edges[y]);
        out.transitions += taken;
        out.emissions.row(static_cast<Index>(y)) += taken.rowwise().sum().transpose();
      }
      out.transitions += model_.transition.cwiseProduct(found->edges.back());
      out.initial += set_.weight(i) * found->posterior;
      out.scored += found->scored;
      out.log_likelihood += set_.weight(i) * found->log_likelihood;
    }
    return counted;
  }

  void count_part(std::span<const std::size_t> sequences, Part& out) {
    ScratchPool<TileExpectation>::Loan loan(pool_, tables_);
    out.lost.clear();
    std::vector<std::size_t> kept;
    for (const std::size_t i : sequences)  // tiles do not know symbols that stand for several
      (set_[i].has_sets(tables_.symbols) ? out.lost : kept).push_back(i);
    // Counts of a tile with a lost sequence are spoilt. Once more without: then none is lost.
    for (std::size_t lost_before = 1; lost_before > 0;) {
      out.counts.reset(tables_);
      std::vector<std::size_t> lost;
      for (std::size_t first = 0; first < kept.size(); first += kTileSlots) {
        const std::size_t size = std::min(kTileSlots, kept.size() - first);
        loan.scratch().add(set_, std::span(kept).subspan(first, size), out.counts, lost);
      }
      std::sort(lost.begin(), lost.end());
      lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
      std::erase_if(kept, [&](std::size_t sequence) {
        return std::binary_search(lost.begin(), lost.end(), sequence);
      });
      out.lost.insert(out.lost.end(), lost.begin(), lost.end());
      lost_before = lost.size();
    }
  }

  void unpack(const TileCounts& from, ExpectedCounts& to) const {
    to.scored += from.scored;
    to.log_likelihood += from.log_likelihood;
    for (std::size_t j = 0; j < tables_.states; ++j) {
      const auto column = static_cast<Index>(j);
      to.initial(column) += from.initial[j];
      for (std::size_t i = 0; i < tables_.states; ++i) {
        // Where a transition cannot be, the sum means nothing and may have overflowed.
        const double sum = from.transitions[j * tables_.stride + i];
        to.transitions(static_cast<Index>(i), column) +=
            std::min(sum, kLargest) * tables_.columns[j * tables_.stride + i];
      }
    }
    for (std::size_t table = 0; table < from.emissions.size(); table += tables_.emission_size())
      add_columns(from.emissions.data() + table, to.emissions);
  }

  void add_columns(const double* rows, RealMatrix& to) const {
    for (std::size_t begin = 0; begin < tables_.symbols; begin += kSymbolBlock) {
      const std::size_t end = std::min(tables_.symbols, begin + kSymbolBlock);
      for (std::size_t i = 0; i < tables_.states; ++i) {
        double* column = to.col(static_cast<Index>(i)).data();
        for (std::size_t y = begin; y < end; ++y) column[y] += rows[y * tables_.stride + i];
      }
    }
  }

  void add_carefully(std::size_t sequence, ExpectedCounts& out) const {
    const std::optional<std::size_t> impossible_at =
        careful_counts(model_, set_[sequence], out, set_.weight(sequence));
    if (!impossible_at || (out.impossible && out.impossible->sequence < sequence)) return;
    out.impossible = {sequence, *impossible_at};
  }

  const Hmm& model_;
  const SequenceSet& set_;
  HmmTables tables_;
  ScratchPool<TileExpectation> pool_;
};

}  // namespace

ExpectedCounts::ExpectedCounts(const Hmm& model)
    : transitions(RealMatrix::Zero(model.latent_dim(), model.latent_dim())),
      emissions(RealMatrix::Zero(model.alphabet_size(), model.latent_dim())),
      initial(RealVector::Zero(model.latent_dim())) {}

std::optional<ExpectedCounts> expected_counts(const Hmm& model, const SequenceSet& set, int threads,
                                              const std::function<bool()>& stop, Ranks* ranks) {
  return ExpectationStep(model, set).run(threads, stop, ranks);
}

RankTask counts_task(const SequenceSet& set, Share share, int threads) {
  RankTask out;
  out.work = [&set, share, threads](std::string_view request) {
    Unpacker in(request);
    const auto model = std::get<Hmm>(unpack_model(in));
    ExpectedCounts of_long(model);  // which rank 0 counts
    TreeSum<Part> sum;
    const auto never = [] { return false; };
    static_cast<void>(ExpectationStep(model, set).count(share, threads, never, of_long, sum));
    return pack_sum(sum);
  };
  out.merge = merge_sums<Part>;
  return out;
}

}  // namespace hqmm::detail

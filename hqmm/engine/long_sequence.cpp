#include "hqmm/engine/long_sequence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/long_pieces.hpp"

namespace hqmm::detail {
namespace {

constexpr double kMostTableBytes = 64.0 * 1024 * 1024;
constexpr double kMostBlockWords = 65536.0;
constexpr std::size_t kMostBlocks = 64;
constexpr std::size_t kTogether = kBlockChains;  // that a thread leads along side by side
constexpr std::size_t kLeastBlock = std::size_t{1} << 14;

/// Fewer columns than this share of n are walked faster than all n of a Kraus operator.
constexpr Index kLeastShare = 4;

/// Processor cycles, as measured: products of small matrices, and what memory gives in one.
constexpr double kMultiplications = 12.0;
constexpr double kStep = 30.0;

double bytes_a_cycle(double table_bytes) {
  if (table_bytes < 768.0 * 1024) return 48.0;
  return table_bytes < 16.0 * 1024 * 1024 ? 16.0 : 4.0;
}

class LongScore {
 public:
  LongScore(const WordTable& table, const SequenceView& sequence, std::size_t burn_in, int threads)
      : table_(table),
        model_(table.model()),
        sequence_(sequence),
        burn_in_(std::min(burn_in, sequence.size())),
        threads_(threads),
        walk_(table, sequence, model_.initial_cols) {}

  /// The logarithm of the weight of what is scored.
  std::optional<double> by_blocks() {
    std::vector<Stretch> stretches;
    cut({0, burn_in_}, stretches);
    const std::size_t before = stretches.size();
    cut({burn_in_, sequence_.size()}, stretches);
    const std::vector<WalkState> blocks = operators_of(stretches);
    WalkState state = walk_.initial();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i == before && before > 0) note_burn_in(state);
      walk_.apply(blocks[i], state);
    }
    if (state.in_doubt) return {};
    return since_burn_in(state.weight, state.exponent);
  }

  std::optional<double> by_pair() {
    const std::size_t middle = std::max(burn_in_, sequence_.size() / 2);
    WalkState state = walk_.initial();
    WalkState from_end = walk_.certain();
    parallel_for(2, threads_, [&](std::size_t i) {
      if (i == 1) return walk_.backward(from_end, {middle, sequence_.size()});
      walk_.forward(state, {0, burn_in_});
      if (burn_in_ > 0) note_burn_in(state);
      walk_.forward(state, {burn_in_, middle});
    });
    const double weight = walk_.meet(state, from_end);
    if (state.in_doubt) return {};
    return since_burn_in(weight, state.exponent + from_end.exponent);
  }

 private:
  void note_burn_in(const WalkState& state) {
    burnt_in_weight_ = state.weight;
    burnt_in_exponent_ = state.exponent;
  }
  /// Exponents first: of two large logarithms little would be left where few symbols are scored.
  [[nodiscard]] double since_burn_in(double weight, std::int64_t exponent) const {
    return std::log(weight / burnt_in_weight_) +
           std::numbers::ln2 * static_cast<double>(exponent - burnt_in_exponent_);
  }

  static void cut(Stretch all, std::vector<Stretch>& out) {
    const std::size_t size = all.to - all.from;
    const std::size_t count = std::min(kMostBlocks, (size + kLeastBlock - 1) / kLeastBlock);
    for (std::size_t i = 0; i < count; ++i)
      out.push_back({all.from + size * i / count, all.from + size * (i + 1) / count});
  }

  std::vector<WalkState> operators_of(const std::vector<Stretch>& stretches) const {
    std::vector<WalkState> out(stretches.size());
    const WordWalk walk(table_, sequence_, model_.block_cols);
    parallel_for((stretches.size() + kTogether - 1) / kTogether, threads_, [&](std::size_t part) {
      const std::size_t first = part * kTogether;
      const std::size_t count = std::min(kTogether, stretches.size() - first);
      for (std::size_t i = 0; i < count; ++i) out[first + i] = walk.identity();
      walk.forward_blocks(std::span(out).subspan(first, count),
                          std::span(stretches).subspan(first, count));
    });
    return out;
  }

  const WordTable& table_;
  const LinearModel& model_;
  SequenceView sequence_;
  std::size_t burn_in_;
  int threads_;
  WordWalk walk_;
  double burnt_in_weight_ = 1.0;
  std::int64_t burnt_in_exponent_ = 0;
};

std::uint64_t count_scored(const LinearModel& model, const SequenceView& sequence,
                           std::size_t burn_in) {
  if (burn_in >= sequence.size()) return 0;
  if (!model.has_missing) return sequence.size() - burn_in;
  const SequenceView rest = sequence.part(burn_in, sequence.size() - burn_in);
  return rest.with_stored([&](const auto* symbols) {
    using Stored = std::remove_cvref_t<decltype(*symbols)>;
    const auto missing =
        std::count(symbols, symbols + rest.size(), std::numeric_limits<Stored>::max());
    return rest.size() - static_cast<std::uint64_t>(missing);
  });
}

std::optional<double> by_pieces(const LinearModel& model, const SequenceView& sequence,
                                std::size_t burn_in, int threads) {
  if (model.rows <= kMostBlockRows) return {};
  const PiecePlan plan = plan_pieces(model.rows, model.symbols, sequence.size());
  if (plan.pieces == 0) return {};
  const WordTable table(model, plan.word_length, false, threads);
  return score_by_pieces(table, sequence, burn_in, plan, threads);
}

std::optional<double> by_blocks_or_pair(const LinearModel& model, const SequenceView& sequence,
                                        std::size_t burn_in, int threads) {
  if (!suits_blocks(model)) return {};
  const LongPlan plan = plan_long(shape_of(model, sequence.size()));
  if (plan.way == LongWay::kNone) return {};
  const bool pair = plan.way == LongWay::kPair;
  const WordTable table(model, plan.word_length, pair, threads);
  LongScore score(table, sequence, burn_in, threads);
  return pair ? score.by_pair() : score.by_blocks();
}

}  // namespace

bool suits_blocks(const LinearModel& model) {
  return !model.squared || kLeastShare * model.initial_cols >= model.block_cols;
}

LongShape shape_of(const LinearModel& model, std::size_t length) {
  return {model.rows, model.block_cols, model.squared, model.symbols, length};
}

LongPlan plan_long(const LongShape& shape) {
  LongPlan out;
  if (shape.length < kLongSequence) return out;
  const auto rows = static_cast<double>(shape.rows);
  const auto symbols = static_cast<double>(shape.symbols);
  const auto length = static_cast<double>(shape.length);
  const bool blocks = shape.squared || shape.rows <= 8;
  const double cols = blocks ? static_cast<double>(shape.block_cols) : 1.0;
  const double bytes = rows * rows * sizeof(double);
  double words = symbols;
  double made = 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (int k = 1; words <= std::max(symbols, kMostBlockWords); ++k, words *= symbols) {
    const double table = (made + words) * bytes;
    if (table > kMostTableBytes) break;
    const double multiplications = rows * rows * cols / kMultiplications;
    const double step = std::max(multiplications, bytes / bytes_a_cycle(table)) + kStep;
    // a matrix by a vector waits for itself
    const double waiting = blocks ? 0.0 : 4.0 * rows / 4.0;
    if (k > 1) made += words * (blocks ? 1.0 : 2.0);
    const double cost = length / k * (step + waiting) + made * (rows * rows * rows / 12.0 + 100.0);
    if (cost < least) {
      least = cost;
      out = {blocks ? LongWay::kBlocks : LongWay::kPair, k};
    }
    if (symbols < 2.0) break;
  }
  return out;
}

std::optional<SequenceLikelihood> long_log_likelihood(const LinearModel& model,
                                                      const SequenceView& sequence,
                                                      std::size_t burn_in, int threads) {
  SequenceLikelihood out;
  out.scored = count_scored(model, sequence, burn_in);
  if (out.scored == 0) return {};
  std::optional<double> found = by_pieces(model, sequence, burn_in, threads);
  if (!found) found = by_blocks_or_pair(model, sequence, burn_in, threads);
  if (!found) return {};
  out.log_likelihood = out.raw_log_likelihood = *found;
  return out;
}

}  // namespace hqmm::detail

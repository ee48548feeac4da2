#include "hqmm/engine/long_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/piece_states.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kLeastPiece = 1024;
constexpr std::size_t kMostPieces = 8192;
constexpr std::size_t kMostTogether = 2048;
constexpr double kAlone = 16.0;  // on one thread, where every state is moved by itself
/// Of so many rows a matrix is read for several states at once.
constexpr Index kLeastSortedRows = 24;
constexpr std::size_t kShortestWarmUp = 48;
/// A warm-up is at most this share of a piece, and so many pieces are worth it.
constexpr std::size_t kWarmUpShare = 8;
constexpr std::size_t kFewestPieces = 32;
/// Places at which the warm-up is tried out, and one in so many pieces may be walked again.
constexpr std::size_t kTrials = 8;
constexpr std::size_t kRedone = 16;

/// Processor cycles, as measured.
constexpr double kProductsACycle = 10.0;
constexpr double kPieceStep = 40.0;
constexpr double kMostWordsOfPieces = 4096.0;
constexpr double kMostPieceTable = 64.0 * 1024 * 1024;  // bytes

double bytes_a_cycle_together(double table_bytes) {
  if (table_bytes < 768.0 * 1024) return 32.0;
  return table_bytes < 16.0 * 1024 * 1024 ? 10.0 : 3.0;
}

/// What a stretch has done to the weight.
struct Gain {
  double factor = 1.0;
  std::int64_t exponent = 0;

  static Gain between(const auto& from, const auto& to) {
    return {to.weight / from.weight, to.exponent - from.exponent};
  }
};

class PieceScore {
 public:
  PieceScore(const WordTable& table, const SequenceView& sequence, std::size_t burn_in,
             const PiecePlan& plan, int threads)
      : table_(table),
        model_(table.model()),
        sequence_(sequence),
        burn_in_(burn_in),
        plan_(plan),
        threads_(threads),
        walk_(table, sequence, 1),
        compare_(model_) {}

  std::optional<double> run() {
    if (!find_warm_up() || !cut() || !walk_head()) return {};
    if (!compare_.same(head_end_.x.data(), warm_at(head_).x.data())) return {};
    walk_pieces();
    if (in_doubt_ || !join()) return {};
    return add_up();
  }

 private:
  [[nodiscard]] std::size_t start_of(std::size_t piece) const { return head_ + piece * piece_; }

  /// Where warm-ups begin: a state in which everything is possible, of no symmetry if there are
  /// amplitudes.
  [[nodiscard]] WalkState cold() const {
    WalkState out = walk_.blank();
    for (Index i = 0; i < (model_.squared ? model_.rows : model_.traced); ++i)
      out.x[static_cast<std::size_t>(i)] =
          model_.squared ? 1.0 / (1.0 + 0.618 * static_cast<double>(i)) : 1.0;
    out.weight = model_.weight(out.x.data(), 1);
    return out;
  }

  [[nodiscard]] WalkState warm_at(std::size_t place) const { return warm_at(place, warm_up_); }
  [[nodiscard]] WalkState warm_at(std::size_t place, std::size_t warm_up) const {
    WalkState out = cold();
    walk_.forward(out, {place - warm_up, place});
    return out;
  }

  /// The shortest after which a longer one makes no difference, and as much again to be safe.
  bool find_warm_up() {
    const std::size_t k = table_.length();
    const std::size_t most = sequence_.size() / (kFewestPieces * kWarmUpShare);
    for (std::size_t half = kShortestWarmUp; 2 * half <= most; half += half / 2) {
      const auto forgets = [&](std::size_t trial) {
        const std::size_t place = sequence_.size() * (trial + 1) / kTrials;
        const WalkState a = warm_at(place, half);
        const WalkState b = warm_at(place, 2 * half);
        return !a.in_doubt && !b.in_doubt && compare_.same(a.x.data(), b.x.data());
      };
      std::size_t trial = 0;
      while (trial < kTrials && forgets(trial)) ++trial;
      warm_up_ = (half + half / 2) / k * k;
      if (trial == kTrials) return true;
    }
    return false;
  }

  /// Pieces that are long against their warm-ups, of the same number of words each. What is left
  /// comes first, at least as long as a piece.
  bool cut() {
    const std::size_t k = table_.length();
    pieces_ = std::min(plan_.pieces, sequence_.size() / (kWarmUpShare * warm_up_) - 1);
    piece_ = sequence_.size() / (pieces_ + 1) / k * k;
    head_ = sequence_.size() - pieces_ * piece_;
    return piece_ >= warm_up_;
  }

  /// Up to the first piece, by all columns of the initial state. They must have become one.
  bool walk_head() {
    const WordWalk walk(table_, sequence_, model_.initial_cols);
    WalkState state = walk.initial();
    const std::size_t burn_in = std::min(burn_in_, head_);
    walk.forward(state, {0, burn_in});
    const WalkState burnt_in = state;
    walk.forward(state, {burn_in, head_});
    if (state.in_doubt) return false;
    head_gain_ = Gain::between(burnt_in, state);
    const auto column = [&](Index j) { return state.x.data() + j * model_.stride; };
    Index heaviest = 0;
    for (Index j = 1; j < model_.initial_cols; ++j)
      if (model_.weight(column(j), 1) > model_.weight(column(heaviest), 1)) heaviest = j;
    for (Index j = 0; j < model_.initial_cols; ++j)
      if (!compare_.same(column(heaviest), column(j))) return false;
    head_end_ = walk_.blank();
    std::copy_n(column(heaviest), model_.stride, head_end_.x.begin());
    head_end_.weight = model_.weight(head_end_.x.data(), 1);
    walk_.rescale(head_end_);
    return true;
  }

  void walk_pieces() {
    starts_.resize(pieces_, model_);
    ends_.resize(pieces_, model_);
    const std::size_t parts = std::bit_ceil((pieces_ + plan_.together - 1) / plan_.together);
    parallel_for(parts, threads_, [&](std::size_t part) {
      const std::size_t first = part * pieces_ / parts;
      walk_part(first, (part + 1) * pieces_ / parts - first);
    });
  }

  void walk_part(std::size_t first, std::size_t count) {
    const std::size_t k = table_.length();
    BatchWalk batch(table_, sequence_, count, plan_.sorted);
    std::vector<std::size_t> from(count);
    const WalkState cold_state = cold();
    for (std::size_t i = 0; i < count; ++i) {
      from[i] = start_of(first + i) - warm_up_;
      batch.set(i, cold_state);
    }
    batch.forward(from, warm_up_ / k);
    for (std::size_t i = 0; i < count; ++i) {
      from[i] = start_of(first + i);
      starts_.set(first + i, batch.state(i), batch.standing(i));
    }
    batch.forward(from, piece_ / k);
    for (std::size_t i = 0; i < count; ++i) {
      ends_.set(first + i, batch.state(i), batch.standing(i));
      if (batch.standing(i).in_doubt) in_doubt_ = true;
    }
  }

  /// Every piece must begin where the one before ended.
  bool join() {
    std::size_t redone = 0;
    WalkState state = head_end_;
    for (std::size_t i = 0; i < pieces_; ++i) {
      if (i > 0) ends_.get(i - 1, state);
      if (compare_.same(state.x.data(), starts_.x(i))) continue;
      if (++redone > pieces_ / kRedone + 1) return false;
      starts_.set(i, state);
      walk_.forward(state, {start_of(i), start_of(i) + piece_});
      if (state.in_doubt) return false;
      ends_.set(i, state);
    }
    return true;
  }

  /// Exponents first: of two large logarithms little would be left where few symbols are scored.
  [[nodiscard]] std::optional<double> add_up() const {
    double logarithms = 0.0;
    std::int64_t exponent = 0;
    const auto add = [&](const Gain& gain) {
      logarithms += std::log(gain.factor);
      exponent += gain.exponent;
    };
    if (burn_in_ < head_) add(head_gain_);
    for (std::size_t i = 0; i < pieces_; ++i) {
      if (burn_in_ >= start_of(i) + piece_) continue;
      if (burn_in_ <= start_of(i)) {
        add(Gain::between(starts_.standing(i), ends_.standing(i)));
        continue;
      }
      WalkState start = walk_.blank();
      starts_.get(i, start);
      walk_.forward(start, {start_of(i), burn_in_});
      if (start.in_doubt) return {};
      add(Gain::between(start, ends_.standing(i)));
    }
    return logarithms + std::numbers::ln2 * static_cast<double>(exponent);
  }

  const WordTable& table_;
  const LinearModel& model_;
  SequenceView sequence_;
  std::size_t burn_in_;
  PiecePlan plan_;
  int threads_;
  WordWalk walk_;
  Comparison compare_;
  std::size_t pieces_ = 0;
  std::size_t piece_ = 0, head_ = 0, warm_up_ = 0;  // symbols
  Gain head_gain_;                                  // since the burn-in, if that ends there
  WalkState head_end_;
  Places starts_, ends_;  // of the pieces
  std::atomic<bool> in_doubt_ = false;
};

}  // namespace

PiecePlan plan_pieces(Index rows, std::size_t symbols, std::size_t length) {
  PiecePlan out;
  out.cost = std::numeric_limits<double>::infinity();
  const std::size_t pieces = std::min(kMostPieces, length / kLeastPiece);
  if (pieces < kTrials) return out;
  const bool sorted = rows >= kLeastSortedRows;
  const double entries = static_cast<double>(rows) * static_cast<double>(rows);
  double words = static_cast<double>(symbols);
  double all_words = words;
  for (int k = 1; words <= kMostWordsOfPieces && 8.0 * entries * all_words <= kMostPieceTable;
       ++k) {
    const double together =
        sorted ? std::clamp(8.0 * words, 128.0, static_cast<double>(kMostTogether)) : kAlone;
    const double bytes = 8.0 * entries;
    const double read = sorted ? bytes * std::min(1.0, words / together) : bytes;
    const double step =
        std::max(entries / kProductsACycle, read / bytes_a_cycle_together(bytes * all_words));
    const double made = all_words - static_cast<double>(symbols);
    const double cost = static_cast<double>(length) / k * (step + kPieceStep) +
                        made * (entries * static_cast<double>(rows) / 12.0 + 100.0);
    if (cost < out.cost) out = {pieces, static_cast<std::size_t>(together), k, sorted, cost};
    if (symbols < 2) break;
    words *= static_cast<double>(symbols);
    all_words += words;
  }
  return out;
}

std::optional<double> score_by_pieces(const WordTable& table, const SequenceView& sequence,
                                      std::size_t burn_in, const PiecePlan& plan, int threads) {
  return PieceScore(table, sequence, burn_in, plan, threads).run();
}

}  // namespace hqmm::detail

#include "hqmm/engine/quantum/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "hqmm/core/fail.hpp"
#include "hqmm/engine/chain/program.hpp"
#include "hqmm/engine/chain/two_way.hpp"
#include "hqmm/engine/quantum/factor.hpp"
#include "hqmm/engine/quantum/lanes.hpp"
#include "hqmm/engine/quantum/symbol_channel.hpp"

namespace hqmm::detail {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kTableBytes = 256.0 * 1024 * 1024;  // of operators, at most

/// What an engine would cost; kNever where it does not fit.
struct Estimate {
  double cost = kNever;  // in units of one multiplication at full speed
  int word_length = 1;
  bool shared = false;
  bool two_way = false;
};

/// Fixed costs of a step and of an operator beside their multiplications, in multiplications.
constexpr double kStepOverhead = 250.0;
constexpr double kOperatorOverhead = 300.0;

struct Costs {
  double base = 0.0;      // of all base operators
  double step = 0.0;      // the products of a step, whatever it fuses
  double word = 0.0;      // of a word's operator, both ways
  double bytes = 0.0;     // of an operator and its gradient
  double together = 0.0;  // columns that a step moves, in all groups
  double alone = 1.0;     // columns that it moves at least at once
  double total = 0.0;     // of a step's total, for a model that is not feasible,
  double inside = 0.0;    // and of another symbol's within a word
  double overhead = kStepOverhead;
  bool two_way = false;
};

/// By how much products of a few vectors with many matrices wait for memory, as measured: each
/// group of a step reads its matrix again, from a distant cache.
double waiting_of(const Costs& costs, double operators) {
  const double table_bytes = costs.bytes * 2.0 / 3.0 * operators;
  double enough = 1.0;
  if (table_bytes > 1.2e6) enough = 1.6;
  if (table_bytes > 4.0e6) enough = 6.0;
  if (table_bytes > 16.0e6) enough = 10.0;
  return std::max(1.0, enough / std::max(costs.alone, costs.together / operators));
}

/// The same of one vector up and one down.
double waiting_both_ways(const Costs& costs, double operators) {
  const double table_bytes = costs.bytes * 2.0 / 3.0 * operators;
  return table_bytes > 256e3 ? 3.4 : table_bytes > 48e3 ? 2.2 : 1.0;
}

/// The length of words that makes a batch cheapest.
Estimate estimate_words(const BatchShape& shape, const Costs& costs) {
  const auto s = static_cast<double>(shape.s);
  Estimate best;
  for (int length = 1; length <= 3; ++length) {
    const bool fuses = shape.stationary && std::pow(s, length) <= kMostWords;
    if (length > 1 && !fuses) break;
    const double steps = static_cast<double>(shape.symbols) / length;
    double words = 0.0;
    for (int k = 2; k <= length; ++k) words += std::min(std::pow(s, k), steps);
    if ((static_cast<double>(shape.sets) * s + words) * costs.bytes > kTableBytes) break;
    const double waiting =
        costs.two_way ? waiting_both_ways(costs, s + words) : waiting_of(costs, s + words);
    const double step = waiting * costs.step + costs.overhead +
                        (shape.feasible ? 0.0 : costs.total + (length - 1) * costs.inside);
    const double cost = costs.base + steps * step + words * costs.word;
    if (cost < best.cost) best = {cost, length, false, costs.two_way};
  }
  return best;
}

/// A linear form of so many rows and columns: three products a step; an operator costs `build`, a
/// word `word`, a total as much as `total`, and one inside a word `inside`.
struct LinearCosts {
  double rows = 0.0, cols = 0.0;
  double build = 0.0, word = 0.0, total = 0.0, inside = 0.0;
};

Estimate estimate_linear(const BatchShape& shape, const LinearCosts& linear) {
  const double symbols = static_cast<double>(shape.sets) * static_cast<double>(shape.s);
  const double entries = linear.rows * linear.rows;
  return estimate_words(
      shape,
      {.base = symbols * (linear.build + kOperatorOverhead),
       .step = 3.0 * entries * linear.cols,
       .word = linear.word + kOperatorOverhead,
       .bytes = 3.0 * entries * 8.0,
       .together = static_cast<double>(std::min<std::size_t>(shape.sequences, 32)) * linear.cols,
       .alone = linear.cols,
       .total = linear.total + kStepOverhead,
       .inside = linear.inside + 0.2 * kStepOverhead});
}

/// Complex operators in their real form are twice as large, and half of that is a copy.
double factor_rows(const BatchShape& shape) {
  return (shape.field == Field::kReal ? 1.0 : 2.0) * static_cast<double>(shape.n);
}

Estimate estimate_factor(const BatchShape& shape, double cols) {
  const double rows = factor_rows(shape);
  const double own_cols = static_cast<double>(shape.n);
  return estimate_linear(shape, {.rows = rows,
                                 .cols = cols,
                                 .build = 2.0 * rows * rows,
                                 .word = 4.0 * rows * rows * own_cols + 4.0 * rows * rows,
                                 .total = rows * rows * cols,
                                 .inside = rows * rows * (2.0 + 0.5 * cols)});
}

bool fits_two_way(const BatchShape& shape, double rows) {
  return shape.backward && shape.feasible && shape.longest <= kTwoWayLongest &&
         rows >= kTwoWayLeastRows && rows <= kTwoWayMostRows;
}

/// One sequence at a time, as measured.
Estimate estimate_two_way(const BatchShape& shape, const LinearCosts& linear) {
  if (!fits_two_way(shape, linear.rows)) return {};
  const double symbols = static_cast<double>(shape.sets) * static_cast<double>(shape.s);
  return estimate_words(shape, {.base = symbols * (linear.build + kOperatorOverhead),
                                .step = 1.35 * linear.rows * linear.rows,
                                .word = linear.word + kOperatorOverhead,
                                .bytes = 24.0 * linear.rows * linear.rows,
                                .overhead = 150.0,
                                .two_way = true});
}

Estimate cheaper(const Estimate& a, const Estimate& b) { return a.cost < b.cost ? a : b; }

/// One channel for all symbols of a set that emits on states, which all states of a step go through
/// together.
Estimate estimate_channel(const BatchShape& shape, double rows, double channel) {
  if (static_cast<double>(shape.sets) * 3.0 * rows * rows * 8.0 > kTableBytes) return {};
  const auto together = static_cast<double>(std::min<std::size_t>(shape.sequences, 32));
  const double waiting = std::max(1.0, 4.0 / std::max(1.0, together));
  const double step = waiting * 3.0 * rows * rows + 8.0 * rows + kStepOverhead;
  return {static_cast<double>(shape.symbols) * step +
              static_cast<double>(shape.sets) *
                  (channel + 4.0 * rows * rows + static_cast<double>(shape.s) * 8.0 * rows),
          1, true};
}

Estimate estimate_superoperator(const BatchShape& shape) {
  const auto n = static_cast<double>(shape.n);
  const bool real = shape.field == Field::kReal;
  const auto rows = static_cast<double>(coordinate_count(shape.n, real));
  // 𝕡 and the way back from it
  const double channel =
      n * n * n * n * (8.0 * static_cast<double>(shape.w) + 24.0) / (real ? 4.0 : 1.0);
  const double word = 4.0 * rows * rows * rows;
  LinearCosts costs{.rows = rows,
                    .cols = 1.0,
                    .build = channel,
                    .word = word,
                    .total = rows,
                    .inside = 2.0 * rows};
  if (shape.emission == EmissionKind::kEdge)
    return cheaper(estimate_linear(shape, costs), estimate_two_way(shape, costs));
  costs.build = channel / static_cast<double>(shape.s) + 6.0 * rows * rows;
  Estimate apart = estimate_linear(shape, costs);
  // as measured: products with a state or two at a time
  if (apart.word_length == 1 && shape.sequences < 4 * static_cast<std::size_t>(shape.s))
    apart.cost *= 1.5;
  apart = cheaper(apart, estimate_two_way(shape, costs));
  return cheaper(apart, estimate_channel(shape, rows, channel));
}

Estimate estimate_kraus(const BatchShape& shape) {
  const auto n = static_cast<double>(shape.n);
  const auto w = static_cast<double>(shape.w);
  const bool on_states = shape.emission == EmissionKind::kState;
  // of the 20·w·n³ that are written down for a complex model as many as are left in time
  const double products = (shape.field == Field::kReal ? 4.4 : 11.0) * w * n * n * n;
  // beside the products
  const double entries =
      ((on_states ? 16.0 + 6.0 * w : 0.0) + (shape.field == Field::kReal ? 0.0 : 12.0 + 12.0 * w) +
       (shape.feasible ? 0.0 : 2.0)) *
      n * n;
  const double overhead = (shape.field == Field::kReal ? 1.0 : 3.0) * (2.0 + w) * kStepOverhead;
  const double matrices =
      static_cast<double>(shape.sets) * w * (on_states ? 1.0 : static_cast<double>(shape.s));
  return {static_cast<double>(shape.symbols) *
              ((shape.missing ? 1.5 : 1.0) * products + entries + overhead) +
          matrices * 16.0 * n * n};
}

/// As measured: at this size the products themselves hardly count.
Estimate estimate_lanes(const BatchShape& shape) {
  if (shape.n != 2 || !shape.feasible || shape.longest > kLanesLongest) return {};
  return estimate_words(shape, {.step = 190.0, .word = 500.0, .overhead = 0.0});
}

Estimate estimate_of(EngineKind kind, const BatchShape& shape) {
  switch (kind) {
    case EngineKind::kFactor:
      if (shape.w != 1 || shape.missing) return {};
      return estimate_factor(shape, static_cast<double>(shape.state_rank));
    case EngineKind::kPure:
      if (shape.w != 1 || shape.missing || shape.state_rank != 1) return {};
      return estimate_factor(shape, 1.0);
    case EngineKind::kSuperoperator:
      return estimate_superoperator(shape);
    case EngineKind::kLanes:
      return estimate_lanes(shape);
    case EngineKind::kKraus:
      return estimate_kraus(shape);
    default:
      return {};
  }
}

/// Parts of at most 32 sequences, of as many states as a pass may keep; an even number of them, so
/// that two threads have the same to do. The Kraus form moves one state at a time: it gains nothing
/// from company, but from states that are still in a cache on the way back.
std::size_t part_size(const BatchShape& shape, EngineKind kind, double state_size) {
  if (shape.sequences == 0) return 1;
  const bool alone = kind == EngineKind::kKraus;
  const double states = (alone ? 4.0 : 24.0) * 1024 * 1024 / 8.0;
  const double fit =
      states / (state_size * static_cast<double>(std::max<std::size_t>(1, shape.longest)));
  const auto most = static_cast<std::size_t>(std::clamp(fit, alone ? 1.0 : 8.0, 32.0));
  std::size_t parts = (shape.sequences + most - 1) / most;
  if (parts > 1) parts = (parts + 1) / 2 * 2;
  return (shape.sequences + parts - 1) / parts;
}

double state_size(EngineKind kind, const BatchShape& shape) {
  const auto n = static_cast<double>(shape.n);
  if (kind == EngineKind::kFactor)
    return factor_rows(shape) * static_cast<double>(shape.state_rank);
  if (kind == EngineKind::kPure) return factor_rows(shape);
  if (kind == EngineKind::kKraus) return (shape.field == Field::kReal ? 1.0 : 2.0) * n * n;
  return static_cast<double>(coordinate_count(shape.n, shape.field == Field::kReal));
}

[[noreturn]] void refuse(EngineKind wanted, const BatchShape& shape) {
  std::string why = "the operators of this model would need too much memory";
  if (wanted == EngineKind::kLanes)
    why = shape.n != 2      ? "it is for n = 2"
          : !shape.feasible ? "it is for feasible models"
                            : "a sequence is too long for it";
  if (wanted == EngineKind::kPure || wanted == EngineKind::kFactor) {
    why = shape.w != 1    ? "it is for a Kraus rank of 1"
          : shape.missing ? "it cannot take missing symbols"
                          : "the initial state is not pure";
  }
  throw fail(ErrorCode::kUsage, "engine {} does not fit: {} (auto picks one that does)",
             name_of(wanted), why);
}

}  // namespace

BatchShape shape_of(const Hqmm& model, std::span<const SequenceView> batch, bool feasible) {
  BatchShape out{model.latent_dim(), model.kraus_rank(), model.alphabet_size()};
  out.field = model.field;
  out.emission = model.emits_on();
  out.sets = model.sets.size();
  out.stationary = model.positions.stationary();
  out.feasible = feasible;
  out.sequences = batch.size();
  if (out.w == 1) out.state_rank = factor_initial_state(model).roots.size();
  for (const SequenceView& sequence : batch) {
    out.symbols += sequence.size();
    out.longest = std::max(out.longest, sequence.size());
    out.missing = out.missing || sequence.has_missing();
  }
  return out;
}

Choice choose(const BatchShape& shape, EngineKind wanted) {
  if (wanted == EngineKind::kNaive) return {};
  Choice out;
  double least = kNever;
  for (const EngineKind kind : {EngineKind::kLanes, EngineKind::kPure, EngineKind::kFactor,
                                EngineKind::kSuperoperator, EngineKind::kKraus}) {
    if (wanted != EngineKind::kAuto && wanted != kind) continue;
    const Estimate estimate = estimate_of(kind, shape);
    if (estimate.cost < least) {
      least = estimate.cost;
      out = {kind, estimate.word_length, part_size(shape, kind, state_size(kind, shape)),
             estimate.shared, estimate.two_way};
    }
  }
  if (least == kNever) refuse(wanted, shape);
  return out;
}

}  // namespace hqmm::detail

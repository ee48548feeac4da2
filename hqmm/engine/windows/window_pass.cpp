#include "hqmm/engine/windows/window_pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace hqmm::detail {
namespace {

constexpr Index kFewColumns = 16;
/// Numbers near the least double lose their digits.
constexpr double kTiny = 1e-250;
/// Bits that weights may shrink by between two rescalings, for symbols of average probability.
constexpr double kBitsBetween = 300.0;
constexpr double kAskFilter = std::numeric_limits<double>::quiet_NaN();

std::vector<PanelKernel> kernels_for(Index size) {
  std::vector<PanelKernel> out{panel_kernel()};
  for (Index cols = 1; cols <= kFewColumns; ++cols)
    out.push_back(panel_kernel_for(padded_rows(size), cols));
  return out;
}

}  // namespace

WindowPass::WindowPass(const WindowModel& model, const WordTables& tables)
    : model_(model),
      tables_(tables),
      kernels_(kernels_for(model.size)),
      rescale_every_(static_cast<std::size_t>(
          kBitsBetween / std::max(1.0, std::log2(static_cast<double>(model.symbols))))) {}

class WindowPass::Run {
 public:
  Run(const WindowPass& pass, WindowTile& tile, WindowScratch& scratch)
      : pass_(pass),
        model_(pass.model_),
        tables_(pass.tables_),
        tile_(tile),
        scratch_(scratch),
        stride_(static_cast<std::size_t>(model_.stride)) {
    const std::size_t count = tile.count();
    // Padding is read by kernels; what it holds does not matter, but it must be a number.
    const std::size_t room = count * stride_;
    for (AlignedDoubles* states : {&scratch.states, &scratch.next}) {
      if (states->size() >= room) continue;
      states->resize(room);
      std::fill(states->begin(), states->end(), 0.0);
    }
    for (auto* weights : {&scratch.weights, &scratch.next_weights}) weights->resize(count);
    for (auto* order : {&scratch.order, &scratch.next_order, &scratch.slots}) order->resize(count);
    scratch.exponents.assign(count, 0);
    for (AlignedDoubles* state : {&scratch.one, &scratch.other}) {
      state->resize(stride_);
      std::fill(state->begin(), state->end(), 0.0);
    }
  }

  void walk(std::span<double> out) {
    sort(0);
    take_heads();
    std::size_t since = tables_.head().length;
    for (std::size_t k = 0; k < tables_.bodies(); ++k) {
      std::swap(scratch_.states, scratch_.next);
      std::swap(scratch_.weights, scratch_.next_weights);
      std::swap(scratch_.order, scratch_.next_order);
      std::swap(scratch_.starts, scratch_.next_starts);
      since += tables_.body(k).length;
      if (since > pass_.rescale_every_) {
        rescale();
        since = tables_.body(k).length;
      }
      sort(k + 1);
      take_bodies(k);
    }
    take_tails(out);
  }

 private:
  /// Where every window's state has to be for body k; in the order of windows after the last one.
  void sort(std::size_t k) {
    const std::size_t count = tile_.count();
    if (k == tables_.bodies()) {
      for (std::size_t i = 0; i < count; ++i)
        scratch_.slots[i] = scratch_.next_order[i] = static_cast<std::uint32_t>(i);
      return;
    }
    const std::size_t words = tables_.body(k).bounds.size();
    const std::uint32_t* codes = tile_.codes(tables_.body(k).length).data() + tables_.body_begin(k);
    const auto group_of = [&](std::size_t i) {
      return std::min<std::size_t>(codes[tile_.begin_of(i)], words);
    };
    std::vector<std::uint32_t>& starts = scratch_.next_starts;
    starts.assign(words + 2, 0);
    for (std::size_t i = 0; i < count; ++i) ++starts[group_of(i) + 1];
    for (std::size_t g = 1; g < starts.size(); ++g) starts[g] += starts[g - 1];
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t slot = starts[group_of(i)]++;
      scratch_.slots[i] = slot;
      scratch_.next_order[slot] = static_cast<std::uint32_t>(i);
    }
    for (std::size_t g = starts.size() - 1; g > 0; --g) starts[g] = starts[g - 1];
    starts[0] = 0;
  }

  [[nodiscard]] double* next_state(std::size_t slot) const {
    return scratch_.next.data() + slot * stride_;
  }

  void take_heads() {
    const EdgeTable& head = tables_.head();
    const std::vector<std::uint32_t>& codes = tile_.codes(head.length);
    for (std::size_t i = 0; i < tile_.count(); ++i) {
      const std::uint32_t slot = scratch_.slots[i];
      const std::uint32_t code = codes[tile_.begin_of(i)];
      if (code == WindowTile::kNoCode) {
        const double weight = step_by_step(i, 0, head.length, model_.initial.data(),
                                           model_.weight(model_.initial.data()));
        std::copy(scratch_.one.begin(), scratch_.one.end(), next_state(slot));
        put_weight(slot, weight);
        continue;
      }
      std::copy_n(head.vectors.data() + code * stride_, stride_, next_state(slot));
      put_weight(slot, head.bounds[code]);
    }
  }

  /// Keeps a weight, or marks the state: no number comes of it any more.
  void put_weight(std::size_t slot, double weight) {
    if (weight != 0.0 && !(weight >= kTiny)) weight = next_state(slot)[0] = kAskFilter;
    scratch_.next_weights[slot] = weight;
  }

  void take_bodies(std::size_t k) {
    const BodyTable& body = tables_.body(k);
    const std::vector<std::uint32_t>& starts = scratch_.starts;
    scratch_.columns.resize(tile_.count());
    for (std::size_t slot = 0; slot < tile_.count(); ++slot)
      scratch_.columns[slot] = next_state(scratch_.slots[scratch_.order[slot]]);
    for (std::size_t word = 0; word < body.bounds.size(); ++word) {
      if (starts[word] == starts[word + 1]) continue;
      multiply(body.matrices.data() + word * model_.matrix_size(), starts[word], starts[word + 1]);
      for (std::size_t slot = starts[word]; slot < starts[word + 1]; ++slot)
        judge(slot, body.bounds[word]);
    }
    for (std::size_t slot = starts[body.bounds.size()]; slot < tile_.count(); ++slot) {
      const std::size_t i = scratch_.order[slot];
      const double weight =
          step_by_step(i, tables_.body_begin(k), body.length,
                       scratch_.states.data() + slot * stride_, scratch_.weights[slot]);
      std::copy(scratch_.one.begin(), scratch_.one.end(), scratch_.columns[slot]);
      put_weight(scratch_.slots[i], weight);
    }
  }

  void multiply(const double* matrix, std::size_t first, std::size_t last) {
    PanelProduct p;
    p.rows = padded_rows(model_.size);
    p.depth = model_.size;
    p.cols = static_cast<Index>(last - first);
    p.left = matrix;
    p.right = scratch_.states.data() + first * stride_;
    p.left_stride = p.col_step = model_.stride;
    p.scatter = scratch_.columns.data() + first;
    pass_.kernels_[p.cols <= kFewColumns ? static_cast<std::size_t>(p.cols) : 0](p);
  }

  /// Has enough been left by a matrix of this bound?
  void judge(std::size_t slot, double bound) {
    const double weight = model_.weight(scratch_.columns[slot]);
    const bool believed = model_.positive || weight >= kCancelled * bound * scratch_.weights[slot];
    put_weight(scratch_.slots[scratch_.order[slot]], believed ? weight : kAskFilter);
  }

  /// `length` symbols of window i from `begin` on, one after another: scratch.one and its weight.
  double step_by_step(std::size_t i, std::size_t begin, std::size_t length, const double* state,
                      double weight) {
    const std::span<const Symbol> symbols = tile_.symbols_of(i);
    std::copy_n(state, stride_, scratch_.one.data());
    for (std::size_t t = begin; t < begin + length; ++t) {
      const std::uint32_t set = model_.positions.set_at(t, tile_.window());
      const std::size_t symbol = model_.index_of(symbols[t]);
      PanelProduct p;
      p.rows = padded_rows(model_.size);
      p.depth = model_.size;
      p.cols = 1;
      p.left = model_.matrix(set, symbol);
      p.left_stride = p.col_step = p.out_stride = model_.stride;
      p.right = scratch_.one.data();
      p.out = scratch_.other.data();
      pass_.kernels_[1](p);
      std::swap(scratch_.one, scratch_.other);
      const double found = model_.weight(scratch_.one.data());
      const double most = tables_.bound(set, symbol) * weight;
      weight = model_.positive || found >= kCancelled * most ? found : kAskFilter;
    }
    return weight;
  }

  /// Weights back to about one, by powers of two: nothing else changes.
  void rescale() {
    for (std::size_t slot = 0; slot < tile_.count(); ++slot) {
      double& weight = scratch_.weights[slot];
      if (!(weight > 0.0)) continue;
      const int exponent = std::ilogb(weight);
      const double scale = std::ldexp(1.0, -exponent);
      double* state = scratch_.states.data() + slot * stride_;
      for (std::size_t j = 0; j < stride_; ++j) state[j] *= scale;
      weight *= scale;
      scratch_.exponents[scratch_.order[slot]] += exponent;
    }
  }

  void take_tails(std::span<double> out) {
    const EdgeTable& tail = tables_.tail();
    const std::size_t begin = tile_.window() - tail.length;
    const std::uint32_t* codes =
        tail.length == 0 ? nullptr : tile_.codes(tail.length).data() + begin;
    for (std::size_t i = 0; i < tile_.count(); ++i) {
      const double* state = next_state(i);
      double found = scratch_.next_weights[i];
      if (codes != nullptr) {
        const std::uint32_t code = codes[tile_.begin_of(i)];
        found = code == WindowTile::kNoCode ? step_by_step(i, begin, tail.length, state, found)
                                            : after_tail(tail, code, state, found);
      }
      if (found != 0.0 && !(found >= kTiny)) found = kAskFilter;
      out[i] = std::log(found) + static_cast<double>(scratch_.exponents[i]) * std::numbers::ln2;
    }
  }

  [[nodiscard]] double after_tail(const EdgeTable& tail, std::uint32_t code, const double* state,
                                  double weight) const {
    using Column = Eigen::Map<const RealVector>;
    const double found =
        Column(tail.vectors.data() + code * stride_, model_.size).dot(Column(state, model_.size));
    const bool believed = model_.positive || found >= kCancelled * tail.bounds[code] * weight;
    return believed ? found : kAskFilter;
  }

  const WindowPass& pass_;
  const WindowModel& model_;
  const WordTables& tables_;
  WindowTile& tile_;
  WindowScratch& scratch_;
  std::size_t stride_;
};

void WindowPass::run(WindowTile& tile, std::span<double> log_likelihoods,
                     WindowScratch& scratch) const {
  Run(*this, tile, scratch).walk(log_likelihoods);
}

}  // namespace hqmm::detail

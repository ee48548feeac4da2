#include "hqmm/report/figure_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/report/figure_svg.hpp"
#include "hqmm/report/history.hpp"

namespace hqmm::detail {
namespace {

using report::Epoch;
using report::History;
using report::Restarts;

constexpr std::size_t kMostDrawn = 500;  // epochs of a restart
constexpr std::size_t kMostTicks = 8;
// Those of the page.
constexpr const char* kTrainColour = "#e69f00";
constexpr const char* kValidationColour = "#0072b2";
constexpr const char* kOthersColour = "#bbbbbb";

/// Distance of the ticks of an axis of epochs: 1, 2 or 5 times a power of ten.
std::size_t tick_step(std::size_t span) {
  for (std::size_t power = 1;; power *= 10) {
    for (const std::size_t factor : {1U, 2U, 5U})
      if (span / (factor * power) < kMostTicks) return factor * power;
  }
}

/// The start is mostly far from everything after it: where it is, it would squash the axis.
bool start_is_far(const Restarts& restarts) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool far = false;
  const auto each = [&](const auto& look) {
    for (const auto& [restart, epochs] : restarts) {
      for (const Epoch& one : epochs) {
        for (const double bits : {one.train_bits, one.validation_bits})
          if (std::isfinite(bits)) look(one.epoch, bits);
      }
    }
  };
  each([&](std::size_t epoch, double bits) {
    if (epoch == 0) return;
    low = std::min(low, bits);
    high = std::max(high, bits);
  });
  each([&](std::size_t epoch, double bits) {
    far = far || (epoch == 0 && low <= high && (bits < low || bits > high));
  });
  return far;
}

class HistoryChart {
 public:
  HistoryChart(const History& history, std::string title)
      : history_(history), restarts_(report::thinned(history, kMostDrawn)) {
    chart_.title = std::move(title);
    chart_.y_label = "bits per symbol";
    without_start_ = start_is_far(restarts_);
    chart_.x_label = without_start_ ? "epoch (the start lies off the axis)" : "epoch";
    place_epochs();
  }

  Chart run() {
    const std::size_t winner = history_.best ? history_.best_restart : restarts_.begin()->first;
    std::string others = "other restarts";
    for (const auto& [restart, epochs] : restarts_) {
      if (restart == winner) continue;
      curve(others, kOthersColour, epochs, &Epoch::validation_bits);
      others.clear();  // once in the legend
    }
    curve("training", kTrainColour, restarts_.at(winner), &Epoch::train_bits);
    curve("validation", kValidationColour, restarts_.at(winner), &Epoch::validation_bits);
    mark_best();
    return std::move(chart_);
  }

 private:
  [[nodiscard]] bool drawn(const Epoch& one) const { return one.epoch > 0 || !without_start_; }

  void place_epochs() {
    std::set<std::size_t> epochs;
    for (const auto& [restart, all] : restarts_) {
      for (const Epoch& one : all)
        if (drawn(one)) epochs.insert(one.epoch);
    }
    const std::size_t first = *epochs.begin(), last = *epochs.rbegin();
    const std::size_t step = tick_step(last - first);
    // Counted down from a multiple of the step, which cannot leave the range.
    for (std::size_t tick = last - last % step; tick >= first; tick -= step) {
      epochs.insert(tick);
      if (tick < step) break;
    }
    for (const std::size_t epoch : epochs) {
      index_[epoch] = chart_.places.size();
      chart_.places.push_back(static_cast<double>(epoch));
      chart_.categories.push_back(epoch % step == 0 ? std::to_string(epoch) : "");
    }
  }

  void curve(const std::string& name, const char* colour, const std::vector<Epoch>& epochs,
             double Epoch::*bits) {
    Series out{name, std::vector<std::optional<Mark>>(index_.size()), false, colour, false};
    bool any = false;
    for (const Epoch& one : epochs) {
      if (!drawn(one) || !std::isfinite(one.*bits)) continue;
      out.marks[index_.at(one.epoch)] = Mark{one.*bits, 0.0};
      any = true;
    }
    if (any) chart_.series.push_back(std::move(out));
  }

  void mark_best() {
    if (!history_.best || !drawn(*history_.best)) return;
    if (!std::isfinite(history_.best->validation_bits)) return;
    Series out{fmt::format("best: {:.5f} in epoch {}", history_.best->validation_bits,
                           history_.best->epoch),
               std::vector<std::optional<Mark>>(index_.size()), false, "#000000", true};
    out.marks[index_.at(history_.best->epoch)] = Mark{history_.best->validation_bits, 0.0};
    chart_.series.push_back(std::move(out));
  }

  const History& history_;
  Restarts restarts_;
  std::map<std::size_t, std::size_t> index_;  // of an epoch in the chart
  bool without_start_ = false;
  Chart chart_;
};

}  // namespace

std::string draw_history_svg(const std::string& title, const std::string& history,
                             const std::string& file) {
  const History read = report::parse_history(history, file);
  if (read.restarts.empty())
    throw fail(ErrorCode::kBadData, {file, {}, {}, {}, {}}, "holds no epoch yet");
  return draw_svg(HistoryChart(read, title).run());
}

}  // namespace hqmm::detail

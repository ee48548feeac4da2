#include "hqmm/evaluate/scan_stretch.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>
#include <tuple>

namespace hqmm::detail {
namespace {

constexpr std::size_t kTileWindows = 4096;
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = -std::numeric_limits<double>::infinity();

std::vector<Symbol> reverse_complement(std::span<const Symbol> symbols,
                                       const std::vector<Symbol>& pairs) {
  std::vector<Symbol> out(symbols.rbegin(), symbols.rend());
  for (Symbol& symbol : out)
    if (symbol != kMissing) symbol = pairs[symbol];
  return out;
}

/// log-odds of class c in bits, from log P_d(x) + log P(d) of all classes d; where no class can
/// have made the window, the priors are all that is known.
double window_log_odds(std::span<const double> joint, std::span<const double> log_priors,
                       std::size_t c) {
  if (std::all_of(joint.begin(), joint.end(), [](double j) { return j == kNever; }))
    joint = log_priors;
  double most = kNever;
  for (std::size_t d = 0; d < joint.size(); ++d)
    if (d != c) most = std::max(most, joint[d]);
  if (most == kNever) return std::numeric_limits<double>::infinity();
  double others = 0.0;
  for (std::size_t d = 0; d < joint.size(); ++d)
    if (d != c) others += std::exp(joint[d] - most);
  return (joint[c] - most - std::log(others)) / std::numbers::ln2;
}

/// Marks hits that a better one before them overlaps; `sign` −1 walks back from the last.
void mark_beaten(const std::vector<ScanHit>& hits, std::size_t window, bool backwards,
                 std::vector<char>& beaten) {
  std::deque<std::size_t> best;  // of those in reach, each better than all that follow it
  for (std::size_t k = 0; k < hits.size(); ++k) {
    const std::size_t i = backwards ? hits.size() - 1 - k : k;
    const auto apart = [&](std::size_t j) {
      return std::max(hits[i].begin, hits[j].begin) - std::min(hits[i].begin, hits[j].begin);
    };
    while (!best.empty() &&
           (hits[best.front()].sequence != hits[i].sequence || apart(best.front()) >= window)) {
      best.pop_front();
    }
    if (!best.empty() && is_better(hits[best.front()], hits[i])) beaten[i] = 1;
    while (!best.empty() && !is_better(hits[best.back()], hits[i])) best.pop_back();
    best.push_back(i);
  }
}

class StretchScan {
 public:
  StretchScan(const ScanPlan& plan, const ScanStretch& stretch, std::span<const double> least)
      : plan_(plan), stretch_(stretch), least_(least), hits_(plan.options.classes.size()) {}

  ScanFound run() {
    const std::uint64_t count = stretch_.last - stretch_.first;
    if (plan_.track) out_.track.assign(stretch_.own_last - stretch_.own_first, kNoNumber);
    for (std::uint64_t begin = 0; begin < count; begin += kTileWindows) {
      tile_first_ = stretch_.first + begin;
      tile_count_ = std::min<std::size_t>(kTileWindows, count - begin);
      const std::size_t step = plan_.options.step;
      symbols_ =
          stretch_.symbols.subspan(begin * step, (tile_count_ - 1) * step + plan_.options.window);
      find_unknown();
      if (plan_.forward()) take_strand(false);
      if (plan_.reverse()) take_strand(true);
    }
    collect();
    return std::move(out_);
  }

 private:
  /// Windows of the tile without a known symbol.
  void find_unknown() {
    unknown_.assign(tile_count_, 0);
    std::size_t known_before = 0;  // one past the last known symbol so far
    std::size_t t = 0;
    for (std::size_t i = 0; i < tile_count_; ++i) {
      const std::size_t begin = i * plan_.options.step;
      for (; t < begin + plan_.options.window; ++t)
        if (symbols_[t] != kMissing) known_before = t + 1;
      unknown_[i] = known_before <= begin ? 1 : 0;
    }
  }

  void take_strand(bool reverse) {
    const std::size_t classes = plan_.likelihoods.size();
    const std::vector<Symbol> turned =
        reverse ? reverse_complement(symbols_, plan_.pairs) : std::vector<Symbol>();
    WindowTile tile(reverse ? std::span<const Symbol>(turned) : symbols_,
                    plan_.classifier->alphabet().size(), plan_.options.window, plan_.options.step,
                    tile_count_);
    joint_.resize(classes * tile_count_);
    for (std::size_t c = 0; c < classes; ++c) {
      const std::span<double> of_class = std::span(joint_).subspan(c * tile_count_, tile_count_);
      plan_.likelihoods[c].score(tile, of_class);
      for (double& value : of_class) value += plan_.log_priors[c];
    }
    row_.resize(classes);
    for (std::size_t i = 0; i < tile_count_; ++i) {
      if (unknown_[reverse ? tile_count_ - 1 - i : i] != 0) continue;
      for (std::size_t c = 0; c < classes; ++c) row_[c] = joint_[c * tile_count_ + i];
      take_window(tile_first_ + (reverse ? tile_count_ - 1 - i : i), reverse);
    }
  }

  void take_window(std::uint64_t window, bool reverse) {
    const std::vector<std::uint32_t>& wanted = plan_.options.classes;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (!plan_.track && surely_below(wanted[k], least_[k])) continue;
      const double found = window_log_odds(row_, plan_.log_priors, wanted[k]);
      if (plan_.track) add_to_track(window, found);
      if (found < least_[k]) continue;
      hits_[k].push_back(
          {stretch_.sequence, window * plan_.options.step, wanted[k], reverse, found});
    }
  }

  /// Without logarithms: odds against the most probable other class only, never lower.
  [[nodiscard]] bool surely_below(std::size_t c, double least) const {
    double most = kNever;
    for (std::size_t d = 0; d < row_.size(); ++d)
      if (d != c) most = std::max(most, row_[d]);
    return (row_[c] - most) / std::numbers::ln2 < least - 1e-6;  // false where it is not a number
  }

  void add_to_track(std::uint64_t window, double found) {
    if (window < stretch_.own_first || window >= stretch_.own_last) return;
    double& at = out_.track[window - stretch_.own_first];
    if (std::isnan(at) || found > at) at = found;
  }

  void collect() {
    for (std::vector<ScanHit>& hits : hits_) {
      std::sort(hits.begin(), hits.end(), comes_before);
      if (plan_.options.distinct) hits = without_overlaps(hits, plan_.options.window);
      std::erase_if(hits, [&](const ScanHit& hit) {
        const std::uint64_t window = hit.begin / plan_.options.step;
        return window < stretch_.own_first || window >= stretch_.own_last;
      });
      const std::size_t top = plan_.options.top;
      if (top > 0 && hits.size() > top) {
        std::nth_element(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(top), hits.end(),
                         is_better);
        hits.resize(top);
      }
      out_.hits.insert(out_.hits.end(), hits.begin(), hits.end());
    }
    std::sort(out_.hits.begin(), out_.hits.end(), comes_before);
  }

  const ScanPlan& plan_;
  const ScanStretch& stretch_;
  std::span<const double> least_;
  ScanFound out_;
  std::vector<std::vector<ScanHit>> hits_;  // by wanted class

  // Of the tile at hand:
  std::uint64_t tile_first_ = 0;
  std::size_t tile_count_ = 0;
  std::span<const Symbol> symbols_;
  std::vector<char> unknown_;
  std::vector<double> joint_, row_;
};

}  // namespace

bool comes_before(const ScanHit& a, const ScanHit& b) {
  return std::tie(a.sequence, a.begin, a.reverse, a.label) <
         std::tie(b.sequence, b.begin, b.reverse, b.label);
}

bool is_better(const ScanHit& a, const ScanHit& b) {
  if (a.log_odds != b.log_odds) return a.log_odds > b.log_odds;
  return comes_before(a, b);
}

std::vector<ScanHit> without_overlaps(const std::vector<ScanHit>& hits, std::size_t window) {
  std::vector<char> beaten(hits.size(), 0);
  mark_beaten(hits, window, false, beaten);
  mark_beaten(hits, window, true, beaten);
  std::vector<ScanHit> out;
  for (std::size_t i = 0; i < hits.size(); ++i)
    if (beaten[i] == 0) out.push_back(hits[i]);
  return out;
}

ScanFound scan_stretch(const ScanPlan& plan, const ScanStretch& stretch,
                       std::span<const double> least) {
  return StretchScan(plan, stretch, least).run();
}

}  // namespace hqmm::detail

// ScanStretch: the windows of a piece of one sequence, scored on both strands, and what is a hit
// among them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hqmm/engine/windows/window_likelihoods.hpp"
#include "hqmm/evaluate/scan.hpp"

namespace hqmm::detail {

/// What all stretches share.
struct ScanPlan {
  const Classifier* classifier = nullptr;
  ScanOptions options;                         // with window and classes filled in
  std::vector<WindowLikelihoods> likelihoods;  // by class
  std::vector<double> log_priors;
  std::vector<Symbol> pairs;  // of the reverse strand
  bool track = false;

  [[nodiscard]] bool forward() const { return options.strands != Strands::kReverse; }
  [[nodiscard]] bool reverse() const { return options.strands != Strands::kForward; }
};

/// Windows `first` to `last` (not included) are looked at, the first of them at symbol 0 of
/// `symbols`; hits are wanted of those from own_first to own_last only: the others are there for
/// what overlaps.
struct ScanStretch {
  std::uint64_t sequence = 0;
  std::uint64_t first = 0, last = 0;  // numbers of windows of the sequence
  std::uint64_t own_first = 0, own_last = 0;
  std::span<const Symbol> symbols;
};

struct ScanFound {
  std::vector<ScanHit> hits;  // in order
  std::vector<double> track;  // of the own windows
};

/// In the order of position: sequence, begin, strand, class.
[[nodiscard]] bool comes_before(const ScanHit& a, const ScanHit& b);
/// Higher log-odds first; of equals the one that comes before.
[[nodiscard]] bool is_better(const ScanHit& a, const ScanHit& b);
/// Of hits in order, all of one class: those that no hit overlapping them is better than.
[[nodiscard]] std::vector<ScanHit> without_overlaps(const std::vector<ScanHit>& hits,
                                                    std::size_t window);

/// `least` is what log-odds of every wanted class matter from, by the order of options.classes.
[[nodiscard]] ScanFound scan_stretch(const ScanPlan& plan, const ScanStretch& stretch,
                                     std::span<const double> least);

}  // namespace hqmm::detail

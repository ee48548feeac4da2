// Scanning: a classifier against every window of long sequences.
//
//   log-odds of class c in window x, in bits:   log₂ P(c | x) / (1 − P(c | x))
//
// A window's class probabilities are those of the classifier for the window's symbols as a separate
// sequence (posteriors_of), on the reverse strand for their reverse complement. A single model
// is scanned as a classifier of two equally probable classes, the model and a background
// (against_background): its log-odds are log₂ P_model(x) / P_background(x).
//
// Sequences may come in pieces; memory holds a few megabases, whatever their length. Windows
// without a known symbol are left out. Results do not depend on how the pieces were cut, nor on the
// number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/classifier.hpp"

namespace HQMM_API hqmm {

enum class Strands { kBoth, kForward, kReverse };

struct ScanOptions {
  std::size_t window = 0;  // symbols; 0: the length given by the models' positions
  std::size_t step = 1;    // from the start of one window to the start of the next
  Strands strands = Strands::kForward;
  std::vector<std::uint32_t> classes;  // classes to report hits for; none: all
  double least = -1e300;               // log-odds of a hit, in bits
  std::size_t top = 0;                 // keep this many best hits of every class; 0: all
  bool distinct = false;  // keep only the best of overlapping windows of a class, on either strand
  int threads = 0;
};

struct ScanHit {
  std::uint64_t sequence = 0;  // in the order in which they were begun
  std::uint64_t begin = 0;     // 0-based, on the forward strand
  std::uint32_t label = 0;     // an index into the classifier's classes
  bool reverse = false;
  double log_odds = 0.0;  // bits

  friend bool operator==(const ScanHit&, const ScanHit&) = default;
};

/// The log-odds of a stretch of windows for one class, on the better strand if both are scanned.
struct ScanTrack {
  std::uint64_t sequence = 0;
  std::uint64_t begin = 0;           // of the first window; the others are a step apart
  std::span<const double> log_odds;  // NaN: a window without a known symbol
};

struct ScanSinks {
  /// In the order of sequence, begin, strand and class; with `top`, all at the end.
  std::function<void(std::span<const ScanHit>)> on_hits;
  /// With exactly one class wanted: all windows, in order.
  std::function<void(const ScanTrack&)> on_track;
};

/// Classes "model" and "background", equally probable. Throws kBadData when alphabets differ.
[[nodiscard]] Classifier against_background(AnyModel model, AnyModel background);

/// take(), end_sequence() and finish() are for one thread at a time; the work inside is shared
/// among threads, and the sinks are called on the caller's thread.
class Scanner {
 public:
  /// Keeps a reference to the classifier. Throws kUsage if the window, the strands or the classes
  /// do not match it.
  Scanner(const Classifier& classifier, const ScanOptions& options, ScanSinks sinks);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  /// More symbols of the open sequence.
  void take(const SequenceView& symbols);
  void end_sequence();
  /// After the last sequence.
  void finish();

  [[nodiscard]] std::size_t window() const;
  [[nodiscard]] std::uint64_t sequences() const;
  /// Windows that were scanned, counted for each strand.
  [[nodiscard]] std::uint64_t windows() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// All hits in a set.
[[nodiscard]] std::vector<ScanHit> scan(const Classifier& classifier, const SequenceSet& data,
                                        const ScanOptions& options = {});

}  // namespace hqmm

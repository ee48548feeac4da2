#include "hqmm/evaluate/scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/evaluate/scan_parts.hpp"
#include "hqmm/evaluate/scan_stretch.hpp"
#include "hqmm/model/filter_likelihood.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm {
using namespace detail;
namespace {

/// What is held before it is scanned, and how it is dealt out to threads.
constexpr std::size_t kBlockSymbols = std::size_t{1} << 19;
constexpr std::size_t kStretchWindows = 8192;

std::size_t window_of(const Classifier& classifier, std::size_t wanted) {
  const std::optional<std::size_t> own = own_length(classifier);
  if (!own && wanted == 0) {
    throw fail(ErrorCode::kUsage,
               "the model is the same at every position, so it does not set the length of a "
               "window: give one with {}",
               option("window"));
  }
  if (own && wanted != 0 && wanted != *own) {
    throw fail(ErrorCode::kUsage, "{}: the model is made for windows of {} symbols",
               option("window", wanted), *own);
  }
  return own.value_or(wanted);
}

std::vector<std::uint32_t> classes_of(const Classifier& classifier, const ScanOptions& options) {
  std::vector<std::uint32_t> out = options.classes;
  if (out.empty()) {
    out.resize(classifier.classes.size());
    std::iota(out.begin(), out.end(), 0U);
  }
  for (const std::uint32_t c : out) {
    if (c >= classifier.classes.size())
      throw fail(ErrorCode::kUsage, "there is no class {}; there are {}", c,
                 classifier.classes.size());
  }
  return out;
}

ScanPlan make_plan(const Classifier& classifier, const ScanOptions& options, bool track) {
  ScanPlan plan;
  plan.classifier = &classifier;
  plan.options = options;
  plan.options.window = window_of(classifier, options.window);
  plan.options.classes = classes_of(classifier, options);
  plan.track = track;
  if (options.step == 0) throw fail(ErrorCode::kUsage, "{}: at least 1", option("step", 0));
  if (track && plan.options.classes.size() != 1)
    throw fail(ErrorCode::kUsage, "a track shows one class: name it with {}", option("class"));
  if (plan.reverse()) {
    const auto pairs = complements(classifier.alphabet());
    if (!pairs) {
      throw fail(ErrorCode::kUsage,
                 "only DNA and RNA have a reverse strand; the alphabet is {}: {}",
                 classifier.alphabet().description(), option("strand", "forward"));
    }
    plan.pairs = *pairs;
  }
  for (const AnyModel& model : classifier.models)
    plan.likelihoods.emplace_back(model, plan.options.window, options.threads);
  for (const double prior : classifier.priors) plan.log_priors.push_back(std::log(prior));
  return plan;
}

}  // namespace

double detail::probability_of(double log_odds) { return 1.0 / (1.0 + std::exp2(-log_odds)); }

double detail::log_odds_of(double probability) {
  return std::log2(probability) - std::log2(1.0 - probability);
}

std::optional<std::size_t> detail::own_length(const AnyModel& model) {
  const Hqmm* hqmm = std::get_if<Hqmm>(&model);
  if (hqmm == nullptr || hqmm->positions.stationary()) return {};
  return hqmm->positions.entries().size();
}

std::optional<std::size_t> detail::own_length(const Classifier& classifier) {
  std::optional<std::size_t> out;
  for (const AnyModel& model : classifier.models) {
    const std::optional<std::size_t> own = own_length(model);
    if (out && own && *own != *out) {
      throw fail(ErrorCode::kBadData, "the models are made for sequences of {} and of {} symbols",
                 *out, *own);
    }
    if (own) out = own;
  }
  return out;
}

std::optional<std::vector<Symbol>> detail::complements(const Alphabet& alphabet) {
  if (!(alphabet == Alphabet::dna() || alphabet == Alphabet::rna())) return {};
  std::vector<Symbol> out{3, 2, 1, 0};
  for (const char letter : std::string_view("YRSWMKVHDB"))  // of R Y S W K M B D H V
    out.push_back(*alphabet.set_of(letter));
  return out;
}

Hmm detail::independent_symbols(const Alphabet& alphabet, std::span<const std::uint64_t> counts,
                                Strands strands) {
  const auto pairs = complements(alphabet);
  Hmm out{alphabet, RealMatrix::Ones(1, 1), RealMatrix(static_cast<Index>(counts.size()), 1),
          RealVector::Ones(1)};
  for (std::size_t y = 0; y < counts.size(); ++y) {
    auto count = static_cast<double>(counts[y]) + 1.0;
    if (strands != Strands::kForward && pairs) {
      const double of_pair = static_cast<double>(counts[(*pairs)[y]]) + 1.0;
      count = strands == Strands::kBoth ? count + of_pair : of_pair;
    }
    out.emission(static_cast<Index>(y), 0) = count;
  }
  out.emission /= out.emission.sum();
  return out;
}

Classifier against_background(AnyModel model, AnyModel background) {
  Classifier out{{"background", "model"}, {}, {0.5, 0.5}};
  if (!(alphabet_of(model) == alphabet_of(background))) {
    throw fail(ErrorCode::kBadData, "the background's alphabet ({}) is not the model's ({})",
               alphabet_of(background).description(), alphabet_of(model).description());
  }
  out.models.push_back(std::move(background));
  out.models.push_back(std::move(model));
  return out;
}

class Scanner::Work {
 public:
  Work(const Classifier& classifier, const ScanOptions& options, ScanSinks sinks)
      : plan_(make_plan(classifier, options, static_cast<bool>(sinks.on_track))),
        sinks_(std::move(sinks)),
        reach_(plan_.options.distinct ? (plan_.options.window - 1) / plan_.options.step : 0),
        block_(std::max(kBlockSymbols, 4 * plan_.options.window)),
        least_(plan_.options.classes.size(), plan_.options.least),
        best_(plan_.options.classes.size()) {}

  void take(const SequenceView& symbols) {
    if (symbols.empty()) return;
    if (pieces_.empty() || pieces_.back().closed) {
      pieces_.emplace_back();
      pieces_.back().sequence = sequences;
      pieces_.back().offset = buffer_.size();
    }
    // Cut by symbols alone: the same numbers come out however they arrive.
    for (std::size_t t = 0; t < symbols.size();) {
      const std::size_t count = std::min(symbols.size() - t, block_ - buffer_.size());
      const std::size_t at = buffer_.size();
      buffer_.resize(at + count);
      symbols.part(t, count).copy_to(std::span(buffer_).subspan(at));
      t += count;
      if (buffer_.size() == block_) process();
    }
  }

  void end_sequence() {
    if (!pieces_.empty() && !pieces_.back().closed) {
      pieces_.back().closed = true;
      pieces_.back().end = buffer_.size();
    }
    ++sequences;
  }

  void finish() {
    if (!pieces_.empty() && !pieces_.back().closed) end_sequence();
    process();
    if (plan_.options.top == 0) return;
    std::vector<ScanHit> hits;
    for (const std::vector<ScanHit>& of_class : best_)
      hits.insert(hits.end(), of_class.begin(), of_class.end());
    std::sort(hits.begin(), hits.end(), comes_before);
    if (sinks_.on_hits && !hits.empty()) sinks_.on_hits(hits);
  }

  [[nodiscard]] std::size_t window() const { return plan_.options.window; }

  std::uint64_t sequences = 0;
  std::uint64_t windows = 0;

 private:
  /// A sequence, or what is left of it: buffer_[offset] is its symbol `begin`.
  struct Piece {
    std::uint64_t sequence = 0;
    std::uint64_t begin = 0;
    std::uint64_t next = 0;  // the first window that has not been scanned
    std::size_t offset = 0, end = 0;
    bool closed = false;
  };

  void process() {
    std::vector<ScanStretch> stretches;
    for (Piece& piece : pieces_) {
      if (!piece.closed) piece.end = buffer_.size();
      cut(piece, stretches);
    }
    std::vector<ScanFound> found(stretches.size());
    parallel_for(stretches.size(), plan_.options.threads,
                 [&](std::size_t i) { found[i] = scan_stretch(plan_, stretches[i], least_); });
    for (std::size_t i = 0; i < found.size(); ++i) hand_over(stretches[i], found[i]);
    for (std::size_t k = 0; k < best_.size() && plan_.options.top > 0; ++k) keep_best(k);
    carry_over();
  }

  /// The windows of a piece that can be scanned now, in stretches.
  void cut(Piece& piece, std::vector<ScanStretch>& stretches) {
    const std::size_t step = plan_.options.step;
    const std::uint64_t end = piece.begin + piece.end - piece.offset;
    const std::uint64_t there = end < window() ? 0 : (end - window()) / step + 1;
    const std::uint64_t own_end =
        piece.closed ? there : there - std::min<std::uint64_t>(there, reach_);
    while (piece.next < own_end) {
      ScanStretch stretch;
      stretch.sequence = piece.sequence;
      stretch.own_first = piece.next;
      stretch.own_last = std::min<std::uint64_t>(own_end, piece.next + kStretchWindows);
      stretch.first =
          std::max<std::uint64_t>((piece.begin + step - 1) / step,
                                  piece.next - std::min<std::uint64_t>(piece.next, reach_));
      stretch.last = std::min<std::uint64_t>(there, stretch.own_last + reach_);
      stretch.symbols = std::span<const Symbol>(buffer_).subspan(
          piece.offset + stretch.first * step - piece.begin,
          (stretch.last - stretch.first - 1) * step + window());
      piece.next = stretch.own_last;
      stretches.push_back(stretch);
    }
  }

  void hand_over(const ScanStretch& stretch, const ScanFound& found) {
    const std::uint64_t strands = plan_.options.strands == Strands::kBoth ? 2 : 1;
    windows += strands * (stretch.own_last - stretch.own_first);
    if (plan_.track)
      sinks_.on_track({stretch.sequence, stretch.own_first * plan_.options.step, found.track});
    if (plan_.options.top == 0) {
      if (sinks_.on_hits && !found.hits.empty()) sinks_.on_hits(found.hits);
      return;
    }
    for (const ScanHit& hit : found.hits) {
      const auto& classes = plan_.options.classes;
      const auto k = std::find(classes.begin(), classes.end(), hit.label) - classes.begin();
      best_[static_cast<std::size_t>(k)].push_back(hit);
    }
  }

  /// What is worse than these cannot be among the best any more.
  void keep_best(std::size_t k) {
    std::vector<ScanHit>& hits = best_[k];
    if (hits.size() < plan_.options.top) return;
    const auto last = hits.begin() + static_cast<std::ptrdiff_t>(plan_.options.top) - 1;
    std::nth_element(hits.begin(), last, hits.end(), is_better);
    least_[k] = std::max(least_[k], last->log_odds);
    hits.erase(last + 1, hits.end());
  }

  /// Of an open sequence what the next windows, and those that overlap them, need.
  void carry_over() {
    if (pieces_.empty() || pieces_.back().closed) {
      pieces_.clear();
      buffer_.clear();
      return;
    }
    Piece piece = pieces_.back();
    const std::uint64_t end = piece.begin + piece.end - piece.offset;
    const std::uint64_t first = piece.next - std::min<std::uint64_t>(piece.next, reach_);
    const std::uint64_t keep =
        std::clamp<std::uint64_t>(first * plan_.options.step, piece.begin, end);
    buffer_.erase(buffer_.begin(),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(piece.offset + keep - piece.begin));
    piece.begin = keep;
    piece.offset = 0;
    pieces_.assign(1, piece);
  }

  ScanPlan plan_;
  ScanSinks sinks_;
  std::uint64_t reach_;  // windows on either side that a window may overlap, when that matters
  std::size_t block_;
  std::vector<double> least_;
  std::vector<std::vector<ScanHit>> best_;  // by wanted class
  std::vector<Piece> pieces_;               // the last one may be open
  std::vector<Symbol> buffer_;
};

Scanner::Scanner(const Classifier& classifier, const ScanOptions& options, ScanSinks sinks)
    : work_(std::make_unique<Work>(classifier, options, std::move(sinks))) {}

Scanner::~Scanner() = default;
void Scanner::take(const SequenceView& symbols) { work_->take(symbols); }
void Scanner::end_sequence() { work_->end_sequence(); }
void Scanner::finish() { work_->finish(); }
std::size_t Scanner::window() const { return work_->window(); }
std::uint64_t Scanner::sequences() const { return work_->sequences; }
std::uint64_t Scanner::windows() const { return work_->windows; }

std::vector<ScanHit> scan(const Classifier& classifier, const SequenceSet& data,
                          const ScanOptions& options) {
  for (const AnyModel& model : classifier.models) require_fitting(model, data);
  std::vector<ScanHit> out;
  ScanSinks sinks;
  sinks.on_hits = [&out](std::span<const ScanHit> hits) {
    out.insert(out.end(), hits.begin(), hits.end());
  };
  Scanner scanner(classifier, options, std::move(sinks));
  for (std::size_t i = 0; i < data.size(); ++i) {
    scanner.take(data[i]);
    scanner.end_sequence();
  }
  scanner.finish();
  return out;
}

}  // namespace hqmm

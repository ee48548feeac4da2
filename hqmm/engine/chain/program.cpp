#include "hqmm/engine/chain/program.hpp"

#include <algorithm>

namespace hqmm {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// Gives words their numbers in the order in which they are met.
class WordNumbers {
 public:
  WordNumbers(std::uint32_t symbols, int word_length, Program& out) : s_(symbols), out_(out) {
    if (word_length >= 2) pairs_.assign(std::size_t{s_} * s_, kNone);
    if (word_length >= 3) triples_.assign(std::size_t{s_} * s_ * s_, kNone);
  }
  std::uint32_t pair(std::uint32_t a, std::uint32_t b) { return number(pairs_[a * s_ + b], a, b); }
  std::uint32_t triple(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t& found = triples_[(a * s_ + b) * s_ + c];
    return found != kNone ? found : number(found, pair(a, b), c);
  }

 private:
  std::uint32_t number(std::uint32_t& found, std::uint32_t prefix, std::uint32_t last) {
    if (found == kNone) {
      found = static_cast<std::uint32_t>(out_.operators());
      out_.words.push_back({prefix, last});
    }
    return found;
  }

  std::uint32_t s_;
  Program& out_;
  std::vector<std::uint32_t> pairs_, triples_;
};

class Writer {
 public:
  Writer(const ProgramModel& model, const ProgramOptions& options, int word_length, Program& out)
      : model_(model),
        options_(options),
        word_length_(word_length),
        s_(static_cast<std::uint32_t>(model.symbols)),
        missing_base_(static_cast<std::uint32_t>(model.sets) * s_),
        out_(out),
        numbers_(s_, word_length, out) {}

  void write(const SequenceView& sequence) {
    symbols_.resize(sequence.size());
    sequence.copy_to(symbols_);
    std::uint64_t scored = 0;
    for (std::size_t t = 0; t < symbols_.size();) {
      const std::size_t end = run_end(t);
      const bool counts = scores(t);
      const bool next_counts = end < symbols_.size() && scores(end);
      if (counts) scored += end - t - missing_in(t, end);
      write_run(t, end);
      const bool stops = !options_.through_burn_in && end == options_.burn_in;
      if (counts != next_counts || stops) {
        out_.marks.push_back({out_.steps.size() - out_.offsets.back(),
                              static_cast<double>(counts) - static_cast<double>(next_counts),
                              stops});
      }
      t = end;
    }
    // a weight that stays 1 would leave rounding where nothing is to be said
    if (options_.tangent_only && scored == 0) out_.marks.resize(out_.mark_offsets.back());
    out_.scored.push_back(scored);
    out_.offsets.push_back(out_.steps.size());
    out_.mark_offsets.push_back(out_.marks.size());
  }

 private:
  /// Whether the step's change of the weight counts.
  [[nodiscard]] bool scores(std::size_t t) const {
    return t >= options_.burn_in && (options_.tangent_only || symbols_[t] != kMissing);
  }

  [[nodiscard]] std::uint64_t missing_in(std::size_t t, std::size_t end) const {
    if (!options_.tangent_only) return 0;
    const auto at = symbols_.begin();
    return static_cast<std::uint64_t>(std::count(at + static_cast<std::ptrdiff_t>(t),
                                                 at + static_cast<std::ptrdiff_t>(end), kMissing));
  }

  /// The end of the stretch of symbols from t on that all count, or all do not.
  [[nodiscard]] std::size_t run_end(std::size_t t) const {
    const bool counts = scores(t);
    std::size_t end = t + 1;
    while (end < symbols_.size() && scores(end) == counts &&
           (options_.through_burn_in || end != options_.burn_in))
      ++end;
    return end;
  }

  void write_run(std::size_t t, std::size_t end) {
    const std::size_t length = symbols_.size();
    if (word_length_ == 1) {
      const PositionMap* positions = model_.positions;
      const bool stationary = positions == nullptr || positions->stationary();
      const std::uint32_t only = positions == nullptr ? 0 : positions->entries()[0];
      for (; t < end; ++t) {
        const std::uint32_t set = stationary ? only : positions->set_at(t, length);
        out_.steps.push_back(symbols_[t] == kMissing ? missing_base_ + set
                                                     : set * s_ + symbols_[t]);
        out_.missing |= symbols_[t] == kMissing;
      }
      return;
    }
    while (t < end) t += write_word(t, end);
  }

  /// The longest word at t; returns its length.
  std::size_t write_word(std::size_t t, std::size_t end) {
    if (symbols_[t] == kMissing) {
      out_.steps.push_back(missing_base_);
      out_.missing = true;
      return 1;
    }
    std::size_t size = 1;
    while (size < static_cast<std::size_t>(word_length_) && t + size < end &&
           symbols_[t + size] != kMissing)
      ++size;
    const Symbol* y = symbols_.data() + t;
    if (size == 1) out_.steps.push_back(y[0]);
    if (size == 2) out_.steps.push_back(numbers_.pair(y[0], y[1]));
    if (size == 3) out_.steps.push_back(numbers_.triple(y[0], y[1], y[2]));
    return size;
  }

  const ProgramModel& model_;
  const ProgramOptions& options_;
  int word_length_;
  std::uint32_t s_;
  std::uint32_t missing_base_;
  Program& out_;
  WordNumbers numbers_;
  std::vector<Symbol> symbols_;
};

}  // namespace

void write_program(const ProgramModel& model, std::span<const SequenceView> batch,
                   const ProgramOptions& options, int word_length, Program& out) {
  out.steps.clear();
  out.offsets.assign(1, 0);
  out.marks.clear();
  out.mark_offsets.assign(1, 0);
  out.scored.clear();
  out.words.clear();
  out.missing = false;
  out.base_operators = static_cast<std::uint32_t>(model.sets * (model.symbols + 1));
  if (options.weights.empty()) {
    out.weights.assign(batch.size(), 1.0);
  } else {
    out.weights.assign(options.weights.begin(), options.weights.end());
  }
  Writer writer(model, options, word_length, out);
  for (const SequenceView& sequence : batch) writer.write(sequence);
}

}  // namespace hqmm

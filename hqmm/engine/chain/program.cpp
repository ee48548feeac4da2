#include "hqmm/engine/chain/program.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "hqmm/core/parallel.hpp"

namespace hqmm::detail {
namespace {

/// A thread takes sequences of so many symbols at a time.
constexpr std::size_t kBlockSymbols = 2048;

/// The numbers of operators while it is not known which words are met: every word has one.
class WordCodes {
 public:
  WordCodes(std::uint32_t symbols, std::uint32_t base, int word_length)
      : s_(symbols),
        pairs_(base),
        triples_(base + (word_length >= 2 ? symbols * symbols : 0)),
        met_(word_length >= 2 ? triples_ - base + (word_length >= 3 ? s_ * s_ * s_ : 0) : 0) {}

  [[nodiscard]] std::uint32_t pair(std::uint32_t a, std::uint32_t b) {
    return meet(pairs_ + a * s_ + b);
  }
  [[nodiscard]] std::uint32_t triple(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return meet(triples_ + (a * s_ + b) * s_ + c);
  }

  /// The words that were met and what they are made of, and their numbers by code.
  void number_words(Program& out, std::vector<std::uint32_t>& numbers) {
    const std::size_t pairs = std::min<std::size_t>(met_.size(), triples_ - pairs_);
    for (std::size_t i = pairs; i < met_.size(); ++i)
      if (met_[i] != 0) met_[(i - pairs) / s_] = 1;
    numbers.assign(met_.size(), 0);
    const auto add = [&](std::size_t i, std::size_t prefix, std::size_t last) {
      numbers[i] = static_cast<std::uint32_t>(out.operators());
      out.words.push_back({static_cast<std::uint32_t>(prefix), static_cast<std::uint32_t>(last)});
    };
    for (std::size_t i = 0; i < pairs; ++i)
      if (met_[i] != 0) add(i, i / s_, i % s_);
    out.pairs = out.words.size();
    for (std::size_t i = pairs; i < met_.size(); ++i)
      if (met_[i] != 0) add(i, numbers[(i - pairs) / s_], (i - pairs) % s_);
  }

 private:
  std::uint32_t meet(std::uint32_t code) {
    // Threads read far more often than they write, and write the same.
    const std::atomic_ref met(met_[code - pairs_]);
    if (met.load(std::memory_order_relaxed) == 0) met.store(1, std::memory_order_relaxed);
    return code;
  }

  std::uint32_t s_, pairs_, triples_;
  std::vector<char> met_;
};

/// One sequence after another, as it is stored.
class Writer {
 public:
  Writer(const ProgramModel& model, const ProgramOptions& options, int word_length,
         WordCodes& codes, Program& out)
      : model_(model),
        options_(options),
        word_length_(word_length),
        s_(static_cast<std::uint32_t>(model.symbols)),
        missing_base_(static_cast<std::uint32_t>(model.sets) * s_),
        codes_(codes),
        out_(out) {}

  std::vector<Mark> marks;  // of all sequences that were written
  std::vector<std::size_t> mark_counts;
  bool missing = false;

  void write(std::size_t i, const SequenceView& sequence) {
    sequence.with_stored([&](const auto* symbols) { write(i, sequence, symbols); });
  }

 private:
  template <typename Stored>
  static constexpr Stored kNone = std::numeric_limits<Stored>::max();

  template <typename Stored>
  void write(std::size_t i, const SequenceView& sequence, const Stored* symbols) {
    length_ = sequence.size();
    has_missing_ = sequence.has_missing();
    missing = missing || has_missing_;
    begin_ = to_ = out_.steps.data() + out_.offsets[i];
    const std::size_t marks_before = marks.size();
    std::uint64_t scored = 0;
    for (std::size_t t = 0; t < length_;) {
      const std::size_t end = run_end(symbols, t);
      const bool counts = scores(symbols, t);
      const bool next_counts = end < length_ && scores(symbols, end);
      if (counts) scored += end - t - missing_in(symbols, t, end);
      write_run(symbols, t, end);
      const bool stops = !options_.through_burn_in && end == options_.burn_in;
      if (counts != next_counts || stops) {
        marks.push_back({static_cast<std::uint64_t>(to_ - begin_),
                         static_cast<double>(counts) - static_cast<double>(next_counts), stops});
      }
      t = end;
    }
    // a weight that stays 1 would leave rounding where nothing is to be said
    if (options_.tangent_only && scored == 0) marks.resize(marks_before);
    mark_counts.push_back(marks.size() - marks_before);
    out_.scored[i] = scored;
    out_.lengths[i] = static_cast<std::uint64_t>(to_ - begin_);
  }

  /// Whether the step's change of the weight counts.
  template <typename Stored>
  [[nodiscard]] bool scores(const Stored* symbols, std::size_t t) const {
    return t >= options_.burn_in && (options_.tangent_only || symbols[t] != kNone<Stored>);
  }

  template <typename Stored>
  [[nodiscard]] std::uint64_t missing_in(const Stored* symbols, std::size_t t,
                                         std::size_t end) const {
    if (!options_.tangent_only || !has_missing_) return 0;
    return static_cast<std::uint64_t>(std::count(symbols + t, symbols + end, kNone<Stored>));
  }

  /// The end of the stretch of symbols from t on that all count, or all do not.
  template <typename Stored>
  [[nodiscard]] std::size_t run_end(const Stored* symbols, std::size_t t) const {
    if (!has_missing_) return t < options_.burn_in ? std::min(options_.burn_in, length_) : length_;
    const bool counts = scores(symbols, t);
    std::size_t end = t + 1;
    while (end < length_ && scores(symbols, end) == counts &&
           (options_.through_burn_in || end != options_.burn_in))
      ++end;
    return end;
  }

  template <typename Stored>
  void write_run(const Stored* symbols, std::size_t t, std::size_t end) {
    if (word_length_ == 1) return write_symbols(symbols, t, end);
    if (has_missing_) {
      while (t < end) t += write_word(symbols, t, end);
      return;
    }
    if (word_length_ == 3) {
      for (; t + 3 <= end; t += 3)
        *to_++ = codes_.triple(symbols[t], symbols[t + 1], symbols[t + 2]);
    }
    for (; t + 2 <= end; t += 2) *to_++ = codes_.pair(symbols[t], symbols[t + 1]);
    if (t < end) *to_++ = symbols[t];
  }

  template <typename Stored>
  void write_symbols(const Stored* symbols, std::size_t t, std::size_t end) {
    const PositionMap* positions = model_.positions;
    const bool stationary = positions == nullptr || positions->stationary();
    const std::uint32_t only = positions == nullptr ? 0 : positions->entries()[0];
    for (; t < end; ++t) {
      const std::uint32_t set = stationary ? only : positions->set_at(t, length_);
      *to_++ = symbols[t] == kNone<Stored> ? missing_base_ + set : set * s_ + symbols[t];
    }
  }

  /// The longest word at t; returns its length.
  template <typename Stored>
  std::size_t write_word(const Stored* symbols, std::size_t t, std::size_t end) {
    const Stored* y = symbols + t;
    if (y[0] == kNone<Stored>) {
      *to_++ = missing_base_;
      return 1;
    }
    std::size_t size = 1;
    while (size < static_cast<std::size_t>(word_length_) && t + size < end &&
           y[size] != kNone<Stored>)
      ++size;
    if (size == 1) *to_++ = y[0];
    if (size == 2) *to_++ = codes_.pair(y[0], y[1]);
    if (size == 3) *to_++ = codes_.triple(y[0], y[1], y[2]);
    return size;
  }

  const ProgramModel& model_;
  const ProgramOptions& options_;
  int word_length_;
  std::uint32_t s_;
  std::uint32_t missing_base_;
  WordCodes& codes_;
  Program& out_;
  // of the sequence at hand
  std::size_t length_ = 0;
  bool has_missing_ = false;
  std::uint32_t *begin_ = nullptr, *to_ = nullptr;
};

/// Sequences are given room for all their symbols, and cut into blocks: where each begins, and at
/// last the end.
std::vector<std::size_t> lay_out(std::span<const SequenceView> batch, Program& out) {
  std::vector<std::size_t> blocks{0};
  out.offsets.resize(batch.size());
  out.lengths.resize(batch.size());
  out.scored.resize(batch.size());
  std::uint64_t symbols = 0;
  std::uint64_t block_begin = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (symbols - block_begin >= kBlockSymbols) {
      blocks.push_back(i);
      block_begin = symbols;
    }
    out.offsets[i] = symbols;
    symbols += batch[i].size();
  }
  blocks.push_back(batch.size());
  if (out.steps.size() < symbols) out.steps.resize(symbols);
  return blocks;
}

/// From codes to numbers.
void renumber(const std::vector<std::uint32_t>& numbers, const std::vector<std::size_t>& blocks,
              int threads, Program& out) {
  if (out.words.size() == numbers.size()) return;  // all were met
  parallel_for(blocks.size() - 1, threads, [&](std::size_t block) {
    for (std::size_t i = blocks[block]; i < blocks[block + 1]; ++i) {
      std::uint32_t* steps = out.steps.data() + out.offsets[i];
      for (std::uint64_t t = 0; t < out.lengths[i]; ++t)
        if (steps[t] >= out.base_operators) steps[t] = numbers[steps[t] - out.base_operators];
    }
  });
}

}  // namespace

void write_program(const ProgramModel& model, std::span<const SequenceView> batch,
                   const ProgramOptions& options, int word_length, int threads, Program& out) {
  out.marks.clear();
  out.mark_offsets.assign(1, 0);
  out.words.clear();
  out.pairs = 0;
  out.missing = false;
  out.base_operators = static_cast<std::uint32_t>(model.sets * (model.symbols + 1));
  if (options.weights.empty()) {
    out.weights.assign(batch.size(), 1.0);
  } else {
    out.weights.assign(options.weights.begin(), options.weights.end());
  }
  const std::vector<std::size_t> blocks = lay_out(batch, out);
  WordCodes codes(static_cast<std::uint32_t>(model.symbols), out.base_operators, word_length);
  std::vector<Writer> writers(blocks.size() - 1, Writer(model, options, word_length, codes, out));
  parallel_for(writers.size(), threads, [&](std::size_t block) {
    for (std::size_t i = blocks[block]; i < blocks[block + 1]; ++i)
      writers[block].write(i, batch[i]);
  });
  for (const Writer& writer : writers) {
    out.marks.insert(out.marks.end(), writer.marks.begin(), writer.marks.end());
    for (const std::size_t count : writer.mark_counts)
      out.mark_offsets.push_back(out.mark_offsets.back() + count);
    out.missing = out.missing || writer.missing;
  }
  if (word_length == 1) return;
  std::vector<std::uint32_t> numbers;
  codes.number_words(out, numbers);
  renumber(numbers, blocks, threads, out);
}

}  // namespace hqmm::detail

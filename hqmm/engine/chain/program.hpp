// Program: a batch of sequences written as steps of operators, for the engines that walk them.
//
//   operator = set · s + symbol;  after those, one per set for a missing symbol;  after those,
//   words: two or three consecutive symbols of a stationary model fused into one operator
//
// The raw log-likelihood is a sum over a few states only. With M_t the state before symbol t,
// unnormalised, and w its weight (the trace),
//
//   Σ_{t scored} log w(M_{t+1})/w(M_t)  =  Σ_t c_t log w(M_t),   c_t = [t−1 scored] − [t scored],
//
// so that between the ends of a burn-in, of missing stretches and of the sequence nothing is to be
// divided and no logarithm to be taken. A feasible model's weight does not change where a symbol is
// missing, so that such stretches need no marks if only the tangent part of a gradient counts. A
// Mark is such a state with c_t ≠ 0. Backward, a sequence's marks count times its weight in the
// loss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/position_map.hpp"

namespace hqmm::detail {

struct Mark {
  std::uint64_t step = 0;    // the state before this step of the sequence; never its first
  double coefficient = 0.0;  // c_t
  bool stops_gradient = false;
};

/// An operator fused from several: first apply `prefix`, a symbol or a word, then the symbol
/// `last`.
struct Word {
  std::uint32_t prefix = 0;
  std::uint32_t last = 0;
};

struct Program {
  std::vector<std::uint32_t> steps;    // operators; what is not a sequence's is unspecified
  std::vector<std::uint64_t> offsets;  // of each sequence in steps,
  std::vector<std::uint64_t> lengths;  // and how many are its own
  std::vector<Mark> marks;             // by sequence and step; one after the last step, too
  std::vector<std::uint64_t> mark_offsets;
  std::vector<std::uint64_t> scored;  // symbols that count, per sequence
  std::vector<double> weights;        // in the loss, per sequence
  std::vector<Word> words;            // operator base_operators + i: first those of two symbols,
  std::size_t pairs = 0;              // so many, then those of three; by what they stand for
  std::uint32_t base_operators = 0;
  bool missing = false;

  [[nodiscard]] std::size_t sequences() const { return lengths.size(); }
  [[nodiscard]] std::size_t operators() const { return base_operators + words.size(); }
  [[nodiscard]] std::size_t length(std::size_t i) const { return lengths[i]; }
  [[nodiscard]] std::span<const std::uint32_t> steps_of(std::size_t i) const {
    return {steps.data() + offsets[i], length(i)};
  }
  [[nodiscard]] std::span<const Mark> marks_of(std::size_t i) const {
    return {marks.data() + mark_offsets[i], mark_offsets[i + 1] - mark_offsets[i]};
  }
};

/// What a program knows of a model: so many symbols, and operators for all of them in each set.
struct ProgramModel {
  std::size_t symbols = 0;
  std::size_t sets = 1;
  const PositionMap* positions = nullptr;  // none: one set for all positions
};

struct ProgramOptions {
  std::size_t burn_in = 0;
  /// Gradients flow through the burn-in, or stop where it ends.
  bool through_burn_in = true;
  /// Of a feasible model alone: no marks where symbols are missing.
  bool tangent_only = false;
  std::span<const double> weights{};  // one per sequence, or none: all are 1
};

/// Words of up to `word_length` symbols (1 to 3; more than 1 only for a stationary model of few
/// symbols). The program is the same for any number of threads.
void write_program(const ProgramModel& model, std::span<const SequenceView> batch,
                   const ProgramOptions& options, int word_length, int threads, Program& out);

/// s³ of the largest alphabet that has words of three, s² for two.
inline constexpr std::size_t kMostWords = 4096;

}  // namespace hqmm::detail

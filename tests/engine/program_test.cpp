// A program against its definition: the symbols it stands for, and the coefficient of every state.
#include "hqmm/engine/quantum/hqmm_program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/engine.hpp"

namespace hqmm::detail {
namespace {

constexpr std::uint64_t kProgramSeed = 505;

/// (set, symbol) of the symbols an operator stands for, in their order.
struct Seen {
  std::uint32_t set;
  Symbol symbol;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> symbols_of(const Program& program, std::uint32_t op, std::uint32_t s,
                             std::uint32_t sets) {
  if (op < sets * s) return {{op / s, static_cast<Symbol>(op % s)}};
  if (op < program.base_operators) return {{op - sets * s, kMissing}};
  const Word& word = program.words[op - program.base_operators];
  EXPECT_LT(word.prefix, op) << "what a word is made of comes before it";
  EXPECT_LT(word.last, sets * s) << "one symbol, and a known one";
  std::vector<Seen> out = symbols_of(program, word.prefix, s, sets);
  out.push_back({0, static_cast<Symbol>(word.last)});
  return out;
}

/// What the program should say of one sequence, symbol by symbol.
class Expected {
 public:
  Expected(const Hqmm& model, const SequenceView& sequence, const GradientOptions& options)
      : sequence_(sequence), options_(options) {
    for (std::size_t t = 0; t < sequence.size(); ++t)
      seen_.push_back({model.positions.set_at(t, sequence.size()), sequence[t]});
  }
  [[nodiscard]] const std::vector<Seen>& seen() const { return seen_; }
  [[nodiscard]] double scored(std::size_t t) const {
    return t < sequence_.size() && t >= options_.burn_in && sequence_[t] != kMissing ? 1.0 : 0.0;
  }
  [[nodiscard]] double coefficient(std::size_t t) const { return scored(t - 1) - scored(t); }
  [[nodiscard]] bool stops(std::size_t t) const {
    return !options_.through_burn_in && t == options_.burn_in;
  }

 private:
  SequenceView sequence_;
  GradientOptions options_;
  std::vector<Seen> seen_;
};

void expect_sequence(const Program& program, std::size_t i, const Expected& expected,
                     std::uint32_t s, std::uint32_t sets) {
  std::vector<Seen> seen;
  std::vector<double> coefficients(expected.seen().size() + 1, 0.0);  // before symbol t
  std::vector<bool> stops(coefficients.size(), false);
  auto mark = program.marks_of(i).begin();
  const auto end = program.marks_of(i).end();
  const auto take_mark = [&](std::size_t step) {
    if (mark == end || mark->step != step) return;
    ASSERT_LT(seen.size(), coefficients.size());
    coefficients[seen.size()] = mark->coefficient;
    stops[seen.size()] = mark->stops_gradient;
    ++mark;
  };
  for (std::size_t step = 0; step < program.length(i); ++step) {
    if (step > 0) take_mark(step);
    for (const Seen& one : symbols_of(program, program.steps_of(i)[step], s, sets))
      seen.push_back(one);
  }
  take_mark(program.length(i));
  EXPECT_EQ(mark, end) << "marks are in the order of steps, none before the first";
  ASSERT_EQ(seen, expected.seen());
  double scored = 0.0;
  for (std::size_t t = 1; t <= seen.size(); ++t) {
    EXPECT_EQ(coefficients[t], expected.coefficient(t)) << "before symbol " << t;
    EXPECT_EQ(stops[t], expected.stops(t)) << "before symbol " << t;
    scored += expected.scored(t - 1);
  }
  EXPECT_EQ(static_cast<double>(program.scored[i]), scored);
}

TEST(Program, StandsForTheSymbolsOfTheBatchAndScoresWhatCounts) {
  Program program;  // written again and again, as that of a GradientScratch is
  for (std::uint64_t index = 0; index < 400; ++index) {
    RandomStream random(kProgramSeed, Purpose::kTest, index);
    const auto s = static_cast<Index>(2 + random.below(6));
    const int word_length = static_cast<int>(1 + random.below(3));
    testing::Batch batch;
    batch.model =
        word_length == 1 && random.below(2) == 0
            ? testing::random_positional_hqmm(
                  {1, s, 1},
                  random.below(2) == 0 ? PositionMap::Anchor::kStart : PositionMap::Anchor::kEnd,
                  random)
            : testing::random_hqmm({1, s, 1}, random);
    std::vector<std::size_t> lengths(1 + random.below(6));
    for (std::size_t& length : lengths) length = random.below(40);
    batch.set = testing::set_of(
        s, testing::random_sequences(lengths, s, random, random.below(2) == 0 ? 0.2 : 0.0));
    batch.options.burn_in = random.below(2) * random.below(45);
    batch.options.through_burn_in = random.below(2) == 0;
    write_program(batch.model, batch.views(), batch.options, word_length, 1, program);

    SCOPED_TRACE(fmt::format("case {}: {} symbols a step, burn-in {}", index, word_length,
                             batch.options.burn_in));
    const auto sets = static_cast<std::uint32_t>(batch.model.sets.size());
    ASSERT_EQ(program.sequences(), lengths.size());
    bool missing = false;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      SCOPED_TRACE(i);
      expect_sequence(program, i, Expected(batch.model, batch.set[i], batch.options),
                      static_cast<std::uint32_t>(s), sets);
      missing = missing || batch.set[i].has_missing();
    }
    EXPECT_EQ(program.missing, missing);
  }
}

/// Words are what makes short work of long sequences.
TEST(Program, WordsAreAsLongAsTheyMayBeAndNumberedOnce) {
  RandomStream random(kProgramSeed, Purpose::kTest, 1000);
  testing::Batch batch;
  batch.model = testing::random_hqmm({1, 2, 1}, random);
  batch.set = testing::set_of(2, {testing::random_symbols(300, 2, random)});
  Program program;
  write_program(batch.model, batch.views(), {}, 3, 1, program);
  EXPECT_EQ(program.length(0), 100U);
  EXPECT_LE(program.words.size(), 4U + 8U);
  EXPECT_EQ(program.marks.size(), 1U) << "all symbols count: only the last state does";
  write_program(batch.model, batch.views(), {}, 2, 1, program);
  EXPECT_EQ(program.length(0), 150U);
  EXPECT_LE(program.words.size(), 4U);
  write_program(batch.model, batch.views(), {}, 1, 1, program);
  EXPECT_EQ(program.length(0), 300U);
  EXPECT_TRUE(program.words.empty());
}

TEST(Program, IsTheSameForAnyNumberOfThreads) {
  RandomStream random(kProgramSeed, Purpose::kTest, 1001);
  testing::Batch batch;
  batch.model = testing::random_hqmm({1, 9, 1}, random);
  // several blocks, and too few symbols for all words of three to be met
  batch.set = testing::set_of(
      9, testing::random_sequences(std::vector<std::size_t>(40, 501), 9, random, 0.01));
  for (const int word_length : {1, 2, 3}) {
    Program one;
    Program two;
    write_program(batch.model, batch.views(), {}, word_length, 1, one);
    write_program(batch.model, batch.views(), {}, word_length, 2, two);
    ASSERT_EQ(one.words.size(), two.words.size());
    ASSERT_EQ(one.pairs, two.pairs);
    EXPECT_LE(one.words.size(), 81U + 729U);
    for (std::size_t i = 0; i < one.sequences(); ++i) {
      EXPECT_TRUE(std::ranges::equal(one.steps_of(i), two.steps_of(i)));
      EXPECT_EQ(one.marks_of(i).size(), two.marks_of(i).size());
    }
  }
}

}  // namespace
}  // namespace hqmm::detail

// Which engine is taken: the wanted one or an error that says why not, and a sensible one by
// itself.
#include "hqmm/engine/quantum/choose.hpp"

#include <gtest/gtest.h>

#include "hqmm/core/error.hpp"
#include "hqmm/engine/chain/program.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::expect_error;

constexpr EngineKind kAll[] = {EngineKind::kAuto, EngineKind::kNaive, EngineKind::kFactor,
                               EngineKind::kPure, EngineKind::kLanes, EngineKind::kSuperoperator,
                               EngineKind::kKraus};

BatchShape shape_of(Index n, Index w, Index s) {
  BatchShape shape{n, w, s};
  shape.state_rank = n;
  shape.sequences = 20;
  shape.symbols = 6000;
  shape.longest = 300;
  return shape;
}

TEST(Choose, NamesAreThoseOfTheKinds) {
  for (const EngineKind kind : kAll) EXPECT_EQ(parse<EngineKind>(name_of(kind)), kind);
  EXPECT_EQ(name_of(EngineKind::kAuto), "auto");
  EXPECT_EQ(name_of(EngineKind::kSuperoperator), "superoperator");
  for (const char* name : {"", "Auto", "turbo", "kraus "}) {
    expect_error(ErrorCode::kUsage, "auto, naive, factor, pure, lanes, superoperator, kraus",
                 [&] { static_cast<void>(parse<EngineKind>(name)); });
  }
  expect_error(ErrorCode::kUsage, "turbo", [] { static_cast<void>(parse<EngineKind>("turbo")); });
}

TEST(Choose, WhatIsWantedIsTaken) {
  BatchShape shape = shape_of(2, 1, 4);
  shape.state_rank = 1;
  for (const EngineKind kind : {EngineKind::kNaive, EngineKind::kFactor, EngineKind::kPure,
                                EngineKind::kSuperoperator, EngineKind::kKraus})
    EXPECT_EQ(choose(shape, kind).engine, kind) << name_of(kind);
}

TEST(Choose, WhatDoesNotFitIsRefusedAndSaysWhy) {
  const auto refuses = [](EngineKind kind, const BatchShape& shape, const char* why) {
    SCOPED_TRACE(name_of(kind));
    expect_error(ErrorCode::kUsage, why, [&] { static_cast<void>(choose(shape, kind)); });
    expect_error(ErrorCode::kUsage, name_of(kind), [&] { static_cast<void>(choose(shape, kind)); });
  };
  refuses(EngineKind::kFactor, shape_of(4, 2, 4), "Kraus rank of 1");
  refuses(EngineKind::kPure, shape_of(4, 2, 4), "Kraus rank of 1");
  refuses(EngineKind::kPure, shape_of(4, 1, 4), "not pure");
  refuses(EngineKind::kLanes, shape_of(3, 1, 4), "n = 2");
  BatchShape missing = shape_of(4, 1, 4);
  missing.state_rank = 1;
  missing.missing = true;
  refuses(EngineKind::kFactor, missing, "missing");
  refuses(EngineKind::kPure, missing, "missing");
  refuses(EngineKind::kSuperoperator, shape_of(64, 1, 200), "memory");  // 200 matrices of 128 MiB
}

/// Kinds are complex and real, on edges and on states.
void expect_sensible(BatchShape shape, int kind) {
  shape.field = kind % 2 == 0 ? Field::kComplex : Field::kReal;
  shape.emission = kind < 2 ? EmissionKind::kEdge : EmissionKind::kState;
  const Choice choice = choose(shape, EngineKind::kAuto);
  EXPECT_NE(choice.engine, EngineKind::kNaive);
  EXPECT_NE(choice.engine, EngineKind::kAuto);
  const Choice again = choose(shape, choice.engine);
  EXPECT_EQ(again.word_length, choice.word_length) << "auto only picks";
  EXPECT_EQ(again.shared, choice.shared) << "auto only picks";
  EXPECT_EQ(again.two_way, choice.two_way) << "auto only picks";
  EXPECT_GE(choice.part, 1U);
  EXPECT_GE(choice.word_length, 1);
  EXPECT_LE(choice.word_length, 3);
  if (!shape.stationary || choice.shared) {
    EXPECT_EQ(choice.word_length, 1);
  }
  if (choice.shared) {
    EXPECT_EQ(shape.emission, EmissionKind::kState);
    EXPECT_EQ(choice.engine, EngineKind::kSuperoperator);
  }
}

TEST(Choose, ByItselfItTakesWhatFitsAndNeverTheNaiveOne) {
  for (const Index n : {1, 2, 3, 4, 8, 16, 32, 64, 128}) {
    for (const Index w : {1, 2, 6, 20}) {
      for (const Index s : {2, 6, 20, 300}) {
        for (const bool stationary : {true, false}) {
          for (const bool missing : {true, false}) {
            for (const std::size_t symbols : {0, 1, 300, 1000000}) {
              BatchShape shape = shape_of(n, w, s);
              shape.stationary = stationary;
              shape.sets = stationary ? 1 : 5;
              shape.missing = missing;
              shape.symbols = symbols;
              shape.sequences = symbols == 1000000 ? 1000 : 1;
              shape.longest = symbols / shape.sequences;
              for (const int kind : {0, 1, 2, 3}) expect_sensible(shape, kind);
            }
          }
        }
      }
    }
  }
}

TEST(Choose, StepsOfSeveralSymbolsAreForStationaryModelsOfFewSymbols) {
  BatchShape shape = shape_of(4, 1, 4);
  shape.symbols = 100000;
  shape.sequences = 300;
  EXPECT_EQ(choose(shape, EngineKind::kFactor).word_length, 3);
  shape.feasible = false;
  EXPECT_EQ(choose(shape, EngineKind::kFactor).word_length, 3) << "totals inside words are known";
  shape.feasible = true;
  shape.s = 20;
  EXPECT_LE(choose(shape, EngineKind::kFactor).word_length, 2) << "20³ is above kMostWords";
  shape.s = 100;
  EXPECT_EQ(choose(shape, EngineKind::kFactor).word_length, 1);
}

TEST(Choose, TheKrausFormIsTakenWhereMatricesOfSuperoperatorsWaitForMemory) {
  EXPECT_EQ(choose(shape_of(8, 4, 6), EngineKind::kAuto).engine, EngineKind::kSuperoperator);
  EXPECT_EQ(choose(shape_of(16, 4, 6), EngineKind::kAuto).engine, EngineKind::kKraus);
  BatchShape large = shape_of(16, 4, 6);
  large.sequences = 200;
  large.symbols = 60000;
  EXPECT_EQ(choose(large, EngineKind::kAuto).engine, EngineKind::kKraus);
  large.n = 6;
  EXPECT_EQ(choose(large, EngineKind::kAuto).word_length, 2) << "6³ matrices leave the cache";
}

TEST(Choose, TotalsOfModelsThatAreNotFeasibleAreCounted) {
  BatchShape shape = shape_of(16, 1, 100);  // one symbol a step in any case
  EXPECT_EQ(choose(shape, EngineKind::kAuto).engine, EngineKind::kFactor);
  shape.feasible = false;
  EXPECT_EQ(choose(shape, EngineKind::kAuto).engine, EngineKind::kKraus)
      << "a total is a product of the factor's and a few terms of the state's";
}

}  // namespace
}  // namespace hqmm::detail

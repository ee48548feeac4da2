// The tables of options: every row by itself, and what they say of wrong values.
#include "hqmm/learn/option_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "hqmm/run/train_config.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

const OptionRow<TrainOptions>& train_row(std::string_view id) {
  return *find_option(train_option_table(), id);
}

/// Another value that the option takes.
OptionValue other_value(const OptionInfo& row, const OptionValue& now) {
  switch (row.type) {
    case OptionType::kSwitch:
      return !std::get<bool>(now);
    case OptionType::kNumber:
      return std::get<double>(now) / 2.0 + 0.125;
    case OptionType::kWord:
      return std::string(row.words[std::get<std::string>(now) == row.words[0] ? 1 : 0]);
    case OptionType::kText:
      return std::string("each");
    case OptionType::kCount:
    case OptionType::kCountOrAuto:
    case OptionType::kBytes:
      break;
  }
  return std::uint64_t{7};
}

template <typename Options>
void expect_rows_stand_alone(const OptionTable<Options>& table) {
  std::set<std::string_view> ids;
  for (const OptionRow<Options>& row : table) {
    SCOPED_TRACE(row.id);
    EXPECT_TRUE(ids.insert(row.id).second);
    EXPECT_FALSE(row.help.empty());
    Options options;
    const OptionValue before = row.get(options);
    const OptionValue after = other_value(row, before);
    EXPECT_NE(value_text(before), value_text(after));
    set_option(row, options, parsed(row, value_text(after)));
    EXPECT_EQ(value_text(row.get(options)), value_text(after));
    Options untouched;
    for (const OptionRow<Options>& other : table) {
      if (other.id == row.id) continue;
      EXPECT_EQ(value_text(other.get(options)), value_text(other.get(untouched))) << other.id;
    }
  }
}

TEST(OptionTable, RowsStandAlone) {
  expect_rows_stand_alone(train_option_table());
  expect_rows_stand_alone(classifier_option_table());
}

TEST(OptionTable, DefaultsAreInRange) {
  EXPECT_NO_THROW(require_in_range(train_option_table(), TrainOptions{}));
  EXPECT_NO_THROW(require_in_range(classifier_option_table(), ClassifierOptions{}));
}

TEST(OptionTable, SaysWhatAnOptionTakes) {
  EXPECT_EQ(expected_text(train_row("latent_dim")), "a whole number from 1 to 4096");
  EXPECT_EQ(expected_text(train_row("batch_size")), "a whole number of at least 1");
  EXPECT_EQ(expected_text(train_row("chunk_length")), "a whole number of at least 0, or auto");
  EXPECT_EQ(expected_text(train_row("step_size")), "a number ≥ 0");
  EXPECT_EQ(expected_text(train_row("step_decay")), "a number in (0, 1]");
  EXPECT_EQ(expected_text(train_row("momentum")), "a number in [0, 1)");
  EXPECT_EQ(expected_text(train_row("emission")), "state or edge");
  EXPECT_EQ(default_text(train_row("epochs")), "60 (givens 15, em 600)");
  EXPECT_EQ(default_text(train_row("learner")), "ns-ris");
}

TEST(OptionTable, RefusesWhatAnOptionDoesNotTake) {
  const auto refused = [](const char* id, const OptionValue& value, const char* says) {
    TrainOptions options;
    expect_error(ErrorCode::kUsage, says, [&] { set_option(train_row(id), options, value); });
  };
  refused("latent_dim", std::int64_t{-1},
          "latent_dim: expected a whole number from 1 to 4096, found -1");
  refused("latent_dim", 2.0, "found 2");
  refused("epochs", true, "epochs: expected a whole number of at least 0, found true");
  refused("step_size", std::nan(""), "step_size: expected a number ≥ 0, found nan");
  refused("step_size", INFINITY, "found inf");
  refused("momentum", 1.0, "momentum: expected a number in [0, 1), found 1");
  refused("learner", std::string("x\x01"),
          "learner: expected ns-ris or cosm or givens or em, found 'x\\u0001'");
  refused("burn_in", std::string("some"),
          "burn_in: expected a whole number of at least 0, or auto");
  refused("gradient_through_burn_in", std::int64_t{1}, "true or false");
  TrainOptions options;
  expect_error(ErrorCode::kUsage, "there is no option 'colour'", [&] {
    set_options(train_option_table(), options, {{"colour", true}});
  });
}

TEST(OptionTable, ReadsText) {
  EXPECT_EQ(std::get<double>(parsed(train_row("step_size"), "+1e-3")), 1e-3);
  EXPECT_EQ(std::get<std::uint64_t>(parsed(train_row("burn_in"), "5")), 5U);
  EXPECT_EQ(std::get<std::string>(parsed(train_row("burn_in"), "auto")), "auto");
  EXPECT_EQ(fault_in(train_row("epochs"), "1.5"),
            "expected a whole number of at least 0, found '1.5'");
  EXPECT_EQ(fault_in(train_row("epochs"), ""), "expected a whole number of at least 0, found ''");
  EXPECT_EQ(fault_in(train_row("epochs"), "15"), "");
}

TEST(OptionTable, ReadsSizes) {
  const auto bytes = [](std::string_view text) {
    return std::get<std::uint64_t>(parsed(train_row("memory"), text));
  };
  EXPECT_EQ(bytes("0"), 0U);
  EXPECT_EQ(bytes("1536"), 1536U);
  EXPECT_EQ(bytes("3K"), 3072U);
  EXPECT_EQ(bytes("512M"), std::uint64_t{512} << 20);
  EXPECT_EQ(bytes("2G"), std::uint64_t{2} << 30);
  EXPECT_EQ(bytes("17179869183G"), std::uint64_t{17179869183} << 30);
  for (const char* text : {"", "M", "512MB", "512m", "1.5G", "-1", "17179869184G", "0x10", "1 G"})
    EXPECT_EQ(fault_in(train_row("memory"), text),
              fmt::format("expected a number of bytes such as 512M or 2G (0: no limit), found '{}'",
                          text));
}

TEST(OptionTable, MemoryIsInNoFile) {
  TrainOptions options;
  set_options(train_option_table(), options, {{"memory", std::string("1G")}});
  EXPECT_EQ(options.memory, std::size_t{1} << 30);
  EXPECT_EQ(to_json(options).dump(), to_json(TrainOptions{}).dump());
  ClassifierOptions classifier;
  set_options(classifier_option_table(), classifier, {{"memory", std::uint64_t{1000}}});
  EXPECT_EQ(classifier.train.memory, 1000U);
  EXPECT_EQ(to_json(classifier).dump(), to_json(ClassifierOptions{}).dump());
}

TEST(OptionTable, GivenOptionsAreOnTopOfARecipe) {
  const TrainOptions em =
      recipe({{"learner", std::string("em")}, {"restarts", std::uint64_t{3}}}, "default", 2);
  EXPECT_EQ(em.epochs, 600U);
  EXPECT_EQ(em.restarts, 3U);
  expect_error(ErrorCode::kUsage, "average cannot be combined with retraction literal", [] {
    (void)recipe({{"retraction", std::string("literal")}, {"average", 0.5}}, "default", 2);
  });
  expect_error(ErrorCode::kUsage, "retraction literal applies to ns-ris, not to cosm", [] {
    (void)recipe({{"retraction", std::string("literal")}, {"learner", std::string("cosm")}},
                 "default", 2);
  });
}

}  // namespace
}  // namespace hqmm::detail::testing

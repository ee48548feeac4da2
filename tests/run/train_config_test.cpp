// What is said of a classifier's options.
#include "hqmm/run/train_config.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace hqmm::detail::testing {
namespace {

TEST(TrainConfig, ClassifierOptionsCarryNoPath) {
  ClassifierOptions options;
  options.positions.kind = PositionPlan::Kind::kMap;
  options.positions.file = "/somewhere/secret";
  options.positions.map = {0, 1};
  const std::string text = to_json(options).dump();
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_NE(text.find("\"position_map\":[0,1]"), std::string::npos);
}

}  // namespace
}  // namespace hqmm::detail::testing

// JSON from outside: how deep, how large, and where it goes wrong.
#include "hqmm/io/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::expect_error;

std::string nested_lists(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonText, DepthIsBounded) {
  EXPECT_TRUE(parse_json(nested_lists(kDeepestJson)).is_array());
  for (const std::size_t depth : {kDeepestJson + 1, std::size_t{65'000}, std::size_t{2'000'000}}) {
    expect_error(ErrorCode::kBadData, "x.json: byte 100: the JSON is nested deeper than 100 levels",
                 [&] { (void)parse_json(nested_lists(depth), Where{.file = "x.json"}); });
    EXPECT_TRUE(parse_json_or_discard(nested_lists(depth)).is_discarded());
  }
  // Never closed: as deep while it lasts.
  EXPECT_TRUE(parse_json_or_discard(std::string(65'000, '{')).is_discarded());
}

TEST(JsonText, BracketsInsideStringsAreNoDepth) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(parse_json("\"" + brackets + "\""), brackets);
  EXPECT_EQ(parse_json(R"(["\"\\", ")" + brackets + "\"]")[1], brackets);
  EXPECT_TRUE(parse_json_or_discard("\"" + brackets).is_discarded());
  EXPECT_TRUE(parse_json_or_discard(R"("a""b)" + brackets).is_discarded());
}

TEST(JsonText, ManyValuesBesideEachOtherAreNoDepth) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[],";
  EXPECT_EQ(parse_json(text + "0]").size(), 1001U);
}

TEST(JsonText, NumbersBeyondDoublesAreNamedByTheirByte) {
  expect_error(ErrorCode::kBadData, "byte 14: the number is too large for a double",
               [] { (void)parse_json(R"(["1e999", 1.5,1e999])"); });
  EXPECT_TRUE(parse_json_or_discard("[-1e400]").is_discarded());
  EXPECT_EQ(parse_json("1e-999"), 0.0);
}

TEST(JsonText, BadSyntaxIsNamedByItsByte) {
  expect_error(ErrorCode::kBadData, "is not valid JSON", [] { (void)parse_json("[1,"); });
  expect_error(ErrorCode::kBadData, "byte 2: is not valid JSON", [] { (void)parse_json("[x]"); });
  expect_error(ErrorCode::kBadData, "is not valid JSON", [] { (void)parse_json(""); });
}

TEST(JsonText, TokensThatAreNoUtf8AreNamed) {
  EXPECT_TRUE(is_utf8("caf\xC3\xA9"));
  EXPECT_FALSE(is_utf8("caf\xE9"));
  EXPECT_NO_THROW(require_utf8({"a", "caf\xC3\xA9"}, "write .h5"));
  expect_error(ErrorCode::kBadData, R"(the token 'caf\xe9' is not UTF-8, which JSON cannot hold: )",
               [] {
                 require_utf8({"a", "caf\xE9"}, "write .h5");
               });
}

}  // namespace
}  // namespace hqmm::detail

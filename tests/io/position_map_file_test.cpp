#include "hqmm/io/position_map_file.hpp"

#include "hqmm/io/atomic_file.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

TEST(PositionMapFile, NumbersBetweenBlanksAndCommas) {
  const TemporaryFolder folder;
  write_file(folder.file("map"), "0 0,1\t2\r\n\n7");
  EXPECT_EQ(read_position_map(folder.file("map")), (std::vector<std::uint32_t>{0, 0, 1, 2, 7}));
}

TEST(PositionMapFile, AnythingElseIsNamed) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text, ErrorCode code, std::string_view says) {
    if (!text.empty()) write_file(folder.file("map"), text);
    expect_error(code, says, [&] { static_cast<void>(read_position_map(folder.file("map"))); });
  };
  refused("", ErrorCode::kNoInput, "map");
  refused("0 1 x", ErrorCode::kBadData, "expected the number of a set");
  refused("0 -1", ErrorCode::kBadData, "expected the number of a set");
  refused("99999999999", ErrorCode::kBadData, "expected the number of a set");
  refused(" \n", ErrorCode::kBadData, "the map is empty");
}

}  // namespace
}  // namespace hqmm::detail::testing

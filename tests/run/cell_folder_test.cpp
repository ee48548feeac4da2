// Finished cells: kept whole, sealed, and those of a classifier with their posteriors.
#include "hqmm/run/cell_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "hqmm/core/error.hpp"
#include "hqmm/run/fold_cells.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::contents;
using testing::expect_error;
using testing::TemporaryFolder;

TEST(CellFolder, GivesBackWhatWasKept) {
  const TemporaryFolder folder;
  const CellFolder cells(folder.file("cells"));
  const auto nothing = [](const nlohmann::json&) { FAIL() << "there is none"; };
  EXPECT_FALSE(cells.find("a", nothing));
  cells.make();
  cells.keep("a", {{"x", 0.1}, {"list", {1, 2}}});
  nlohmann::json found;
  EXPECT_TRUE(cells.find("a", [&](const nlohmann::json& cell) { found = cell; }));
  EXPECT_EQ(found.at("x"), 0.1);
}

TEST(CellFolder, NoticesEveryFlippedBit) {
  const TemporaryFolder folder;
  std::size_t damaged = 0;
  const CellFolder cells(folder.file("cells"), [&](const std::string&) { ++damaged; });
  cells.make();
  cells.keep("a", {{"x", 0.125}, {"y", "text"}});
  const std::string whole = contents(folder.file("cells/a.json"));
  std::size_t found = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    static_cast<void>(folder.write("cells/a.json", flipped));
    found += cells.find("a", [](const nlohmann::json& cell) {
      // A blank may become another one, and a cell without its seal is one of long ago.
      EXPECT_EQ(cell.at("x"), 0.125);
      EXPECT_EQ(cell.at("y"), "text");
    });
  }
  EXPECT_EQ(found + damaged, 8 * whole.size());
  EXPECT_GT(damaged, 7 * whole.size());
}

TEST(CellFolder, WritesThroughNoLink) {
  const TemporaryFolder folder;
  const CellFolder cells(folder.file("cells"));
  cells.make();
  std::filesystem::create_symlink(folder.file("elsewhere"), folder.file("cells/a.json"));
  expect_error(ErrorCode::kUsage, "is a link", [&] { cells.keep("a", {{"x", 1}}); });
  EXPECT_FALSE(std::filesystem::exists(folder.file("elsewhere")));
}

TEST(FoldCells, KeepsPosteriorsToTheBit) {
  const TemporaryFolder folder;
  const RunDirectory run = RunDirectory::create(folder.file("run"), R"({"a": 1})");
  FoldCell cell;
  cell.posteriors = Posteriors(1, 3);
  cell.posteriors.row(0)[0] = -0.1;
  cell.posteriors.row(0)[1] = -std::numeric_limits<double>::infinity();
  cell.posteriors.row(0)[2] = -std::numeric_limits<double>::denorm_min();
  {
    FoldCells cells(run);
    cells.with_cells({}).keep_cell("fold0", cell);
  }
  FoldCells cells(run);
  EXPECT_EQ(cells.found(), 1U);
  const auto found = cells.with_cells({}).find_cell("fold0");
  ASSERT_TRUE(found);
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_EQ(found->posteriors.row(0)[c], cell.posteriors.row(0)[c]);
  EXPECT_FALSE(found->classifier);
  const RunDirectory other = RunDirectory::create(folder.file("other"), R"({"a": 2})");
  std::filesystem::copy(folder.file("run/cells"), folder.file("other/cells"));
  std::string damaged;
  FoldCells foreign(other, [&](const std::string& file) { damaged = file; });
  EXPECT_FALSE(foreign.with_cells({}).find_cell("fold0")) << "of another run";
  EXPECT_EQ(damaged, folder.file("other/cells/fold0.json"));
}

}  // namespace
}  // namespace hqmm::detail

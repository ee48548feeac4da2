// A run under way: one process at a time, and a folder that the others leave as it is.
#include "hqmm/run/active_run.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/io/descriptor.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::contents;
using testing::expect_error;
using testing::TemporaryFolder;

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out[entry.path().filename().string()] = contents(entry.path());
  return out;
}

TEST(ActiveRun, LeavesNothingOfARunThatNeverBegan) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run");
  { const ActiveRun run(path, "{}"); }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::create_directory(path);
  { const ActiveRun run(path, "{}"); }
  EXPECT_TRUE(std::filesystem::is_empty(path)) << "a folder that was there stays";
}

TEST(ActiveRun, IsTheOnlyOneAndTheOthersChangeNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run");
  {
    ActiveRun run(path, R"({"a": 1})");
    run.mark_begun();
    static_cast<void>(folder.write("run/summary.json", "{}"));
    static_cast<void>(folder.write("run/.hqmm-1-1.tmp", "half"));
    const auto before = files_of(path);
    expect_error(ErrorCode::kUsage, "another hqmm is training", [&] { ActiveRun second(path); });
    expect_error(ErrorCode::kUsage, "another hqmm is training",
                 [&] { ActiveRun second(path, R"({"a": 2})"); });
    EXPECT_EQ(files_of(path), before);
  }
  EXPECT_TRUE(is_run_directory(path));
  EXPECT_FALSE(std::filesystem::exists(folder.file("run/.lock")));
  expect_error(ErrorCode::kUsage, "holds a run already", [&] { ActiveRun second(path, "{}"); });
  EXPECT_EQ(contents(folder.file("run/config.json")), "{\n  \"a\": 1\n}\n");
}

TEST(ActiveRun, IsLockedBeforeItsConfigurationIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run");
  std::filesystem::create_directory(path);
  const Descriptor other(::open(folder.file("run/.lock").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  expect_error(ErrorCode::kUsage, "another hqmm is training", [&] { ActiveRun run(path, "{}"); });
  EXPECT_EQ(files_of(path).size(), 1U);
  static_cast<void>(folder.write("run/config.json", "half of a conf"));
  expect_error(ErrorCode::kUsage, "another hqmm is training", [&] { ActiveRun run(path); });
}

TEST(ActiveRun, GoesOnAfterAKill) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run");
  std::filesystem::create_directory(path);
  static_cast<void>(folder.write("run/.lock", ""));  // the process is gone, and its lock with it
  {
    ActiveRun run(path, "{}");
    run.mark_begun();
  }
  const ActiveRun again(path);
  EXPECT_EQ(again.directory().config(), "{}\n");
}

TEST(ActiveRun, FoldersThatAreNoRunAreNotTouched) {
  const TemporaryFolder folder;
  expect_error(ErrorCode::kNoInput, "is not a run directory",
               [&] { ActiveRun run(folder.path().string()); });
  expect_error(ErrorCode::kNoInput, "is not a run directory",
               [&] { ActiveRun run(folder.file("none")); });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ActiveRun, WritesThroughNoLink) {
  const TemporaryFolder folder;
  const std::string mine = folder.write("mine", "precious");
  for (const char* name : {"history.jsonl", "checkpoint.h5", "model.h5", "summary.json", ".lock"}) {
    const std::string path = folder.file(std::string("run-") + name);
    std::filesystem::create_directory(path);
    std::ofstream(path + "/config.json") << "{}";
    std::filesystem::create_symlink(mine, path + "/" + name);
    EXPECT_THROW(ActiveRun run(path), Error) << name;
    std::filesystem::remove(path + "/config.json");
    EXPECT_THROW(ActiveRun run(path, "{}"), Error) << name;
    EXPECT_TRUE(std::filesystem::is_symlink(path + "/" + name));
  }
  std::filesystem::create_directory(folder.file("run"));
  std::filesystem::create_symlink(folder.file("elsewhere"), folder.file("run/config.json"));
  expect_error(ErrorCode::kUsage, "is a link", [&] { ActiveRun run(folder.file("run"), "{}"); });
  EXPECT_EQ(contents(mine), "precious");
  EXPECT_FALSE(std::filesystem::exists(folder.file("elsewhere")));
}

/// Runs that never begin take their folder away, over and over, while others want it.
TEST(ActiveRun, IsTheOnlyOneWhileFoldersComeAndGo) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run");
  std::atomic<int> inside = 0;
  std::atomic<int> entered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        try {
          const ActiveRun run(path, "{}");
          EXPECT_EQ(++inside, 1);
          EXPECT_EQ(contents(path + "/config.json"), "{}\n");
          ++entered;
          --inside;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kUsage) << error.what();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(entered, 0);
  EXPECT_FALSE(std::filesystem::exists(path + "/config.json"));
}

}  // namespace
}  // namespace hqmm::detail

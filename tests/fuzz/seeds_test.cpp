// The targets of fuzzing on their seeds and on what once crashed them: a target that aborts ends
// the test.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "fuzz/target.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

namespace fs = std::filesystem;

void run_on_files(const fuzz::Target& target, const fs::path& folder) {
  if (!fs::exists(folder)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    const std::string bytes = testing::contents(entry.path());
    EXPECT_NO_THROW(target.run(bytes));
  }
}

TEST(Fuzz, SeedsAndEarlierCrashesAreReadOrRefused) {
  // The command line answers --help on stdout and a wrong word on stderr.
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  for (const fuzz::Target& target : fuzz::targets()) {
    SCOPED_TRACE(std::string(target.name));
    run_on_files(target, testing::source_dir() / "fuzz/seeds" / target.name);
    run_on_files(target, testing::corpus("crashes") / target.name);
  }
  const std::string said =
      ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
  if (HasFailure()) std::cout << said;
}

TEST(Fuzz, EveryFolderOfFilesBelongsToATarget) {
  for (const fs::path& parent :
       {testing::source_dir() / "fuzz/seeds", testing::corpus("crashes")}) {
    if (!fs::exists(parent)) continue;
    for (const auto& entry : fs::directory_iterator(parent))
      EXPECT_NE(fuzz::find_target(entry.path().filename().string()), nullptr) << entry.path();
  }
}

}  // namespace
}  // namespace hqmm::detail

#include "hqmm/io/growing_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "hqmm/core/error.hpp"
#include "hqmm/io/descriptor.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

class GrowingLog : public ::testing::Test {
 protected:
  void append(const std::string& text) const {
    std::ofstream(path_, std::ios::app | std::ios::binary) << text;
  }
  static std::string rest(GrowingFile& file) {
    std::string out;
    std::array<char, 3> buffer{};
    while (const std::size_t size = file.read(buffer)) out.append(buffer.data(), size);
    return out;
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("log");
};

TEST_F(GrowingLog, GivesWhatIsAppended) {
  append("a b ");
  GrowingFile file(path_);
  EXPECT_TRUE(file.grows());
  EXPECT_EQ(rest(file), "a b ");
  EXPECT_FALSE(file.start_over());
  append("c");
  append(" d ");
  EXPECT_EQ(rest(file), "c d ");
  EXPECT_FALSE(file.start_over());
}

TEST_F(GrowingLog, StartsOverWhereItIsCutOff) {
  append("a b c ");
  GrowingFile file(path_);
  EXPECT_EQ(rest(file), "a b c ");
  std::filesystem::resize_file(path_, 0);
  append("x ");
  EXPECT_EQ(rest(file), "");
  EXPECT_TRUE(file.start_over());
  EXPECT_EQ(rest(file), "x ");
  EXPECT_FALSE(file.start_over());
}

TEST_F(GrowingLog, GoesOnWithTheFileThatHasItsNameNow) {
  append("a ");
  GrowingFile file(path_);
  std::filesystem::rename(path_, path_ + ".1");
  EXPECT_FALSE(file.start_over()) << "there is none yet";
  append("x ");
  EXPECT_EQ(rest(file), "a ") << "the rest of the old one comes first";
  EXPECT_TRUE(file.start_over());
  EXPECT_EQ(rest(file), "x ");
}

TEST_F(GrowingLog, APipeEnds) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  ASSERT_EQ(write_all(writer.get(), "a b"), 0);
  static_cast<void>(writer.close());
  GrowingFile file("/proc/self/fd/" + std::to_string(reader.get()));
  EXPECT_FALSE(file.grows());
  EXPECT_EQ(rest(file), "a b");
  EXPECT_FALSE(file.start_over());
}

TEST_F(GrowingLog, WhatIsNotThereOrAFolderIsAnError) {
  testing::expect_error(ErrorCode::kNoInput, "no such file", [&] { GrowingFile file(path_); });
  testing::expect_error(ErrorCode::kNoInput, "directory", [] { GrowingFile file("/"); });
}

}  // namespace
}  // namespace hqmm::detail

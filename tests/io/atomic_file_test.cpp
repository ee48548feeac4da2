#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <thread>

#include "hqmm/core/error.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/atomic_stream.hpp"
#include "hqmm/io/descriptor.hpp"
#include "hqmm/io/temporary_file.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

namespace fs = std::filesystem;
using testing::contents;
using testing::expect_error;
using testing::TemporaryFolder;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(AtomicFile, WritesAndReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_file(path, "first");
  EXPECT_EQ(contents(path), "first");
  write_file(path, std::string("sec\0nd", 6));
  EXPECT_EQ(contents(path), std::string("sec\0nd", 6));
  write_file(path, "");
  EXPECT_EQ(contents(path), "");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicFile, KeepsPermissionsAndHonoursTheUmask) {
  const TemporaryFolder folder;
  const std::string kept = folder.write("kept", "old");
  fs::permissions(kept, fs::perms(0640));
  write_file(kept, "new");
  EXPECT_EQ(fs::status(kept).permissions(), fs::perms(0640));
  const mode_t before = ::umask(027);
  write_file(folder.file("fresh"), "new");
  ::umask(before);
  EXPECT_EQ(fs::status(folder.file("fresh")).permissions(), fs::perms(0640));
}

TEST(AtomicFile, ReplacesWhatALinkPointsAt) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "sub");
  const std::string target = folder.write("sub/target", "old");
  fs::create_symlink("sub/target", folder.file("link"));
  write_file(folder.file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(contents(target), "new");

  fs::create_symlink("sub/later", folder.file("dangling"));
  write_file(folder.file("dangling"), "made");
  EXPECT_EQ(contents(folder.path() / "sub" / "later"), "made");

  fs::create_symlink("loop", folder.file("loop"));
  expect_error(ErrorCode::kCannotWrite, "cannot be written",
               [&] { write_file(folder.file("loop"), "x"); });
}

TEST(AtomicFile, SaysWhyItCannotWrite) {
  const TemporaryFolder folder;
  expect_error(ErrorCode::kCannotWrite, "No such file or directory",
               [&] { write_file(folder.file("missing/model.h5"), "x"); });
  expect_error(ErrorCode::kCannotWrite, "Is a directory",
               [&] { write_file(folder.path().string(), "x"); });
  expect_error(ErrorCode::kCannotWrite, "cannot be written", [] { write_file("", "x"); });
  const std::string file = folder.write("file", "x");
  expect_error(ErrorCode::kCannotWrite, "Not a directory", [&] { write_file(file + "/x", "x"); });
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicFile, LeavesReadOnlyFilesAndFoldersAlone) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root may write anywhere";
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "old");
  fs::permissions(file, fs::perms(0444));
  expect_error(ErrorCode::kCannotWrite, "Permission denied", [&] { write_file(file, "new"); });
  EXPECT_EQ(contents(file), "old");
  fs::permissions(folder.path(), fs::perms(0555));
  expect_error(ErrorCode::kCannotWrite, "Permission denied",
               [&] { write_file(folder.file("other"), "new"); });
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST(AtomicFile, WritesDevicesAndPipesDirectly) {
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (fs::exists("/dev/full")) {
    expect_error(ErrorCode::kCannotWrite, "No space left on device",
                 [] { write_file("/dev/full", "x"); });
  }
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = contents(pipe); });
  write_file(pipe, "through the pipe");
  reader.join();
  EXPECT_EQ(got, "through the pipe");
}

TEST(AtomicStream, LeavesTheOldFileUntilItIsFinished) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "old");
  {
    AtomicStream abandoned(path);
    abandoned.write("half");
    EXPECT_EQ(contents(abandoned.temporary_path()), "half");
    EXPECT_EQ(contents(path), "old");
  }
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
  AtomicStream stream(path);
  for (const char* piece : {"a", "", "bc"}) stream.write(piece);
  stream.finish();
  EXPECT_EQ(contents(path), "abc");
  EXPECT_TRUE(stream.temporary_path().empty());
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicStream, GoesToDevicesDirectly) {
  AtomicStream stream("/dev/null");
  stream.write("x");
  EXPECT_TRUE(stream.temporary_path().empty());
  EXPECT_FALSE(stream.is_terminal());
  stream.finish();
}

TEST(AtomicFile, ReplacesRegularFilesBelowDev) {
  std::string name = "/dev/shm/hqmm-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) GTEST_SKIP() << "skipped: no /dev/shm to write to";
  const fs::path folder = name;
  write_file(folder / "model.h5", "the first, which is longer");
  write_file(folder / "model.h5", "second");
  EXPECT_EQ(contents(folder / "model.h5"), "second");
  fs::create_symlink("model.h5", folder / "link");
  write_file(folder / "link", "third");
  EXPECT_EQ(contents(folder / "model.h5"), "third");
  EXPECT_EQ(files_in(folder), 2U);
  fs::remove_all(folder);
}

TEST(AtomicFile, AppendsToOpenFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", "before ");
  const Descriptor open_file(::open(path.c_str(), O_WRONLY | O_APPEND));
  const std::string number = std::to_string(open_file.get());
  fs::create_symlink("/dev/fd/" + number, folder.file("link"));
  write_file("/proc/self/fd/" + number, "a");
  write_file("/dev/fd/" + number, "b");
  write_file(folder.file("link"), "c");
  EXPECT_EQ(contents(path), "before abc");
  ASSERT_EQ(::write(open_file.get(), "d", 1), 1) << "it is still the file that was opened";
  EXPECT_EQ(contents(path), "before abcd");
  // A folder in /proc is a folder like any other.
  const Descriptor here(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  write_file("/proc/self/fd/" + std::to_string(here.get()) + "/file", "new");
  EXPECT_EQ(contents(path), "new");
}

TEST(AtomicFile, ClearsAwayWhatAKillLeft) {
  const TemporaryFolder folder;
  static_cast<void>(folder.write(".hqmm-1-0.tmp", "half of a mod"));
  static_cast<void>(folder.write(".hqmm-99999999-7.tmp", ""));
  static_cast<void>(folder.write(".hqmm-mine.txt", "not such a file"));
  static_cast<void>(folder.write("hqmm-1-0.tmp", "nor this"));
  write_file(folder.file("model.h5"), "whole");
  EXPECT_EQ(files_in(folder.path()), 3U);
  EXPECT_EQ(contents(folder.file("model.h5")), "whole");
}

TEST(AtomicFile, ClearsAwayNothingElse) {
  const TemporaryFolder folder;
  const std::string target = folder.write("target", "kept");
  fs::create_symlink(target, folder.file(".hqmm-1-0.tmp"));
  fs::create_directory(folder.file(".hqmm-1-1.tmp"));
  ASSERT_EQ(::mkfifo(folder.file(".hqmm-1-2.tmp").c_str(), 0600), 0);
  const std::string living = folder.write(".hqmm-1-3.tmp", "being written");
  const Descriptor writer(::open(living.c_str(), O_WRONLY));
  ASSERT_EQ(::flock(writer.get(), LOCK_EX | LOCK_NB), 0);
  write_file(folder.file("model.h5"), "whole");
  EXPECT_EQ(files_in(folder.path()), 6U);
  EXPECT_EQ(contents(living), "being written");
  EXPECT_EQ(contents(target), "kept");
}

TEST(AtomicFile, KeepsItsOwnFileUntilItHasItsName) {
  const TemporaryFolder folder;
  TemporaryFile temporary(folder.path(), "model.h5", nullptr);
  remove_leftovers(folder.path());
  temporary.write("whole");
  temporary.seal();
  remove_leftovers(folder.path());
  temporary.move_to(folder.path() / "model.h5");
  EXPECT_EQ(contents(folder.file("model.h5")), "whole");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicFile, WritersOfOneFolderDoNotDisturbEachOther) {
  const TemporaryFolder folder;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, path = folder.file(std::to_string(writer))] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_NO_THROW(write_file(path, std::to_string(round)));
        EXPECT_EQ(contents(path), std::to_string(round));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(files_in(folder.path()), 4U);
}

}  // namespace
}  // namespace hqmm::detail

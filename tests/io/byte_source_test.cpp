#include <fcntl.h>

#include "hqmm/core/error.hpp"
#include "hqmm/io/byte_source.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm {
namespace {

using testing::corpus;
using testing::expect_error;
using testing::TemporaryFolder;

TEST(ByteSource, ReadsPlainAndPackedFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_all(folder.write("plain", "0 1 2\n")), "0 1 2\n");
  EXPECT_EQ(read_all(folder.write("empty", "")), "");
  EXPECT_EQ(read_all(folder.write("one", "\x1F")), "\x1F");
  EXPECT_EQ(read_all(corpus("good/two_members.txt.gz")), "0 1 2 1\n2 2 0 1\n");
  EXPECT_EQ(read_all(corpus("odd/zero_padded.txt.gz")), "0 1 2 1\n2 2 0 1\n");
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(read_all(folder.write("large", large)), large);
}

TEST(ByteSource, GivesPackedBytesInPiecesOfAnySize) {
  ByteSource source(corpus("good/two_members.txt.gz"));
  std::string out;
  char byte = 0;
  while (source.read({&byte, 1}) == 1) out += byte;
  EXPECT_EQ(out, "0 1 2 1\n2 2 0 1\n");
  EXPECT_EQ(source.read({&byte, 1}), 0U);
}

TEST(ByteSource, SaysWhyItCannotRead) {
  const TemporaryFolder folder;
  expect_error(ErrorCode::kNoInput, "no such file", [&] { read_all(folder.file("missing")); });
  expect_error(ErrorCode::kNoInput, "is a directory", [&] { read_all(folder.path().string()); });
  expect_error(ErrorCode::kNoInput, "cannot be opened",
               [&] { read_all(folder.write("file", "x") + "/x"); });
  expect_error(ErrorCode::kBadData, "gzip stream is truncated",
               [] { read_all(corpus("bad/truncated.txt.gz")); });
  expect_error(ErrorCode::kBadData, "gzip stream is damaged",
               [] { read_all(corpus("bad/flipped.txt.gz")); });
}

/// Puts the read end of a pipe in stdin's place.
class StdinPipe {
 public:
  StdinPipe() : saved_(::dup(STDIN_FILENO)) {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
    ::dup2(ends_[0], STDIN_FILENO);
    ::close(ends_[0]);
  }
  ~StdinPipe() {
    finish();
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  StdinPipe(const StdinPipe&) = delete;
  StdinPipe& operator=(const StdinPipe&) = delete;
  void write(std::string_view bytes) const {
    ASSERT_EQ(::write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void finish() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int saved_;
  int ends_[2] = {-1, -1};
};

TEST(ByteSource, GivesWhatALiveStreamHasSoFar) {
  StdinPipe pipe;
  ByteSource source("-");
  std::string buffer(1 << 16, '\0');
  pipe.write("0");
  ASSERT_EQ(source.read(buffer), 1U);  // would hang if it waited for more
  pipe.write("1 2\n");
  ASSERT_EQ(source.read(buffer), 4U);
  pipe.finish();
  EXPECT_EQ(source.read(buffer), 0U);
}

TEST(ByteSource, UnpacksALiveStreamAsItComes) {
  const std::string packed = testing::contents(corpus("good/two_members.txt.gz"));
  StdinPipe pipe;
  ByteSource source("-");
  std::string buffer(1 << 16, '\0');
  pipe.write(packed.substr(0, packed.size() / 2));  // the first member and no more
  EXPECT_EQ(source.read(buffer), 8U);
  pipe.write(packed.substr(packed.size() / 2));
  pipe.finish();
  EXPECT_EQ(source.read(buffer), 8U);
  EXPECT_EQ(source.read(buffer), 0U);
}

}  // namespace
}  // namespace hqmm

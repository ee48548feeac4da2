#include <fcntl.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "hqmm/core/error.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/unpacker.hpp"
#include "support/files.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
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
  for (const auto& [packing, ending] : std::initializer_list<std::pair<const char*, const char*>>{
           {"gzip", "gz"}, {"xz", "xz"}, {"bzip2", "bz2"}, {"zstd", "zst"}}) {
    if (!can_unpack(packing)) continue;
    SCOPED_TRACE(packing);
    ByteSource source(corpus(std::string("good/two_members.txt.") + ending));
    std::string out;
    char byte = 0;
    while (source.read({&byte, 1}) == 1) out += byte;
    EXPECT_EQ(out, "0 1 2 1\n2 2 0 1\n");
    EXPECT_EQ(source.read({&byte, 1}), 0U);
  }
}

TEST(ByteSource, TellsPackingsByTheirFirstBytesAlone) {
  EXPECT_EQ(packing_of("0 1 2\n"), nullptr);
  EXPECT_EQ(packing_of("BZh9 1AY&SY"), nullptr);
  EXPECT_EQ(packing_of("BZh91AY&SY")->name, "bzip2");
  EXPECT_EQ(packing_of(std::string_view("\xFD\x37zXZ\0", 6))->name, "xz");
  EXPECT_EQ(packing_of("\x28\xB5\x2F\xFD")->name, "zstd");
  EXPECT_TRUE(may_be_packed(""));
  EXPECT_TRUE(may_be_packed("BZh9"));
  EXPECT_FALSE(may_be_packed("BZh9 "));
  EXPECT_FALSE(may_be_packed("A"));  // a live stream of letters is not held up
}

TEST(ByteSource, SaysWhichLibraryABuildLacks) {
  Packing packing = *packing_of(std::string_view("\xFD\x37zXZ\0", 6));
  packing.make = nullptr;
  const Error error = cannot_unpack(packing, "x.fa.xz");
  EXPECT_EQ(error.code(), ErrorCode::kNoInput);
  EXPECT_STREQ(error.what(),
               "x.fa.xz: the file is packed by xz, but this hqmm was built without "
               "liblzma: unpack it first, or use gzip");
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
}  // namespace hqmm::detail

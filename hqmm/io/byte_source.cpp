// Plain bytes go from read(2) straight into the caller's buffer; gzip goes through an own inflate
// loop rather than gzread, which waits for a full buffer and so stalls a live stream.
#include "hqmm/io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "hqmm/io/place.hpp"

namespace hqmm {
namespace {

constexpr std::size_t kCompressedBlock = 256 * 1024;
constexpr unsigned char kGzipMagic[2] = {0x1F, 0x8B};
constexpr std::uint64_t kAlwaysUnpacked = 64 << 20;  // whatever it was packed to
constexpr int kGzipWindow = 15 + 16;                 // zlib's way to say: gzip header and trailer

int open_input(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) return fd;
  const int reason = errno;
  if (reason == ENOENT) throw fail(ErrorCode::kNoInput, in_file(path), "no such file");
  throw fail(ErrorCode::kNoInput, in_file(path), "cannot be opened: {}", std::strerror(reason));
}

}  // namespace

struct ByteSource::State {
  int fd = -1;
  bool owned = false;
  bool started = false;  // the first bytes have been looked at
  bool gzip = false;
  bool at_end = false;       // read(2) has returned 0
  bool member_open = false;  // inside a gzip member
  bool any_member = false;   // a gzip member has been unpacked
  std::vector<char> block;   // raw bytes not handed out yet: the first few, or compressed ones
  std::size_t begin = 0, end = 0;
  z_stream inflater{};
  bool inflater_ready = false;
  std::optional<double> max_ratio;
  std::uint64_t packed = 0, unpacked = 0;  // bytes of gzip so far

  ~State() {
    if (inflater_ready) inflateEnd(&inflater);
    if (owned) ::close(fd);
  }
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] std::size_t available() const { return end - begin; }
};

namespace {

std::size_t read_raw(int fd, const std::string& name, char* to, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(fd, to, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR) continue;
    throw fail(ErrorCode::kNoInput, in_file(name), "cannot be read: {}", std::strerror(errno));
  }
}

}  // namespace

ByteSource::ByteSource(const std::string& path, std::optional<double> max_ratio)
    : name_(path), state_(std::make_unique<State>()) {
  state_->max_ratio = max_ratio;
  state_->fd = open_input(path);
  state_->owned = path != "-";
  struct stat status {};
  if (::fstat(state_->fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    throw fail(ErrorCode::kNoInput, in_file(path), "is a directory, not a file");
  }
}

ByteSource::~ByteSource() = default;

void ByteSource::look_at_start() {
  State& s = *state_;
  s.started = true;
  s.block.resize(kCompressedBlock);
  // One byte settles it unless it is the first of the magic: a live stream is not held up.
  do {
    const std::size_t got = read_raw(s.fd, name_, s.block.data() + s.end, s.block.size() - s.end);
    s.end += got;
    s.at_end = got == 0;
  } while (!s.at_end && s.end < 2 && static_cast<unsigned char>(s.block[0]) == kGzipMagic[0]);
  s.gzip = s.end >= 2 && std::memcmp(s.block.data(), kGzipMagic, 2) == 0;
  if (!s.gzip) return;
  if (inflateInit2(&s.inflater, kGzipWindow) != Z_OK) throw std::bad_alloc();
  s.inflater_ready = true;
}

std::size_t ByteSource::read(std::span<char> buffer) {
  State& s = *state_;
  if (buffer.empty()) return 0;
  if (!s.started) look_at_start();
  if (s.gzip) return read_gzip(buffer);
  if (s.available() > 0) {
    const std::size_t count = std::min(buffer.size(), s.available());
    std::memcpy(buffer.data(), s.block.data() + s.begin, count);
    s.begin += count;
    return count;
  }
  if (s.at_end) return 0;
  const std::size_t got = read_raw(s.fd, name_, buffer.data(), buffer.size());
  s.at_end = got == 0;
  return got;
}

/// At the border between gzip members: true when another one starts, false at the end of the input.
/// Zero bytes there are padding, as tapes and block devices leave it.
bool ByteSource::next_member() {
  State& s = *state_;
  while (s.any_member && s.available() > 0 && s.block[s.begin] == 0) ++s.begin;
  if (s.available() == 0) return !s.at_end;
  if (s.any_member && static_cast<unsigned char>(s.block[s.begin]) != kGzipMagic[0]) {
    throw fail(ErrorCode::kBadData, in_file(name_),
               "the gzip stream is followed by bytes that are not gzip");
  }
  if (s.any_member) inflateReset(&s.inflater);
  s.member_open = true;
  return true;
}

std::size_t ByteSource::read_gzip(std::span<char> buffer) {
  State& s = *state_;
  const auto damaged = [this](const char* what) {
    return fail(ErrorCode::kBadData, in_file(name_), "the gzip stream is {}", what);
  };
  s.inflater.next_out = reinterpret_cast<Bytef*>(buffer.data());
  s.inflater.avail_out = static_cast<uInt>(std::min<std::size_t>(buffer.size(), 1U << 30));
  const uInt room = s.inflater.avail_out;
  while (s.inflater.avail_out == room) {
    if (s.available() == 0 && !s.at_end) {
      s.begin = 0;
      s.end = read_raw(s.fd, name_, s.block.data(), s.block.size());
      s.at_end = s.end == 0;
    }
    if (!s.member_open) {
      if (!next_member()) return 0;
      if (!s.member_open) continue;
    }
    if (s.available() == 0) throw damaged("truncated: the file ends inside it");
    s.inflater.next_in = reinterpret_cast<Bytef*>(s.block.data() + s.begin);
    s.inflater.avail_in = static_cast<uInt>(s.available());
    const int status = inflate(&s.inflater, Z_NO_FLUSH);
    s.packed += s.available() - s.inflater.avail_in;
    s.begin = s.end - s.inflater.avail_in;
    if (status == Z_STREAM_END) {
      s.member_open = false;
      s.any_member = true;
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw damaged("damaged: it cannot be unpacked");
    }
  }
  const std::size_t got = room - s.inflater.avail_out;
  s.unpacked += got;
  const double most = s.max_ratio.value_or(kMaxRatio);
  if (s.unpacked > kAlwaysUnpacked &&
      static_cast<double>(s.unpacked) > most * static_cast<double>(s.packed)) {
    throw fail(ErrorCode::kBadData, in_file(name_),
               "the gzip stream unpacks to more than {:g} times its size; {}", most,
               s.max_ratio ? fmt::format("{} allows more", option("max_ratio"))
                           : "unpack it first if that is right");
  }
  return got;
}

std::string read_all(const std::string& path) {
  ByteSource source(path);
  std::string out;
  std::size_t used = 0;
  for (;;) {
    if (out.size() - used < kCompressedBlock)
      out.resize(std::max(2 * out.size(), kCompressedBlock));
    const std::size_t got = source.read({out.data() + used, out.size() - used});
    if (got == 0) break;
    used += got;
  }
  out.resize(used);
  return out;
}

}  // namespace hqmm

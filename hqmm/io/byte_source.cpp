// Plain bytes go from read(2) straight into the caller's buffer; packed ones through an Unpacker,
// as they come.
#include "hqmm/io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/unpacker.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kCompressedBlock = 256 * 1024;
constexpr std::uint64_t kAlwaysUnpacked = 64 << 20;  // whatever it was packed to

int open_input(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) return fd;
  const int reason = errno;
  if (reason == ENOENT) throw fail(ErrorCode::kNoInput, Where{.file = path}, "no such file");
  throw fail(ErrorCode::kNoInput, Where{.file = path}, "cannot be opened: {}",
             std::strerror(reason));
}

}  // namespace

struct ByteSource::State {
  int fd = -1;
  bool owned = false;
  bool started = false;     // the first bytes have been looked at
  bool at_end = false;      // read(2) has returned 0
  std::vector<char> block;  // raw bytes not handed out yet: the first few, or packed ones
  std::size_t begin = 0, end = 0;

  const Packing* packing = nullptr;    // none: plain bytes
  std::unique_ptr<Unpacker> unpacker;  // of the member that is open
  bool any_member = false;             // one has been unpacked
  bool more_to_give = false;           // perhaps, without more input
  std::optional<double> max_ratio;
  std::uint64_t packed = 0, unpacked = 0;  // bytes so far
  struct stat before {};                   // of the file when it was opened

  ~State() {
    if (owned) ::close(fd);
  }
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] std::size_t available() const { return end - begin; }
  [[nodiscard]] std::string_view head() const { return {block.data() + begin, available()}; }
};

namespace {

/// At the end of a file: half of what was read may be of before the change. What was appended is
/// whole, as a log that grows.
void require_unchanged(int fd, const struct stat& before, const std::string& name) {
  struct stat now {};
  if (!S_ISREG(before.st_mode) || ::fstat(fd, &now) != 0) return;
  if (now.st_size > before.st_size) return;
  if (now.st_size == before.st_size && now.st_mtim.tv_sec == before.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == before.st_mtim.tv_nsec)
    return;
  throw fail(ErrorCode::kNoInput, Where{.file = name}, "has changed while it was read; try again");
}

std::size_t read_raw(int fd, const struct stat& before, const std::string& name, char* to,
                     std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(fd, to, size);
    if (got == 0) require_unchanged(fd, before, name);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR) continue;
    throw fail(ErrorCode::kNoInput, Where{.file = name}, "cannot be read: {}",
               std::strerror(errno));
  }
}

}  // namespace

ByteSource::ByteSource(const std::string& path, std::optional<double> max_ratio)
    : name_(path), state_(std::make_unique<State>()) {
  state_->max_ratio = max_ratio;
  state_->fd = open_input(path);
  state_->owned = path != "-";
  if (::fstat(state_->fd, &state_->before) == 0 && S_ISDIR(state_->before.st_mode)) {
    throw fail(ErrorCode::kNoInput, Where{.file = path}, "is a directory, not a file");
  }
}

ByteSource::~ByteSource() = default;

void ByteSource::look_at_start() {
  State& s = *state_;
  s.started = true;
  s.block.resize(kCompressedBlock);
  // One byte settles it unless it begins a magic: a live stream is not held up.
  do {
    const std::size_t got =
        read_raw(s.fd, s.before, name_, s.block.data() + s.end, s.block.size() - s.end);
    s.end += got;
    s.at_end = got == 0;
  } while (!s.at_end && may_be_packed(s.head()));
  s.packing = packing_of(s.head());
  if (s.packing != nullptr && s.packing->make == nullptr) throw cannot_unpack(*s.packing, name_);
}

std::size_t ByteSource::read(std::span<char> buffer) {
  State& s = *state_;
  if (buffer.empty()) return 0;
  if (!s.started) look_at_start();
  if (s.packing != nullptr) return read_packed(buffer);
  if (s.available() > 0) {
    const std::size_t count = std::min(buffer.size(), s.available());
    std::memcpy(buffer.data(), s.block.data() + s.begin, count);
    s.begin += count;
    return count;
  }
  if (s.at_end) return 0;
  const std::size_t got = read_raw(s.fd, s.before, name_, buffer.data(), buffer.size());
  s.at_end = got == 0;
  return got;
}

/// At the border between members: true when another one is open, false at the end of the input.
/// Zero bytes there are padding, as tapes, block devices and xz itself leave it.
bool ByteSource::next_member() {
  State& s = *state_;
  for (;;) {
    while (s.any_member && s.available() > 0 && s.block[s.begin] == 0) ++s.begin;
    if (s.available() > 0) break;
    if (s.at_end) return false;
    refill();
  }
  if (s.any_member && !s.packing->may_follow(static_cast<unsigned char>(s.block[s.begin]))) {
    throw fail(ErrorCode::kBadData, Where{.file = name_},
               "the {0} stream is followed by bytes that are not {0}", s.packing->name);
  }
  s.unpacker = s.packing->make();
  return true;
}

void ByteSource::refill() {
  State& s = *state_;
  s.begin = 0;
  s.end = read_raw(s.fd, s.before, name_, s.block.data(), s.block.size());
  s.at_end = s.end == 0;
}

std::size_t ByteSource::read_packed(std::span<char> buffer) {
  State& s = *state_;
  std::size_t got = 0;
  while (got == 0) {
    if (!s.unpacker && !next_member()) return 0;
    if (s.available() == 0 && !s.more_to_give) {
      if (!s.at_end) refill();
      if (s.at_end) throw bad_stream("truncated: the file ends inside it");
    }
    const Unpacker::Step step = s.unpacker->step({s.block.data() + s.begin, s.available()}, buffer);
    s.begin += step.taken;
    s.packed += step.taken;
    got = step.given;
    s.more_to_give = got > 0;
    switch (step.state) {
      case Unpacker::State::kGoing:
        break;
      case Unpacker::State::kEnded:
        s.unpacker.reset();
        s.any_member = true;
        s.more_to_give = false;
        break;
      case Unpacker::State::kDamaged:
        throw bad_stream("damaged: it cannot be unpacked");
      case Unpacker::State::kTooLarge:
        throw bad_stream("packed so that it takes more than 256 MiB of memory to unpack");
    }
  }
  s.unpacked += got;
  require_ratio();
  return got;
}

Error ByteSource::bad_stream(std::string_view what) const {
  return fail(ErrorCode::kBadData, Where{.file = name_}, "the {} stream is {}",
              state_->packing->name, what);
}

void ByteSource::require_ratio() const {
  const State& s = *state_;
  const double most = s.max_ratio.value_or(kMaxRatio);
  if (s.unpacked <= kAlwaysUnpacked ||
      static_cast<double>(s.unpacked) <= most * static_cast<double>(s.packed))
    return;
  throw fail(ErrorCode::kBadData, Where{.file = name_},
             "the {} stream unpacks to more than {:g} times its size; {}", s.packing->name, most,
             s.max_ratio ? fmt::format("{} allows more", option("max_ratio"))
                         : "unpack it first if that is intended");
}

Error cannot_unpack(const Packing& packing, const std::string& file) {
  return fail(ErrorCode::kNoInput, Where{.file = file},
              "the file is packed by {}, but this hqmm was built without {}: "
              "unpack it first, or use gzip",
              packing.name, packing.library);
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

}  // namespace hqmm::detail

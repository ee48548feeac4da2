// gzip by zlib's inflate rather than gzread, which waits for a full buffer and so stalls a live
// stream.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "hqmm/io/unpacker.hpp"

namespace hqmm::detail {
namespace {

class GzipUnpacker final : public Unpacker {
 public:
  GzipUnpacker() {
    constexpr int kGzipWindow = 15 + 16;  // zlib's way to say: gzip header and trailer
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~GzipUnpacker() override { inflateEnd(&stream_); }
  GzipUnpacker(const GzipUnpacker&) = delete;
  GzipUnpacker& operator=(const GzipUnpacker&) = delete;

  Step step(std::span<const char> from, std::span<char> to) override {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const auto in = static_cast<uInt>(std::min(from.size(), kMost));
    const auto out = static_cast<uInt>(std::min(to.size(), kMost));
    // zlib does not write there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream_.avail_in = in;
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    const bool good = status == Z_OK || status == Z_BUF_ERROR;
    return {in - stream_.avail_in, out - stream_.avail_out,
            status == Z_STREAM_END ? State::kEnded
            : good                 ? State::kGoing
                                   : State::kDamaged};
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<Unpacker> make_gzip_unpacker() { return std::make_unique<GzipUnpacker>(); }

}  // namespace hqmm::detail

// bzip2 by libbz2.
#include "hqmm/io/unpacker.hpp"

#if HQMM_HAS_BZIP2
#include <bzlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace hqmm::detail {
namespace {

class Bzip2Unpacker final : public Unpacker {
 public:
  Bzip2Unpacker() {
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }
  ~Bzip2Unpacker() override { BZ2_bzDecompressEnd(&stream_); }
  Bzip2Unpacker(const Bzip2Unpacker&) = delete;
  Bzip2Unpacker& operator=(const Bzip2Unpacker&) = delete;

  Step step(std::span<const char> from, std::span<char> to) override {
    constexpr std::size_t kMost = std::numeric_limits<unsigned>::max();
    const auto in = static_cast<unsigned>(std::min(from.size(), kMost));
    const auto out = static_cast<unsigned>(std::min(to.size(), kMost));
    stream_.next_in = const_cast<char*>(from.data());  // libbz2 does not write there
    stream_.avail_in = in;
    stream_.next_out = to.data();
    stream_.avail_out = out;
    const int status = BZ2_bzDecompress(&stream_);
    if (status == BZ_MEM_ERROR) throw std::bad_alloc();
    return {in - stream_.avail_in, out - stream_.avail_out,
            status == BZ_STREAM_END ? State::kEnded
            : status == BZ_OK       ? State::kGoing
                                    : State::kDamaged};
  }

 private:
  bz_stream stream_{};
};

}  // namespace

std::unique_ptr<Unpacker> make_bzip2_unpacker() { return std::make_unique<Bzip2Unpacker>(); }

}  // namespace hqmm::detail
#endif

// xz by liblzma.
#include "hqmm/io/unpacker.hpp"

#if HQMM_HAS_XZ
#include <lzma.h>

#include <new>

namespace hqmm::detail {
namespace {

class XzUnpacker final : public Unpacker {
 public:
  XzUnpacker() {
    if (lzma_stream_decoder(&stream_, kMostMemory, 0) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzUnpacker() override { lzma_end(&stream_); }
  XzUnpacker(const XzUnpacker&) = delete;
  XzUnpacker& operator=(const XzUnpacker&) = delete;

  Step step(std::span<const char> from, std::span<char> to) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
    stream_.avail_in = from.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to.data());
    stream_.avail_out = to.size();
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    Step out{from.size() - stream_.avail_in, to.size() - stream_.avail_out, State::kDamaged};
    if (status == LZMA_STREAM_END) out.state = State::kEnded;
    if (status == LZMA_MEMLIMIT_ERROR) out.state = State::kTooLarge;
    if (status == LZMA_OK || status == LZMA_BUF_ERROR) out.state = State::kGoing;
    return out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Unpacker> make_xz_unpacker() { return std::make_unique<XzUnpacker>(); }

}  // namespace hqmm::detail
#endif

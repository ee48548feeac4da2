// zstd by libzstd.
#include "hqmm/io/unpacker.hpp"

#if HQMM_HAS_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#include <bit>
#include <new>

namespace hqmm::detail {
namespace {

class ZstdUnpacker final : public Unpacker {
 public:
  ZstdUnpacker() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    (void)ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, std::bit_width(kMostMemory) - 1);
  }
  ~ZstdUnpacker() override { ZSTD_freeDCtx(context_); }
  ZstdUnpacker(const ZstdUnpacker&) = delete;
  ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;

  Step step(std::span<const char> from, std::span<char> to) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    const std::size_t status = ZSTD_decompressStream(context_, &out, &in);
    return {in.pos, out.pos, state_of(status)};
  }

 private:
  static State state_of(std::size_t status) {
    if (status == 0) return State::kEnded;
    switch (ZSTD_getErrorCode(status)) {
      case ZSTD_error_no_error:
        return State::kGoing;
      case ZSTD_error_memory_allocation:
        throw std::bad_alloc();
      case ZSTD_error_frameParameter_windowTooLarge:
        return State::kTooLarge;
      default:
        return State::kDamaged;
    }
  }

  ZSTD_DCtx* context_;
};

}  // namespace

std::unique_ptr<Unpacker> make_zstd_unpacker() { return std::make_unique<ZstdUnpacker>(); }

}  // namespace hqmm::detail
#endif

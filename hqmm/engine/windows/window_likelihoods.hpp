// The likelihoods of all windows of long sequences: each one as if it were a sequence by itself.
//
// The numbers are those of fast_log_likelihoods() up to rounding, at a cost of a dozen small
// products a window instead of one per symbol (word_tables.hpp). A model whose tables would not fit
// memory, or that is not trace preserving, is asked window by window.
#pragma once

#include <memory>
#include <span>

#include "hqmm/engine/windows/window_tile.hpp"
#include "hqmm/model/any_model.hpp"

namespace hqmm::detail {

class WindowLikelihoods {
 public:
  /// `window` symbols, one at least. Keeps a reference to the model.
  WindowLikelihoods(const AnyModel& model, std::size_t window, int threads);
  ~WindowLikelihoods();
  WindowLikelihoods(WindowLikelihoods&&) noexcept;
  WindowLikelihoods& operator=(WindowLikelihoods&&) noexcept;
  WindowLikelihoods(const WindowLikelihoods&) = delete;
  WindowLikelihoods& operator=(const WindowLikelihoods&) = delete;

  /// log P of every window of a tile, −∞ where it is impossible. Several threads may ask, each with
  /// a tile of its own. Throws kBadData as a filter does.
  void score(WindowTile& tile, std::span<double> log_likelihoods) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace hqmm::detail

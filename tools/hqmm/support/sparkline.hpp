// A curve of one line of text: ▂▅▇█▆▃.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/internals.hpp"

namespace hqmm::cli {

/// Whether the locale says that its terminals show UTF-8 (LC_ALL, LC_CTYPE or LANG, the first that
/// is set).
[[nodiscard]] bool locale_is_utf8();

/// However many values come, it takes between half of kWidest and kWidest characters: neighbours
/// become their mean.
class Sparkline {
 public:
  static constexpr std::size_t kWidest = 16;

  /// What is not finite is left out.
  void add(double value);
  /// The last `most` characters: the lowest value is ▁, the highest █.
  [[nodiscard]] std::string text(std::size_t most = kWidest) const;

 private:
  struct Bin {
    double sum = 0.0;
    std::size_t count = 0;
  };

  std::vector<Bin> bins_;
  std::size_t stride_ = 1;  // values of a full bin
};

}  // namespace hqmm::cli

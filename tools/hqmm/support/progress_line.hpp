// What a command shows while it works: one line that is replaced, on a terminal only.
#pragma once

#include <cstddef>
#include <string>

#include "support/internals.hpp"

namespace hqmm::cli {

struct CommonOptions;

/// A line on a terminal that takes the place of the one before; nothing in a pipe or when quiet.
class ProgressLine {
 public:
  explicit ProgressLine(const CommonOptions& common);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  [[nodiscard]] bool visible() const { return visible_; }
  /// What a line can hold; very many where the terminal does not say.
  [[nodiscard]] static std::size_t columns();
  void show(std::string line);
  /// Removes the line.
  void clear();

 private:
  bool visible_;
  std::string shown_;  // empty: no line is there
};

}  // namespace hqmm::cli

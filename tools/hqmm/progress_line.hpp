// What a command shows while it works: one line that is replaced, on a terminal only.
#pragma once

#include "command.hpp"

namespace hqmm::cli {

/// A line on a terminal that takes the place of the one before; nothing in a pipe or when quiet.
class ProgressLine {
 public:
  explicit ProgressLine(const CommonOptions& common);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  [[nodiscard]] bool visible() const { return visible_; }
  void show(std::string line);
  /// Removes the line.
  void clear();

 private:
  bool visible_;
  std::string shown_;  // empty: no line is there
};

/// "1:05", "2:00:00"
[[nodiscard]] std::string duration(double seconds);

}  // namespace hqmm::cli

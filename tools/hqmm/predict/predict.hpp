// What the parts of `hqmm predict` share.
#pragma once

#include <cstddef>
#include <string>

#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

struct PredictFlags {
  CommonOptions common;
  DataOptions data;
  std::string model;
  Paths sequences{"-"};
  std::size_t steps = 1;
  bool follow = false;
  bool join_lines = false;
  double alarm = 0.0;      // bits; 0: none
  std::size_t window = 0;  // symbols; 0: not given

  /// What symbols cost, instead of what comes next.
  [[nodiscard]] bool of_surprise() const { return alarm > 0.0 || window > 0; }
  [[nodiscard]] std::size_t window_size() const { return window > 0 ? window : 20; }
};

}  // namespace hqmm::cli

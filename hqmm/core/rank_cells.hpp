// Cells: pieces of work that do not know of each other, handed out over threads and ranks as they
// finish. Each is done by one thread, and what comes of it does not depend on which.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "hqmm/core/ranks.hpp"

namespace hqmm::detail {

struct Cells {
  std::size_t count = 0;
  int threads = 0;  // of rank 0
  /// A cell that rank 0 does itself; from several threads.
  std::function<void(std::size_t)> here;
  /// What another rank sent of a cell; one call at a time, but beside here().
  std::function<void(std::size_t, std::string_view)> take;
  /// No further cell is begun once it says yes; asked from several threads. May be empty.
  std::function<bool()> stop;
};

/// The first cells first. Throws the failure of the lowest cell that failed. Without ranks (null)
/// all cells are done here. `request` goes to the task of that name on the other ranks.
void hand_out(const Cells& cells, Ranks* ranks, const std::string& name = "cells",
              std::string_view request = {});

/// The task for it on another rank: `there` makes the bytes of a cell, on several threads.
[[nodiscard]] RankTask cells_task(
    Ranks& ranks, int threads,
    std::function<std::string(std::size_t, std::string_view request)> there);

}  // namespace hqmm::detail

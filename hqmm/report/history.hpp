// What a run's history.jsonl holds: a line for each epoch of each restart.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hqmm::detail::report {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// NaN where the history has no number.
struct Epoch {
  std::size_t epoch = 0;
  double seconds = kNone;
  double train_bits = kNone, validation_bits = kNone, raw_validation_bits = kNone;
  double train_da = kNone, validation_da = kNone;
  double residual = kNone, gradient = kNone, step = kNone;
};

using Restarts = std::map<std::size_t, std::vector<Epoch>>;

struct History {
  Restarts restarts;
  std::size_t epochs = 0;  // lines
  std::size_t best_restart = 0;
  std::optional<Epoch> best;
  double seconds = 0.0;
};

/// A line that a kill cut short, or that is being written now, is left out. Throws kBadData that
/// names `file` for any other that is not an epoch's.
[[nodiscard]] History parse_history(const std::string& text, const std::string& file);
/// Of a file that need not be there yet.
[[nodiscard]] History read_history(const std::string& file);

/// At most about this many epochs of a restart, fewer of each when there are many restarts: the
/// ends, of each stretch between them the lowest and the highest validation, and the best.
[[nodiscard]] Restarts thinned(const History& history, std::size_t most_epochs);

}  // namespace hqmm::detail::report

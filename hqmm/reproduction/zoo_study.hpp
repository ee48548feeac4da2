// How small a model of each process in the zoo can be: sizes are learned from the smallest on,
// until one comes within a thousandth of a bit of the true model, on held-out data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hqmm/model/zoo.hpp"

namespace hqmm::detail::reproduction {

inline constexpr double kCloseEnough = 1e-3;  // bits per symbol
inline constexpr std::size_t kZooBurnIn = 100;

struct ZooOptions {
  std::uint64_t seed = 1;
  int threads = 0;
  bool quick = false;  // fewer processes and sizes, one start each
};

struct ZooModel {
  Index latent_dim = 0;
  Index kraus_rank = 0;  // 0 of an HMM
  EmissionKind emission = EmissionKind::kEdge;
  std::size_t parameters = 0;
  double excess = 0.0;  // bits per symbol of the test set above those of the true model
};

/// Every size that was learned, in order: the last is close enough, or none is.
struct ZooSearch {
  std::vector<ZooModel> tried;
  [[nodiscard]] const ZooModel* smallest() const;
  /// The one with the least excess.
  [[nodiscard]] const ZooModel& best() const;
};

struct ZooRow {
  const Process* process = nullptr;
  double entropy = 0.0;  // bits per symbol
  bool exact = false;
  double true_bits = 0.0;  // of the true model on the test set
  ZooSearch hqmm, hmm;
};

[[nodiscard]] std::vector<const Process*> zoo_processes(const ZooOptions& options);
/// Studies one process. `told` is called with every model.
[[nodiscard]] ZooRow study_process(const Process& process, const ZooOptions& options,
                                   const std::function<void(const ZooModel&)>& told = {});

}  // namespace hqmm::detail::reproduction

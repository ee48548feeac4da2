// The part of SmallPass that is compiled by nvcc, in terms that need no header of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hqmm/engine/cuda/small_plan.hpp"

namespace hqmm::detail {

/// What came of a sequence.
struct SmallOutcome {
  double log_likelihood = 0.0;
  std::uint32_t scored = 0;
  std::uint32_t failed = 0;  // 1 + the step whose weight was not usable, or 0
};
struct SmallDetail {
  double exponent = 0.0;  // the state is 2^-exponent of what it stands for
  double weight = 1.0;    // of the state looked at last
  double least = 0.0;     // of all states, in the careful mode
  std::uint32_t least_step = 0;
  std::uint32_t suspect = 0;
};

struct SmallInput {
  int rows = 0, traced = 0, stride = 0;
  std::size_t symbols = 0, sets = 0;
  std::span<const std::uint32_t> set_of;  // as in PositionMap
  bool from_end = false;
  const double* matrices = nullptr;
  const double* initial = nullptr;
  std::size_t burn_in = 0;
  bool through_burn_in = true, tangent_only = false, want_initial = false, backward = true;
  bool want_details = false;
  std::size_t pace = 16;
  double suspect_below = 0.0;
  std::size_t batch = 0;  // sequences, the empty ones too
};

/// Valid until the next run. What is empty was not asked for.
struct SmallOutput {
  std::span<const SmallOutcome> outcomes;  // by place in the batch
  std::span<const SmallDetail> details;    // in the order of SmallPlan::sequences
  std::span<const double> gradients;
  std::span<const char> used;
  std::span<const double> initial;
  bool failed = false;
  bool strange_symbols = false;
};

/// Bytes that a step of a sequence takes, and a state.
[[nodiscard]] SmallRoom small_room(const SmallInput& input, std::size_t memory);

class SmallDevice {
 public:
  SmallDevice();
  SmallDevice(const SmallDevice&) = delete;
  SmallDevice& operator=(const SmallDevice&) = delete;
  ~SmallDevice();

  /// Blocks of symbols that may stay, in bytes.
  [[nodiscard]] std::size_t symbol_room() const;
  /// A copy on the GPU, which lives until drop_symbols().
  [[nodiscard]] std::uint64_t keep_symbols(const void* from, std::size_t bytes);
  void drop_symbols(std::uint64_t address);
  /// Room for symbols that are needed for one run, filled by the caller; and where they will be.
  [[nodiscard]] std::span<unsigned char> stage_symbols(std::size_t bytes);
  [[nodiscard]] std::uint64_t upload_staged(std::size_t bytes);

  [[nodiscard]] SmallOutput run(const SmallInput& input, const SmallPlan& plan);

  struct Contents;

 private:
  std::unique_ptr<Contents> contents_;
};

}  // namespace hqmm::detail

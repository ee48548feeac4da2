// Counter-based random streams (Philox4x64-10, Random123).
//
// A draw is a pure function of (seed, purpose, index, position): nothing is shared, so the same
// work item gets the same numbers whichever thread does it and in whatever order.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace hqmm::detail {

/// What a stream is for. Values are part of the reproducibility promise: never renumber.
enum class Purpose : std::uint64_t {
  kSample = 1,        // sequences drawn from a model
  kInitialModel = 2,  // random Kraus operators, transition matrices
  kInitialState = 3,  // random density matrices
  kShuffle = 4,       // order of sequences in an epoch
  kFolds = 5,         // cross-validation folds, held-out shares
  kSearch = 6,        // row pairs and angles of the Givens search
  kNoise = 7,         // noise added to a warm start
  kDropout = 8,       // positions marginalised during training
  kEntropy = 9,       // the entropy-rate estimate
  kGeneric = 10,      // an element of a space in no special position
  kTest = 1000,
};

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t index = 0,
               std::uint64_t subindex = 0) noexcept
      : key_{{seed, static_cast<std::uint64_t>(purpose)}}, counter_{{0, 0, index, subindex}} {}

  std::uint64_t bits() noexcept;
  /// Uniform in [0, 1) with 53 random bits.
  double uniform() noexcept;
  /// Standard normal (Box–Muller; both halves are used).
  double normal() noexcept;
  /// Uniform integer in [0, bound), without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept;
  /// Index drawn with probability weights[i] / Σ weights, the weights finite, none negative and one
  /// at least positive. An index of weight zero is never drawn.
  std::size_t categorical(std::span<const double> weights) noexcept;

 private:
  using Philox = r123::Philox4x64;
  Philox::key_type key_;
  Philox::ctr_type counter_;
  Philox::ctr_type block_{};
  unsigned used_ = 4;
  double spare_normal_ = 0.0;
  bool has_spare_normal_ = false;
};

/// A uniformly random permutation of 0 .. size−1 (Fisher–Yates).
std::vector<std::uint32_t> permutation(std::size_t size, RandomStream& random);

}  // namespace hqmm::detail

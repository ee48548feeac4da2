// Sequences drawn from a model.
#pragma once

#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

struct SampleOptions {
  std::size_t count = 10;
  std::size_t length = 300;
  std::uint64_t seed = 1;
  std::uint64_t first_index = 0;  // sequence i draws from the stream (seed, first_index + i)
  int threads = 0;
};

/// Sequence i depends on the model, the seed and first_index + i alone. An infeasible model is
/// sampled from its normalised distribution.
[[nodiscard]] SequenceSet sample(const AnyModel& model, const SampleOptions& options);

}  // namespace hqmm

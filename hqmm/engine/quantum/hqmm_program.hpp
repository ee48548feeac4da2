// The program of a batch under an Hqmm.
#pragma once

#include "hqmm/engine/chain/program.hpp"
#include "hqmm/engine/quantum/gradient.hpp"

namespace hqmm::detail {

inline void write_program(const Hqmm& model, std::span<const SequenceView> batch,
                          const GradientOptions& options, int word_length, int threads,
                          Program& out) {
  write_program({.symbols = static_cast<std::size_t>(model.alphabet_size()),
                 .sets = model.sets.size(),
                 .positions = &model.positions},
                batch,
                {.burn_in = options.burn_in,
                 .through_burn_in = options.through_burn_in,
                 .tangent_only = options.tangent_only,
                 .weights = options.weights},
                word_length, threads, out);
}

}  // namespace hqmm::detail

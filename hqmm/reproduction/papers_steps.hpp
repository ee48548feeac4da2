// The step sizes of the paper's experiments. It says that NS-RIS ran with the values published for
// COSM, but for n = 4, where it had tuned its own and does not print them.
#pragma once

#include "hqmm/learn/options.hpp"
#include "hqmm/learn/recipes.hpp"

namespace hqmm::detail {

/// For ns-ris and cosm, after apply_paper_preset: at n = 4 ns-ris keeps the preset's.
inline void apply_papers_steps(TrainOptions& options, std::size_t alphabet_size) {
  constexpr Index kTunedByThePaper = 4;
  if (options.learner == LearnerKind::kNsRis && options.latent_dim == kTunedByThePaper) return;
  apply_published_steps(options, alphabet_size);
}

}  // namespace hqmm::detail

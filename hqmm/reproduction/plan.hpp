// What a reproduction of the paper consists of: a list of cells, each one training run (or, for
// splice, one cross-validation) of one method at one size from one seed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/types.hpp"
#include "hqmm/reproduction/method.hpp"

namespace hqmm::detail::reproduction {

enum class Study { kSyntheticHmm, kSyntheticHqmm, kSplice };
[[nodiscard]] std::string_view name_of(Study study);
/// Throws kBadData for anything but those names.
[[nodiscard]] Study parse_study(std::string_view text);

struct Cell {
  Study study = Study::kSyntheticHmm;
  Method method = Method::kNsRis;
  Index latent_dim = 2;
  Index kraus_rank = 1;  // 0 for em
  int ns_steps = 5;      // T; other values show what the literal retraction does
  bool clean = true;     // splice: inner selection; else the peers' protocol
  std::uint64_t seed = 1;

  friend bool operator==(const Cell&, const Cell&) = default;
};
/// Unique, and fit for a file name: "synthetic-hmm_ns-ris_n4_w2_seed1".
[[nodiscard]] std::string name_of(const Cell& cell);
/// The same for people: "synthetic-hmm, ns-ris, n = 4, w = 2, seed 1".
[[nodiscard]] std::string describe(const Cell& cell);

struct PlanOptions {
  std::vector<Study> studies;
  std::size_t seeds = 5;
  std::uint64_t first_seed = 1;
  bool quick = false;  // a few shapes and one seed: a first look
};

/// Study by study; within one the longest cells first, so that threads finish together.
[[nodiscard]] std::vector<Cell> make_plan(const PlanOptions& options);

/// Work of a cell, roughly, for the time left.
[[nodiscard]] double rough_cost(const Cell& cell);

}  // namespace hqmm::detail::reproduction

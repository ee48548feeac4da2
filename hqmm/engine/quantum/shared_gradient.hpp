// A gradient that several processes compute: what rank 0 asks of the others, and their answers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/tree_sum.hpp"
#include "hqmm/engine/chain/chain_result.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/engine/quantum/gradient.hpp"

namespace hqmm::detail {

struct GradientRequest {
  const Hqmm& model;
  const GradientOptions& options;  // weights and numbers: those of the round
  const Choice& choice;
  bool feasible;

  [[nodiscard]] std::string packed() const;
};

struct UnpackedGradientRequest {
  explicit UnpackedGradientRequest(std::string_view packed);

  Hqmm model;
  GradientOptions options;
  Choice choice;
  bool feasible = true;
  std::vector<std::uint32_t> numbers;
  std::vector<double> weights;
};

/// What a share found of its sequences, those from `first` on.
struct ShareLikelihoods {
  std::uint64_t first = 0;
  std::span<const double> log_likelihoods, log_totals;
};

/// The answer of a rank, or of several neighbours together; empty bytes are that of none.
class GradientReply {
 public:
  GradientReply() = default;
  explicit GradientReply(std::string_view packed);

  /// False when a weight left the range that is safe at this pace: there is nothing else then.
  bool good = true;

  void keep(const ShareLikelihoods& likelihoods, TreeSum<ChainResult>& sum);
  [[nodiscard]] std::string packed() const;
  void put_likelihoods(std::span<double> log_likelihoods, std::span<double> log_totals) const;
  void add_to(TreeSum<ChainResult>& sum) const;
  [[nodiscard]] static std::string merge(const std::string& ours, const std::string& theirs);

 private:
  std::string likelihoods_, sum_;
};

}  // namespace hqmm::detail

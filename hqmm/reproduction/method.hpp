// The methods of a reproduction, named alike in every study and file.
#pragma once

#include <span>
#include <string_view>

#include "hqmm/learn/options.hpp"

namespace hqmm::detail::reproduction {

enum class Method {
  kCosm,               // COSM with its published step sizes and decays
  kEm,                 // HMMs by Baum–Welch, 16 restarts; has no w
  kGivens,             // Givens search, w = 1, 100 batches
  kNsRis,              // our default recipe, the better of two starts at w = 1
  kNsRisLiteral,       // the paper's algorithm to the letter, under the paper's protocol
  kNsRisLiteralSmall,  // … with steps that settle: η = 0.2, α = 0.95; synthetic data only
  kNsRisPaper,         // the same protocol with the feasible retraction
  kNsRisPaperSmall,    // … with steps that settle; synthetic data only
  kNsRisWarm,          // our recipe started from the HMM that EM found (w = n)
};

enum class Protocol {
  kOurs,             // the learner's recipe
  kPaper,            // the paper's, with its step sizes
  kPaperSmallSteps,  // the paper's, with steps that settle
};

struct MethodTraits {
  Method method;
  std::string_view name;  // in files and tables
  LearnerKind learner;
  RetractionKind retraction;
  Protocol protocol;  // for synthetic data; splice has one of its own
  bool warm_start;    // from the HMM that EM finds
  bool on_splice;
};

/// Every method, once.
[[nodiscard]] std::span<const MethodTraits> all_methods();
[[nodiscard]] const MethodTraits& traits_of(Method method);
[[nodiscard]] std::string_view name_of(Method method);
/// Throws kBadData for anything but those names.
[[nodiscard]] Method parse_method(std::string_view name);
[[nodiscard]] bool is_literal(Method method);
/// The w of a method at n where a table or figure asks for w: EM has none, a warm start has n.
[[nodiscard]] Index rank_of(Method method, Index latent_dim, Index kraus_rank);

}  // namespace hqmm::detail::reproduction

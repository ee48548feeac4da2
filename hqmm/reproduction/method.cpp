#include "hqmm/reproduction/method.hpp"

#include <array>
#include <cassert>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail::reproduction {
namespace {

constexpr auto kFeasible = RetractionKind::kFeasible;
constexpr auto kLiteral = RetractionKind::kLiteral;
constexpr auto kNsRisLearner = LearnerKind::kNsRis;

// EM keeps our 16 restarts where the peers use 5: it is the model to beat.
// clang-format off
constexpr std::array<MethodTraits, 9> kTraits{{
    // method                  name                    learner              retraction protocol                    warm   splice
    {Method::kCosm,              "cosm",                 LearnerKind::kCosm,   kFeasible, Protocol::kPaper,           false, true},
    {Method::kEm,                "em",                   LearnerKind::kEm,     kFeasible, Protocol::kOurs,            false, true},
    {Method::kGivens,            "givens",               LearnerKind::kGivens, kFeasible, Protocol::kPaper,           false, false},
    {Method::kNsRis,             "ns-ris",               kNsRisLearner,        kFeasible, Protocol::kOurs,            false, true},
    {Method::kNsRisLiteral,      "ns-ris-literal",       kNsRisLearner,        kLiteral,  Protocol::kPaper,           false, true},
    {Method::kNsRisLiteralSmall, "ns-ris-literal-small", kNsRisLearner,        kLiteral,  Protocol::kPaperSmallSteps, false, false},
    {Method::kNsRisPaper,        "ns-ris-paper",         kNsRisLearner,        kFeasible, Protocol::kPaper,           false, true},
    {Method::kNsRisPaperSmall,   "ns-ris-paper-small",   kNsRisLearner,        kFeasible, Protocol::kPaperSmallSteps, false, false},
    {Method::kNsRisWarm,         "ns-ris-warm",          kNsRisLearner,        kFeasible, Protocol::kOurs,            true,  false},
}};
// clang-format on

}  // namespace

std::span<const MethodTraits> all_methods() { return kTraits; }

const MethodTraits& traits_of(Method method) {
  const MethodTraits& found = kTraits[static_cast<std::size_t>(method)];
  assert(found.method == method);
  return found;
}

std::string_view name_of(Method method) { return traits_of(method).name; }

Method parse_method(std::string_view name) {
  for (const MethodTraits& one : kTraits)
    if (one.name == name) return one.method;
  throw fail(ErrorCode::kBadData, "there is no method '{}'", printable(name));
}

bool is_literal(Method method) { return traits_of(method).retraction == RetractionKind::kLiteral; }

Index rank_of(Method method, Index latent_dim, Index kraus_rank) {
  const MethodTraits& traits = traits_of(method);
  if (traits.learner == LearnerKind::kEm) return 0;
  return traits.warm_start ? latent_dim : kraus_rank;
}

}  // namespace hqmm::detail::reproduction

#include "hqmm/model/classifier.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/fail.hpp"
#include "hqmm/model/log_posteriors.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr double kPriorTolerance = 1e-9;  // how far the priors' sum may be from 1
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

void require_names(const std::vector<std::string>& classes) {
  if (classes.size() < 2)
    throw fail(ErrorCode::kBadData, "a classifier needs at least two classes, found {}",
               classes.size());
  for (std::size_t c = 1; c < classes.size(); ++c) {
    if (classes[c - 1] < classes[c]) continue;
    throw fail(ErrorCode::kBadData, "class '{}' stands before class '{}': {}",
               printable(classes[c - 1]), printable(classes[c]),
               classes[c - 1] == classes[c] ? "names must differ" : "names must be in byte order");
  }
}

void require_priors(const Classifier& classifier) {
  double sum = 0.0;
  for (std::size_t c = 0; c < classifier.priors.size(); ++c) {
    const double prior = classifier.priors[c];
    if (!std::isfinite(prior) || prior <= 0.0) {
      throw fail(ErrorCode::kBadData, "class '{}': the prior must be positive, found {}",
                 printable(classifier.classes[c]), prior);
    }
    sum += prior;
  }
  if (std::abs(sum - 1.0) > kPriorTolerance)
    throw fail(ErrorCode::kBadData, "the priors sum to {}, not to 1", sum);
}

}  // namespace

void require_valid(const Classifier& classifier) {
  require_names(classifier.classes);
  const std::size_t count = classifier.classes.size();
  if (classifier.models.size() != count || classifier.priors.size() != count) {
    throw fail(ErrorCode::kBadData, "{} classes, but {} models and {} priors", count,
               classifier.models.size(), classifier.priors.size());
  }
  require_priors(classifier);
  for (std::size_t c = 0; c < count; ++c) {
    const std::string name = printable(classifier.classes[c]);
    try {
      std::visit([](const auto& model) { require_valid(model); }, classifier.models[c]);
    } catch (const Error& error) {
      throw fail(ErrorCode::kBadData, "class '{}': {}", name, error.marked());
    }
    if (!(alphabet_of(classifier.models[c]) == classifier.alphabet())) {
      throw fail(ErrorCode::kBadData, "class '{}': its alphabet is {}, that of class '{}' is {}",
                 name, alphabet_of(classifier.models[c]).description(),
                 printable(classifier.classes.front()), classifier.alphabet().description());
    }
  }
}

std::vector<double> detail::log_posteriors(std::span<const double> log_likelihoods,
                                           std::span<const double> priors) {
  std::vector<double> out(priors.size());
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = std::log(priors[c]) + log_likelihoods[c];
  const double top = *std::max_element(out.begin(), out.end());
  if (top == kImpossible) {
    std::transform(priors.begin(), priors.end(), out.begin(),
                   [](double prior) { return std::log(prior); });
    return out;
  }
  double sum = 0.0;
  for (double& value : out) {
    value -= top;  // before anything else: small differences of large numbers
    sum += std::exp(value);
  }
  for (double& value : out) value -= std::log(sum);
  return out;
}

}  // namespace hqmm

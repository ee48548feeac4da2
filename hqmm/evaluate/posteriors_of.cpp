// What a classifier makes of a set.
#include <algorithm>

#include "hqmm/engine/likelihood.hpp"
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/posteriors_on.hpp"
#include "hqmm/model/log_posteriors.hpp"

namespace hqmm {
using namespace detail;

Posteriors posteriors_of(const Classifier& classifier, const SequenceSet& set, int threads) {
  return posteriors_on(classifier, set, threads, nullptr);
}

Posteriors detail::posteriors_on(const Classifier& classifier, const SequenceSet& set, int threads,
                                 CudaEngine* gpu) {
  const std::size_t classes = classifier.classes.size();
  Posteriors out(set.size(), classes);
  for (std::size_t c = 0; c < classes; ++c) {
    const auto found = fast_log_likelihoods(classifier.models[c], set, 0, threads, {}, gpu);
    for (std::size_t i = 0; i < set.size(); ++i) out.row(i)[c] = found[i].log_likelihood;
  }
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<double> row = log_posteriors(out.row(i), classifier.priors);
    std::copy(row.begin(), row.end(), out.row(i).begin());
  }
  return out;
}

}  // namespace hqmm

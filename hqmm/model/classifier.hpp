// Classifier: one model per class and how frequent the classes are.
//
//   P(c | x) = P(c) P_c(x) / Σ_d P(d) P_d(x)
#pragma once

#include <string>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

struct Classifier {
  std::vector<std::string> classes;  // distinct, in byte order
  std::vector<AnyModel> models;      // one per class, over the same alphabet
  std::vector<double> priors;        // positive, sum to 1

  [[nodiscard]] const Alphabet& alphabet() const { return alphabet_of(models.front()); }
};

/// Throws kBadData naming the class and what is wrong: counts that differ, priors that are not
/// a distribution, models of other alphabets, models that are not valid themselves.
void require_valid(const Classifier& classifier);

}  // namespace hqmm

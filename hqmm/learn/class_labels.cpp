#include "hqmm/learn/class_labels.hpp"

#include <map>
#include <numeric>
#include <set>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {

void require_labelled(const SequenceSet& data) {
  if (!data.labelled())
    throw fail(ErrorCode::kBadData, "the sequences have no classes to learn or to check");
  std::set<std::uint32_t> met;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.label(i) == SequenceSet::kNoLabel)
      throw fail(ErrorCode::kBadData, "sequence {} has no class", i + 1);
    met.insert(data.label(i));
  }
  if (met.size() < 2)
    throw fail(ErrorCode::kBadData,
               "all sequences are of class '{}': at least two classes are needed",
               printable(data.classes()[*met.begin()]));
}

OrderedClasses ordered_classes(const SequenceSet& data) {
  std::map<std::string, std::uint32_t> order;
  for (std::size_t i = 0; i < data.size(); ++i) order.emplace(data.classes()[data.label(i)], 0U);
  OrderedClasses out;
  for (auto& [name, place] : order) {
    place = static_cast<std::uint32_t>(out.names.size());
    out.names.push_back(name);
  }
  out.labels.reserve(data.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    out.labels.push_back(order.at(data.classes()[data.label(i)]));
  return out;
}

std::vector<double> class_priors(PriorKind kind, const std::vector<double>& given,
                                 const std::vector<std::size_t>& counts) {
  const auto classes = static_cast<double>(counts.size());
  if (kind == PriorKind::kUniform) return std::vector<double>(counts.size(), 1.0 / classes);
  if (kind == PriorKind::kGiven) {
    if (given.size() != counts.size())
      throw fail(ErrorCode::kUsage, "{} priors were given for {} classes", given.size(),
                 counts.size());
    return given;
  }
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  std::vector<double> out;
  out.reserve(counts.size());
  for (const std::size_t count : counts) out.push_back(static_cast<double>(count) / total);
  return out;
}

}  // namespace hqmm::detail

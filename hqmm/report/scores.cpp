// All models of a report on the same sequences: their scores, for paired differences, and the
// predictions of the first along the first sequence.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/report/items.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm::detail::report {
namespace {

constexpr std::size_t kMostSequences = 2000;  // whose scores stand in the page
constexpr std::size_t kLongestWalk = 200;
constexpr std::size_t kMostWalkTokens = 64;

std::string sequence_name(const SequenceSet& set, std::size_t i) {
  if (set.named() && !set.name(i).empty()) return set.name(i);
  return fmt::format("sequence {}", i + 1);
}

Json per_sequence(const Score& score) {
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(score.per_sequence.size(), kMostSequences); ++i) {
    const SequenceLikelihood& one = score.per_sequence[i];
    out.push_back(one.scored == 0 ? Json(nullptr)
                                  : number(-one.log_likelihood /
                                           (static_cast<double>(one.scored) * std::numbers::ln2)));
  }
  return out;
}

Json walk(const NamedModel& named, const SequenceSet& set) {
  const SequenceView sequence = set[0];
  const std::size_t length = std::min(sequence.size(), kLongestWalk);
  const Alphabet& alphabet = alphabet_of(named.model);
  Json came = Json::array();
  Json probabilities = Json::array();
  std::visit(
      [&](const auto& model) {
        auto filter = make_filter(model);
        filter.restart(sequence.size());
        std::vector<double> next(alphabet.size());
        for (std::size_t t = 0; t < length; ++t) {
          filter.next_distribution(next);
          Json row = Json::array();
          for (const double p : next) row.push_back(number(p));
          probabilities.push_back(std::move(row));
          came.push_back(sequence[t] < alphabet.size() ? Json(sequence[t]) : Json(nullptr));
          filter.step(sequence[t]);
        }
      },
      named.model);
  return {{"name", named.name},
          {"sequence", sequence_name(set, 0)},
          {"tokens", alphabet.all_tokens()},
          {"came", std::move(came)},
          {"probabilities", std::move(probabilities)}};
}

}  // namespace

Json scores(const ReportData& data, const std::vector<NamedModel>& models, int threads) {
  Json rows = Json::array();
  for (const NamedModel& named : models) {
    if (alphabet_of(named.model).size() != data.set.alphabet().size())
      throw fail(ErrorCode::kBadData, {data.name, {}, {}, {}, {}},
                 "has {} symbols, but the model of {} has {}", data.set.alphabet().size(),
                 named.name, alphabet_of(named.model).size());
    const Score found = score(named.model, data.set, {.burn_in = data.burn_in, .threads = threads});
    rows.push_back({{"name", named.name},
                    {"method", named.method},
                    {"bits_per_symbol", number(found.bits_per_symbol)},
                    {"da", number(found.da_mean)},
                    {"per_sequence", per_sequence(found)}});
  }
  Json names = Json::array();
  for (std::size_t i = 0; i < std::min(data.set.size(), kMostSequences); ++i)
    names.push_back(sequence_name(data.set, i));
  Json walks = Json::array();
  if (!models.empty() && !data.set.empty() && data.set.alphabet().size() <= kMostWalkTokens)
    walks.push_back(walk(models.front(), data.set));
  return {{"data", data.name},
          {"sequences", std::move(names)},
          {"rows", std::move(rows)},
          {"walks", std::move(walks)}};
}

}  // namespace hqmm::detail::report

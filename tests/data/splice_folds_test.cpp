#include "hqmm/data/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "hqmm/data/group_sequences.hpp"
#include "support/grouped_sets.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using namespace hqmm::detail::testing;

/// Rows "EI, ATRINS-DONOR-521, CCAGCT…"; those with an ambiguity code are left out.
SequenceSet read_splice(const std::filesystem::path& path, std::size_t& rows) {
  SequenceSet set(Alphabet::dna());
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    ++rows;
    line.erase(std::remove(line.begin(), line.end(), ' '), line.end());
    const std::string bases = line.substr(line.rfind(',') + 1);
    if (bases.find_first_not_of("ACGT") != std::string::npos) continue;
    for (const char base : bases) set.push_back(*set.alphabet().find_letter(base));
    set.end_sequence_labelled(line.substr(0, line.find(',')));
  }
  return set;
}

Indices of_class(const SequenceSet& set, const std::string& name) {
  Indices out;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    if (set.classes()[set.label(i)] == name) out.push_back(i);
  }
  return out;
}

/// Sequences whose group has another member.
std::size_t in_company(const Indices& group) {
  std::map<std::uint32_t, std::size_t> sizes;
  for (const std::uint32_t g : group) ++sizes[g];
  return static_cast<std::size_t>(
      std::count_if(group.begin(), group.end(), [&](auto g) { return sizes[g] > 1; }));
}

TEST(Splice, HasTheDuplicatesAndFamiliesWeMeasured) {
  HQMM_SHARED_OR_SKIP(path, "data/splice/splice.data");
  std::size_t rows = 0;
  const SequenceSet set = read_splice(path, rows);
  EXPECT_EQ(rows, 3190U);
  ASSERT_EQ(set.size(), 3175U);
  EXPECT_EQ(set.symbol_count(), 3175U * 60U);
  EXPECT_EQ(of_class(set, "EI").size(), 762U);
  EXPECT_EQ(of_class(set, "IE").size(), 765U);
  EXPECT_EQ(of_class(set, "N").size(), 1648U);
  EXPECT_EQ(group_count(group_sequences(set.subset(of_class(set, "EI")), kIdentical)), 674U);
  EXPECT_EQ(group_count(group_sequences(set.subset(of_class(set, "IE")), kIdentical)), 670U);
  EXPECT_EQ(group_count(group_sequences(set.subset(of_class(set, "N")), kIdentical)), 1647U);

  const Indices identical = group_sequences(set, kIdentical);
  EXPECT_EQ(group_count(identical), 2990U) << "one sequence is both IE and N";
  Indices distinct;
  for (std::uint32_t i = 0; i < identical.size(); ++i) {
    if (identical[i] == distinct.size()) distinct.push_back(i);
  }
  const Indices families = group_sequences(set.subset(distinct), homology(45));
  EXPECT_EQ(in_company(families), 316U);
  EXPECT_EQ(group_count(families), 2775U);
}

TEST(Splice, FoldsAreBalancedAndKeepFamiliesTogether) {
  HQMM_SHARED_OR_SKIP(path, "data/splice/splice.data");
  std::size_t rows = 0;
  const SequenceSet set = read_splice(path, rows);
  const std::vector<std::pair<Grouping, std::size_t>> groups_expected = {
      {kNone, 3175}, {kIdentical, 2990}, {homology(45), 2775}};
  for (const auto& [grouping, groups] : groups_expected) {
    const Indices group = group_sequences(set, grouping);
    ASSERT_EQ(group_count(group), groups) << grouping.text();
    const Indices fold = make_folds(set, 5, grouping, 1);
    std::map<std::uint32_t, std::uint32_t> fold_of;
    for (std::size_t i = 0; i < set.size(); ++i) {
      ASSERT_EQ(fold_of.try_emplace(group[i], fold[i]).first->second, fold[i])
          << "group " << group[i];
    }
    // Hundreds of single sequences per class come last and level what the families left uneven.
    for (std::uint32_t f = 0; f < 5; ++f) {
      const auto counts = class_counts(set, members(fold, f));
      for (std::size_t c = 0; c < 3; ++c) {
        const double even = static_cast<double>(of_class(set, set.classes()[c]).size()) / 5;
        EXPECT_NEAR(static_cast<double>(counts[c]), even, 1.0) << grouping.text() << ", fold " << f;
      }
    }
  }
}

}  // namespace
}  // namespace hqmm::detail

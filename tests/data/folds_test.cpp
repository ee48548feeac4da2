#include "hqmm/data/folds.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "hqmm/core/random.hpp"
#include "support.hpp"

namespace hqmm {
namespace {

using hqmm::testing::expect_error;
using Kind = Grouping::Kind;
using Indices = std::vector<std::uint32_t>;

constexpr Grouping kNone{Kind::kNone, 0};
constexpr Grouping kIdentical{Kind::kIdentical, 0};

Grouping homology(std::size_t matches) { return {Kind::kHomology, matches}; }

/// `sizes[c]` lists the sizes of the groups of class c: a group is one sequence, repeated.
SequenceSet set_of_groups(const std::vector<std::vector<std::size_t>>& sizes) {
  SequenceSet set(Alphabet::integers(1000));
  Symbol group = 0;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    for (const std::size_t size : sizes[c]) {
      for (std::size_t i = 0; i < size; ++i) {
        set.push_back(group);
        set.end_sequence_labelled("class" + std::to_string(c));
      }
      ++group;
    }
  }
  return set;
}

SequenceSet distinct_set(std::size_t size) {
  return set_of_groups({std::vector<std::size_t>(size, 1)});
}

std::size_t group_count(const Indices& group) {
  return std::set(group.begin(), group.end()).size();
}

/// count[c] for one class after another, over the sequences `chosen`.
std::vector<std::size_t> class_counts(const SequenceSet& set, const Indices& chosen) {
  std::vector<std::size_t> counts(set.classes().size());
  for (const std::uint32_t i : chosen) ++counts.at(set.label(i));
  return counts;
}

Indices members(const Indices& fold, std::uint32_t wanted) {
  Indices out;
  for (std::uint32_t i = 0; i < fold.size(); ++i) {
    if (fold[i] == wanted) out.push_back(i);
  }
  return out;
}

rc::Gen<std::vector<std::vector<std::size_t>>> group_sizes() {
  // Up to thirty classes, each with up to thirty groups of one to six sequences.
  const auto sizes =
      rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 7));
  return rc::gen::scale(
      0.3, rc::gen::nonEmpty(rc::gen::container<std::vector<std::vector<std::size_t>>>(sizes)));
}

std::size_t largest(const std::vector<std::size_t>& sizes) {
  return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
}

// ---- Grouping
// ----------------------------------------------------------------------------------------

TEST(Grouping, ParsesAndWritesItself) {
  EXPECT_EQ(Grouping::parse("none"), kNone);
  EXPECT_EQ(Grouping::parse("identical"), kIdentical);
  EXPECT_EQ(Grouping::parse("homology:45"), homology(45));
  for (const char* text : {"none", "identical", "homology:45", "homology:1"}) {
    EXPECT_EQ(Grouping::parse(text).text(), text);
  }
}

TEST(Grouping, RejectsOtherText) {
  for (const char* text : {"", "None", "identical ", "homology", "homology:", "homology:0",
                           "homology:-1", "homology:4x", "homology:99999999999999999999999"}) {
    expect_error(ErrorCode::kUsage, "is no grouping: give none, identical, or homology:N",
                 [&] { (void)Grouping::parse(text); });
  }
}

TEST(GroupSequences, WithoutGroupingEverySequenceIsAlone) {
  EXPECT_EQ(group_sequences(SequenceSet(Alphabet::integers(2), {{1}, {1}, {}}), kNone),
            (Indices{0, 1, 2}));
  EXPECT_EQ(group_sequences(SequenceSet(), kNone), Indices{});
}

TEST(GroupSequences, IdenticalOnesShareAGroupNumberedByFirstAppearance) {
  const SequenceSet set(
      Alphabet::integers(3),
      {{1, 2}, {}, {2, 1}, {1, 2}, {1}, {}, {2, 1}, {1, 2, 0}, {kMissing}, {kMissing}});
  EXPECT_EQ(group_sequences(set, kIdentical), (Indices{0, 1, 2, 0, 3, 1, 2, 4, 5, 5}));
}

TEST(GroupSequences, HomologyLinksAtTheThresholdAndNotBelow) {
  const SequenceSet set(Alphabet::integers(4),
                        {{0, 0, 0, 0}, {0, 0, 0, 1}, {2, 2, 2, 2}, {0, 2, 2, 2}});
  EXPECT_EQ(group_sequences(set, homology(3)), (Indices{0, 0, 1, 1}));
  EXPECT_EQ(group_sequences(set, homology(4)), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(group_sequences(set, homology(1)), (Indices{0, 0, 0, 0}))
      << "the last starts like the first";
}

TEST(GroupSequences, HomologyIsSingleLinkage) {
  // Each matches the next in three of four positions; the ends match in none.
  const SequenceSet chain(Alphabet::integers(2),
                          {{0, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 1}, {0, 1, 1, 1}});
  EXPECT_EQ(group_sequences(chain, homology(3)), (Indices{0, 0, 0, 0, 0}));
}

TEST(GroupSequences, HomologyComparesOneLengthOnly) {
  const SequenceSet set(Alphabet::integers(2), {{0, 0, 0}, {0, 0, 0, 0}, {0, 0, 1}});
  EXPECT_EQ(group_sequences(set, homology(2)), (Indices{0, 1, 0}));
}

TEST(GroupSequences, MissingSymbolsMatchNothingButEqualSequencesStayTogether) {
  const SequenceSet set(
      Alphabet::integers(2),
      {{kMissing, kMissing, 0, 0}, {kMissing, kMissing, 0, 1}, {kMissing, kMissing, 0, 0}});
  EXPECT_EQ(group_sequences(set, homology(2)), (Indices{0, 1, 0}));
  EXPECT_EQ(group_sequences(set, homology(1)), (Indices{0, 0, 0}));
}

TEST(GroupSequences, MoreMatchesThanPositionsLinksOnlyEqualOnes) {
  const SequenceSet set(Alphabet::integers(2), {{0, 0}, {0, 1}, {0, 0}, {}, {}});
  EXPECT_EQ(group_sequences(set, homology(50)), (Indices{0, 1, 0, 2, 2}));
}

TEST(GroupSequences, RejectsHomologyAtNoMatches) {
  expect_error(ErrorCode::kUsage, "at least 1",
               [] { (void)group_sequences(SequenceSet(), homology(0)); });
}

/// The definition, in the slow and obvious way: join groups until nothing changes.
Indices naive_homology(const SequenceSet& set, std::size_t matches) {
  const auto linked = [&](SequenceView a, SequenceView b) {
    if (a == b) return true;
    if (a.size() != b.size()) return false;
    std::size_t equal = 0;
    for (std::size_t t = 0; t < a.size(); ++t) equal += a[t] == b[t] && a[t] != kMissing;
    return equal >= matches;
  };
  Indices lowest(set.size());  // the lowest sequence known to be in the same group
  std::iota(lowest.begin(), lowest.end(), 0U);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::size_t j = 0; j < set.size(); ++j) {
        if (lowest[j] < lowest[i] && linked(set[i], set[j])) {
          lowest[i] = lowest[j];
          changed = true;
        }
      }
    }
  }
  std::map<std::uint32_t, std::uint32_t> number;
  for (auto& group : lowest) group = number.try_emplace(group, number.size()).first->second;
  return lowest;
}

RC_GTEST_PROP(GroupSequences, AgreesWithTheDefinition, (std::uint64_t seed)) {
  const auto size = *rc::gen::inRange<std::size_t>(0, 40);
  const auto length = *rc::gen::inRange<std::size_t>(1, 40);
  const auto matches = *rc::gen::inRange<std::size_t>(1, length + 2);
  const auto top = *rc::gen::element<Symbol>(2, 3, 300);  // 300: stored two bytes wide
  RandomStream random(seed, Purpose::kTest);
  SequenceSet set(Alphabet::integers(301));
  for (std::size_t i = 0; i < size; ++i) {
    // Half of them mutate an earlier one, so that there is something to find.
    const bool mutant = i > 0 && random.below(2) == 0;
    const SequenceView parent = mutant ? set[random.below(i)] : SequenceView();
    const std::size_t own = mutant ? parent.size() : length - random.below(2);
    std::vector<Symbol> symbols;
    for (std::size_t t = 0; t < own; ++t) {
      const auto fresh =
          random.below(8) == 0 ? kMissing : static_cast<Symbol>(top - random.below(2));
      symbols.push_back(mutant && random.below(5) != 0 ? parent[t] : fresh);
    }
    for (const Symbol symbol : symbols) set.push_back(symbol);
    set.end_sequence();
  }
  RC_ASSERT(group_sequences(set, homology(matches)) == naive_homology(set, matches));
}

// ---- Folds
// -------------------------------------------------------------------------------------------

RC_GTEST_PROP(MakeFolds, PartitionBalanceAndDeterminism, (std::uint64_t seed)) {
  const auto sizes = *group_sizes();
  const SequenceSet set = set_of_groups(sizes);
  const Indices group = group_sequences(set, kIdentical);
  RC_PRE(group_count(group) >= 2U);
  const auto folds =
      *rc::gen::inRange<std::size_t>(2, std::min<std::size_t>(group_count(group), 10) + 1);
  const Indices fold = make_folds(set, folds, kIdentical, seed);

  RC_ASSERT(fold.size() == set.size());
  RC_ASSERT(std::all_of(fold.begin(), fold.end(), [&](auto f) { return f < folds; }));
  RC_ASSERT(group_count(fold) == folds);  // no fold is empty
  for (std::size_t i = 1; i < set.size(); ++i) {
    if (group[i] == group[i - 1]) RC_ASSERT(fold[i] == fold[i - 1]);
  }
  // A group goes to the fold with the fewest of its class, and so can lead the others by its own
  // size.
  std::vector<std::vector<std::size_t>> counts;
  for (std::uint32_t f = 0; f < folds; ++f) counts.push_back(class_counts(set, members(fold, f)));
  for (std::size_t c = 0; c < set.classes().size(); ++c) {
    const auto [least, most] = std::minmax_element(
        counts.begin(), counts.end(), [c](const auto& a, const auto& b) { return a[c] < b[c]; });
    const std::size_t named = std::stoul(set.classes()[c].substr(5));
    RC_ASSERT((*most)[c] - (*least)[c] <= largest(sizes[named]));
  }
  RC_ASSERT(fold == make_folds(set, folds, kIdentical, seed));
}

TEST(MakeFolds, SpreadsClassesOfSinglesToWithinOne) {
  const SequenceSet set =
      set_of_groups({std::vector<std::size_t>(52, 1), std::vector<std::size_t>(13, 1)});
  const Indices fold = make_folds(set, 5, kIdentical, 1);
  for (std::uint32_t f = 0; f < 5; ++f) {
    const auto counts = class_counts(set, members(fold, f));
    EXPECT_TRUE(counts[0] == 10 || counts[0] == 11) << counts[0];
    EXPECT_TRUE(counts[1] == 2 || counts[1] == 3) << counts[1];
  }
}

TEST(MakeFolds, SpreadsTheRestsOfManyClasses) {
  // Every class has one sequence more than fits evenly: the rests must not all pile up in one fold.
  const SequenceSet set =
      set_of_groups(std::vector<std::vector<std::size_t>>(10, std::vector<std::size_t>(6, 1)));
  const Indices fold = make_folds(set, 5, kIdentical, 3);
  for (std::uint32_t f = 0; f < 5; ++f) {
    const std::size_t size = members(fold, f).size();
    EXPECT_GE(size, 10U);
    EXPECT_LE(size, 14U);
  }
}

TEST(MakeFolds, LargestGroupsFirstFillsEvenly) {
  // In the order written, the last group would make one fold twice as large.
  const SequenceSet set = set_of_groups({{1, 1, 1, 1, 1, 1, 6}});
  const Indices fold = make_folds(set, 2, kIdentical, 1);
  EXPECT_EQ(members(fold, 0).size(), 6U);
  EXPECT_EQ(members(fold, 1).size(), 6U);
}

TEST(MakeFolds, TakesUnlabelledAndPartlyLabelledSets) {
  SequenceSet plain(Alphabet::integers(100));
  SequenceSet partly(Alphabet::integers(100));
  for (Symbol i = 0; i < 20; ++i) {
    plain.push_back(i);
    plain.end_sequence();
    partly.push_back(i);
    if (i < 10) {
      partly.end_sequence_labelled("known");
    } else {
      partly.end_sequence();
    }
  }
  const Indices fold = make_folds(plain, 4, kNone, 1);
  for (std::uint32_t f = 0; f < 4; ++f) EXPECT_EQ(members(fold, f).size(), 5U);
  const Indices mixed = make_folds(partly, 5, kNone, 1);
  for (std::uint32_t f = 0; f < 5; ++f) {
    const Indices here = members(mixed, f);
    EXPECT_EQ(here.size(), 4U);
    EXPECT_EQ(std::count_if(here.begin(), here.end(), [](auto i) { return i < 10; }), 2);
  }
}

TEST(MakeFolds, DependsOnTheSeed) {
  const SequenceSet set = distinct_set(100);
  std::set<Indices> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) seen.insert(make_folds(set, 5, kNone, seed));
  EXPECT_EQ(seen.size(), 20U);
}

TEST(MakeFolds, EverySequenceMayMeetEveryOther) {
  // Over many seeds two given sequences share one of 5 folds of 50 with probability 9/49.
  const SequenceSet set = distinct_set(50);
  constexpr int kSeeds = 2000;
  int together = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Indices fold = make_folds(set, 5, kNone, static_cast<std::uint64_t>(seed));
    together += fold[3] == fold[4];
  }
  const double p = 9.0 / 49.0;
  EXPECT_NEAR(together, p * kSeeds, 5 * std::sqrt(p * (1 - p) * kSeeds));
}

TEST(MakeFolds, AsManyFoldsAsGroupsLeavesOneOut) {
  const Indices fold = make_folds(distinct_set(7), 7, kIdentical, 9);
  EXPECT_EQ(group_count(fold), 7U);
}

TEST(MakeFolds, SaysWhyItCannot) {
  for (const std::size_t folds : {0, 1}) {
    expect_error(ErrorCode::kUsage, "at least 2 folds, not " + std::to_string(folds),
                 [&] { (void)make_folds(distinct_set(10), folds, kNone, 1); });
  }
  expect_error(ErrorCode::kUsage,
               "cannot make 3 folds: the 9 sequences form only 2 groups that may be separated "
               "(grouping identical)",
               [] {
                 (void)make_folds(set_of_groups({{4, 5}}), 3, kIdentical, 1);
               });
  EXPECT_NO_THROW((void)make_folds(set_of_groups({{4, 5}}), 3, kNone, 1));
  expect_error(ErrorCode::kUsage, "cannot make 2 folds",
               [] { (void)make_folds(SequenceSet(), 2, kNone, 1); });
}

// ---- Held-out share
// ----------------------------------------------------------------------------------

RC_GTEST_PROP(HoldOut, PartitionBalanceAndDeterminism, (std::uint64_t seed)) {
  const auto sizes = *group_sizes();
  const auto share = *rc::gen::element(0.001, 0.1, 0.2, 1.0 / 3, 0.5, 0.9, 0.999);
  const SequenceSet set = set_of_groups(sizes);
  const Indices group = group_sequences(set, kIdentical);
  RC_PRE(group_count(group) >= 2U);
  const Split split = hold_out(set, share, kIdentical, seed);

  RC_ASSERT(!split.kept.empty());
  RC_ASSERT(!split.held_out.empty());
  RC_ASSERT(std::is_sorted(split.kept.begin(), split.kept.end()));
  RC_ASSERT(std::is_sorted(split.held_out.begin(), split.held_out.end()));
  Indices all;
  std::merge(split.kept.begin(), split.kept.end(), split.held_out.begin(), split.held_out.end(),
             std::back_inserter(all));
  RC_ASSERT(all == group_sequences(set, kNone));  // 0, 1, 2, …
  std::set<std::uint32_t> kept_groups;
  for (const std::uint32_t i : split.kept) kept_groups.insert(group[i]);
  for (const std::uint32_t i : split.held_out) RC_ASSERT(!kept_groups.contains(group[i]));

  // What is due stays within half the largest group, at both ends of every class; the rule that no
  // side is empty may move one more group.
  double most = 0.0;
  for (const auto& of_class : sizes) most = std::max(most, static_cast<double>(largest(of_class)));
  const auto held = class_counts(set, split.held_out);
  const auto kept = class_counts(set, split.kept);
  for (std::size_t c = 0; c < held.size(); ++c) {
    const double wanted = share * static_cast<double>(held[c] + kept[c]);
    RC_ASSERT(std::abs(static_cast<double>(held[c]) - wanted) <= 2 * most + 1e-9);
  }
  const double wanted = share * static_cast<double>(set.size());
  RC_ASSERT(std::abs(static_cast<double>(split.held_out.size()) - wanted) <= 1.5 * most + 1e-9);
  RC_ASSERT(hold_out(set, share, kIdentical, seed).held_out == split.held_out);
}

TEST(HoldOut, TakesTheShareOfEveryClass) {
  const SequenceSet set =
      set_of_groups({std::vector<std::size_t>(100, 1), std::vector<std::size_t>(20, 1)});
  const Split split = hold_out(set, 0.2, kIdentical, 1);
  EXPECT_EQ(class_counts(set, split.held_out), (std::vector<std::size_t>{20, 4}));
}

TEST(HoldOut, TakesTheShareOverManySmallClasses) {
  // No class of two has a whole sequence to give; all fifty together have twenty.
  const SequenceSet set =
      set_of_groups(std::vector<std::vector<std::size_t>>(50, std::vector<std::size_t>(2, 1)));
  const Split split = hold_out(set, 0.2, kIdentical, 1);
  EXPECT_EQ(split.held_out.size(), 20U);
  for (const std::size_t count : class_counts(set, split.held_out)) EXPECT_LE(count, 1U);
  EXPECT_NE(split.held_out, hold_out(set, 0.2, kIdentical, 2).held_out);
}

TEST(HoldOut, EverySequenceHasItsTurn) {
  const SequenceSet set =
      set_of_groups({std::vector<std::size_t>(15, 1), std::vector<std::size_t>(5, 1)});
  constexpr int kSeeds = 1000;
  std::vector<int> times(set.size());
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const auto i : hold_out(set, 0.2, kNone, static_cast<std::uint64_t>(seed)).held_out)
      ++times[i];
  }
  for (const int count : times) EXPECT_NEAR(count, 0.2 * kSeeds, 5 * std::sqrt(0.16 * kSeeds));
}

TEST(HoldOut, NeverTakesNothingOrAll) {
  EXPECT_EQ(hold_out(distinct_set(10), 0.001, kNone, 1).held_out.size(), 1U);
  EXPECT_EQ(hold_out(distinct_set(10), 0.999, kNone, 1).kept.size(), 1U);
  EXPECT_EQ(hold_out(distinct_set(2), 0.2, kNone, 1).held_out.size(), 1U);
  const SequenceSet uneven = set_of_groups({{9, 1}});
  EXPECT_EQ(hold_out(uneven, 0.01, kIdentical, 1).held_out, Indices{9})
      << "the smallest group moves";
}

TEST(HoldOut, SaysWhyItCannot) {
  for (const double share : {0.0, 1.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    expect_error(ErrorCode::kUsage, "must lie between 0 and 1, not ",
                 [&] { (void)hold_out(distinct_set(10), share, kNone, 1); });
  }
  expect_error(ErrorCode::kUsage,
               "it has 1 sequence (grouping none), and one must be held out and one kept",
               [] { (void)hold_out(distinct_set(1), 0.2, kNone, 1); });
  expect_error(ErrorCode::kUsage, "it has 0 sequences",
               [] { (void)hold_out(SequenceSet(), 0.2, kNone, 1); });
  expect_error(ErrorCode::kUsage, "its 5 sequences form one group (grouping identical)",
               [] { (void)hold_out(set_of_groups({{5}}), 0.2, kIdentical, 1); });
}

// ---- The splice data
// ---------------------------------------------------------------------------------

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
}  // namespace hqmm

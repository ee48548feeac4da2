#include "hqmm/data/folds.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/data/fetched_sequences.hpp"
#include "hqmm/data/group_sequences.hpp"

namespace hqmm {
using namespace detail;
namespace {

using Indices = std::vector<std::uint32_t>;

constexpr std::string_view kHomologyPrefix = "homology:";

// One stream for each use, so that an inner held-out share does not repeat the outer folds' draws.
constexpr std::uint64_t kFoldStream = 0;
constexpr std::uint64_t kHoldOutStream = 1;

/// Union–find over sequences; the root of a set is its lowest index.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t i) noexcept {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::uint32_t a, std::uint32_t b) noexcept {
    std::tie(a, b) = std::minmax({find(a), find(b)});
    parent_[b] = a;
  }

 private:
  Indices parent_;
};

std::uint64_t content_hash(SequenceView sequence) noexcept {
  std::uint64_t state = 0xCBF29CE484222325ULL;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    state = (state ^ sequence[t]) * 0x100000001B3ULL;
  }
  if (sequence.block() != nullptr) sequence.block()->looked_at(sequence.size());
  return state;
}

/// In any order, so that of a set that lies in a file copies are compared.
class Comparison {
 public:
  explicit Comparison(const SequenceSet& set) : set_(set) {}
  bool equal(std::uint32_t a, std::uint32_t b) {
    std::array<SequenceView, 2> both{set_[a], set_[b]};
    if (both[0].size() != both[1].size()) return false;
    fetched_.fetch(both);
    return both[0] == both[1];
  }

 private:
  const SequenceSet& set_;
  FetchedSequences fetched_;
};

/// Links equal sequences; returns the first of each kind, ascending. There may be 10⁸ sequences:
/// their hashes are sorted, which takes sixteen bytes for each.
Indices link_identical(const SequenceSet& set, DisjointSets& groups) {
  struct Hashed {
    std::uint64_t hash;
    std::uint32_t sequence;
    bool operator<(const Hashed& other) const noexcept {
      return std::tie(hash, sequence) < std::tie(other.hash, other.sequence);
    }
  };
  std::vector<Hashed> hashed(set.size());
  for (std::uint32_t i = 0; i < set.size(); ++i) hashed[i] = {content_hash(set[i]), i};
  std::sort(hashed.begin(), hashed.end());
  Indices distinct;
  Comparison comparison(set);
  std::size_t first = 0;  // of those of one hash, which different sequences may share
  for (std::size_t k = 0; k < hashed.size(); ++k) {
    if (k == 0 || hashed[k].hash != hashed[k - 1].hash) first = distinct.size();
    const std::uint32_t i = hashed[k].sequence;
    const auto twin =
        std::find_if(distinct.begin() + static_cast<std::ptrdiff_t>(first), distinct.end(),
                     [&](std::uint32_t j) { return comparison.equal(j, i); });
    if (twin == distinct.end()) {
      distinct.push_back(i);
    } else {
      groups.unite(*twin, i);
    }
  }
  std::sort(distinct.begin(), distinct.end());
  return distinct;
}

bool match_at_least(const Symbol* a, const Symbol* b, std::size_t length,
                    std::size_t wanted) noexcept {
  // Blocks are long enough for vector instructions and short enough to give up early.
  constexpr std::size_t kBlock = 16;
  std::size_t found = 0;
  for (std::size_t begin = 0; begin < length; begin += kBlock) {
    if (found + (length - begin) < wanted) return false;
    const std::size_t end = std::min(begin + kBlock, length);
    unsigned here = 0;
    for (std::size_t i = begin; i < end; ++i) {
      here += static_cast<unsigned>(a[i] == b[i]) & static_cast<unsigned>(a[i] != kMissing);
    }
    found += here;
  }
  return found >= wanted;
}

/// Links the sequences of one length that agree in `matches` positions or more.
void link_homologous(const SequenceSet& set, const Indices& members, std::size_t matches,
                     DisjointSets& groups) {
  const std::size_t length = set[members.front()].size();
  std::vector<Symbol> rows;
  rows.reserve(members.size() * length);
  for (const std::uint32_t i : members) {
    for (std::size_t t = 0; t < length; ++t) rows.push_back(set[i][t]);
  }
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = a + 1; b < members.size(); ++b) {
      if (match_at_least(&rows[a * length], &rows[b * length], length, matches)) {
        groups.unite(members[a], members[b]);
      }
    }
  }
}

/// Groups of sequences in a row, without a vector for each: there may be as many as sequences.
class Groups {
 public:
  /// The largest group first, those of one size in random order.
  Groups(const SequenceSet& set, const Grouping& grouping, RandomStream& random) {
    Indices place = group_sequences(set, grouping);
    const std::size_t count = place.empty() ? 0 : *std::ranges::max_element(place) + 1;
    {
      const Indices shuffled = permutation(count, random);
      for (std::uint32_t& one : place) one = shuffled[one];
    }
    begins_.assign(count + 1, 0);
    for (const std::uint32_t one : place) ++begins_[one + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    members_.resize(place.size());
    Indices next(begins_.begin(), begins_.end() - 1);
    for (std::uint32_t i = 0; i < place.size(); ++i) members_[next[place[i]]++] = i;
    line_.resize(count);
    std::iota(line_.begin(), line_.end(), 0U);
    std::ranges::stable_sort(line_, std::greater<>(),
                             [this](std::uint32_t g) { return begins_[g + 1] - begins_[g]; });
  }

  [[nodiscard]] std::size_t size() const noexcept { return line_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t i) const {
    return std::span(members_).subspan(begins_[line_[i]],
                                       begins_[line_[i] + 1] - begins_[line_[i]]);
  }
  /// Those of the lower value first, otherwise in the order that they are in.
  template <typename Value>
  void sort_by(Value value) {
    Indices values(size());  // by number of the group
    for (std::size_t i = 0; i < size(); ++i) values[line_[i]] = value((*this)[i]);
    std::ranges::stable_sort(line_, {}, [&](std::uint32_t g) { return values[g]; });
  }

 private:
  Indices members_, begins_;  // of group g: those from begins_[g] on
  Indices line_;              // groups in their order
};

/// What the splits balance: the classes, and the sequences without one as one more.
class Strata {
 public:
  explicit Strata(const SequenceSet& set) : set_(set) {}
  [[nodiscard]] std::size_t count() const noexcept { return set_.classes().size() + 1; }
  [[nodiscard]] std::size_t of(std::uint32_t i) const noexcept {
    const bool has_class = set_.labelled() && set_.label(i) != SequenceSet::kNoLabel;
    return has_class ? set_.label(i) : set_.classes().size();
  }
  /// The one most members belong to; of several such, the lowest.
  [[nodiscard]] std::size_t of_group(std::span<const std::uint32_t> members) const {
    if (members.size() == 1) return of(members.front());
    std::map<std::size_t, std::size_t> votes;
    for (const std::uint32_t i : members) ++votes[of(i)];
    return std::max_element(votes.begin(), votes.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

 private:
  const SequenceSet& set_;
};

/// Goes along the line of groups and picks the ones to hold out; at least one, never all.
std::vector<char> choose_held(const Groups& groups, double share) {
  std::vector<char> is_held(groups.size());
  double due = 0.0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto size = static_cast<double>(groups[g].size());
    due += share * size;
    if (due >= size / 2) {
      is_held[g] = 1;
      due -= size;
    }
  }
  // A very small or very large share may leave one side empty: the smallest group goes there.
  const auto held = std::count(is_held.begin(), is_held.end(), 1);
  if (held == 0 || held == std::ssize(is_held)) {
    std::size_t smallest = 0;
    for (std::size_t g = 1; g < groups.size(); ++g)
      if (groups[g].size() < groups[smallest].size()) smallest = g;
    is_held[smallest] ^= 1;
  }
  return is_held;
}

}  // namespace

Grouping Grouping::parse(std::string_view text) {
  if (text == "none") return {Kind::kNone, 0};
  if (text == "identical") return {Kind::kIdentical, 0};
  if (text.starts_with(kHomologyPrefix)) {
    const std::string_view number = text.substr(kHomologyPrefix.size());
    std::size_t matches = 0;
    const auto [end, failure] =
        std::from_chars(number.data(), number.data() + number.size(), matches);
    if (failure == std::errc() && end == number.data() + number.size() && matches > 0) {
      return {Kind::kHomology, matches};
    }
  }
  throw fail(
      ErrorCode::kUsage,
      "'{}' is not a grouping: give none, identical, or homology:N, where N is the lowest number "
      "of equal positions (homology:45)",
      printable(text));
}

std::string Grouping::text() const {
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kIdentical:
      return "identical";
    case Kind::kHomology:
      return fmt::format("{}{}", kHomologyPrefix, matches);
  }
  assert(false);
  return {};
}

std::vector<std::uint32_t> detail::group_sequences(const SequenceSet& set,
                                                   const Grouping& grouping) {
  assert(set.size() < std::numeric_limits<std::uint32_t>::max());
  if (grouping.kind == Grouping::Kind::kHomology && grouping.matches == 0) {
    throw fail(ErrorCode::kUsage, "grouping by homology needs a number of matches of at least 1");
  }
  DisjointSets groups(set.size());
  if (grouping.kind != Grouping::Kind::kNone) {
    const Indices distinct = link_identical(set, groups);
    if (grouping.kind == Grouping::Kind::kHomology) {
      std::map<std::size_t, Indices> by_length;
      for (const std::uint32_t i : distinct) by_length[set[i].size()].push_back(i);
      for (const auto& [length, members] : by_length) {
        if (length >= grouping.matches) link_homologous(set, members, grouping.matches, groups);
      }
    }
  }
  Indices number(set.size());
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    const std::uint32_t root = groups.find(i);
    number[i] = root == i ? next++ : number[root];
  }
  return number;
}

std::vector<std::uint32_t> make_folds(const SequenceSet& set, std::size_t folds,
                                      const Grouping& grouping, std::uint64_t seed) {
  if (folds < 2) {
    throw fail(ErrorCode::kUsage, "cross-validation needs at least 2 folds, not {}", folds);
  }
  RandomStream random(seed, Purpose::kFolds, kFoldStream);
  const Groups groups(set, grouping, random);
  if (groups.size() < folds) {
    throw fail(ErrorCode::kUsage,
               "cannot make {} folds: the {} sequences form only "
               "{} groups that may be separated (grouping {})",
               folds, set.size(), groups.size(), grouping.text());
  }
  const Strata strata(set);
  std::vector<std::vector<std::uint64_t>> held(folds, std::vector<std::uint64_t>(strata.count()));
  std::vector<std::uint64_t> total(folds);
  Indices fold(set.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::span<const std::uint32_t> members = groups[g];
    // Fewest sequences of the same class for each member, then fewest sequences, then the first
    // fold: integers, so no rounding decides; and an empty fold always wins.
    const auto cost = [&](std::size_t f) {
      std::uint64_t same_class = 0;
      for (const std::uint32_t i : members) same_class += held[f][strata.of(i)];
      return std::tuple(same_class, total[f], f);
    };
    auto best = cost(0);
    for (std::size_t f = 1; f < folds; ++f) best = std::min(best, cost(f));
    const std::size_t chosen = std::get<2>(best);
    for (const std::uint32_t i : members) {
      fold[i] = static_cast<std::uint32_t>(chosen);
      ++held[chosen][strata.of(i)];
    }
    total[chosen] += members.size();
  }
  return fold;
}

Split hold_out(const SequenceSet& set, double share, const Grouping& grouping, std::uint64_t seed) {
  if (!(share > 0.0 && share < 1.0)) {
    throw fail(ErrorCode::kUsage, "the share to hold out must lie between 0 and 1, not {}", share);
  }
  RandomStream random(seed, Purpose::kFolds, kHoldOutStream);
  Groups groups(set, grouping, random);
  if (groups.size() < 2) {
    throw fail(ErrorCode::kUsage,
               "cannot hold out a share of the data: "
               "{} (grouping {}), and one must be held out and one kept",
               set.size() < 2
                   ? fmt::format("it has {} sequence{}", set.size(), set.size() == 1 ? "" : "s")
                   : fmt::format("its {} sequences form one group", set.size()),
               grouping.text());
  }
  const Strata strata(set);
  const Indices turn = permutation(strata.count(), random);
  groups.sort_by(
      [&](std::span<const std::uint32_t> members) { return turn[strata.of_group(members)]; });
  const std::vector<char> is_held = choose_held(groups, share);
  Split split;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Indices& side = is_held[g] != 0 ? split.held_out : split.kept;
    side.insert(side.end(), groups[g].begin(), groups[g].end());
  }
  std::sort(split.kept.begin(), split.kept.end());
  std::sort(split.held_out.begin(), split.held_out.end());
  return split;
}

}  // namespace hqmm

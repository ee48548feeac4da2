#include "hqmm/evaluate/baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kMostEntries = std::size_t{1} << 22;  // of one model's tables, about
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

std::size_t power(std::size_t base, std::size_t exponent) {
  std::size_t out = 1;
  for (std::size_t i = 0; i < exponent; ++i) out *= base;
  return out;
}

std::size_t longest_context(const BaselineOptions& options, std::size_t symbols) {
  using Kind = BaselineOptions::Kind;
  if (options.kind == Kind::kPositionWeights) return 0;
  std::size_t wanted = options.kind == Kind::kPositionalChain ? 1 : options.order;
  std::size_t entries = symbols;
  std::size_t fitting = 0;
  while (fitting < wanted && entries <= kMostEntries / std::max<std::size_t>(symbols, 1)) {
    entries *= symbols;
    ++fitting;
  }
  return fitting;
}

}  // namespace

std::string BaselineOptions::name() const {
  switch (kind) {
    case Kind::kPositionWeights:
      return "position weight matrix";
    case Kind::kPositionalChain:
      return "first-order positional chain";
    case Kind::kMarkovChain:
      break;
  }
  return fmt::format("order-{} Markov chain", order);
}

FrequencyModel::FrequencyModel(const SequenceSet& data, const std::vector<std::uint32_t>& rows,
                               const BaselineOptions& options)
    : options_(options),
      symbols_(data.alphabet().size()),
      context_(longest_context(options, symbols_)) {
  for (std::size_t y = 0; y < symbols_; ++y) all_.push_back(static_cast<Symbol>(y));
  for (std::size_t k = 0; k <= context_; ++k) pooled_.emplace_back(power(symbols_, k + 1), 0.0);
  if (options.kind != BaselineOptions::Kind::kMarkovChain) {
    std::size_t longest = 0;
    for (const std::uint32_t i : rows) longest = std::max(longest, data[i].size());
    const std::size_t positions = std::min(longest, kMostEntries / pooled_.back().size());
    for (const Table& table : pooled_) at_.emplace_back(positions, table);
  }
  for (const std::uint32_t i : rows) count(data[i]);
  for (std::size_t k = 0; k <= context_; ++k) {
    normalise(pooled_[k], k > 0 ? &pooled_[k - 1] : nullptr);
    for (std::size_t at = 0; !at_.empty() && at < at_[k].size(); ++at)
      normalise(at_[k][at], k > 0 ? &at_[k - 1][at] : nullptr);
  }
}

std::size_t FrequencyModel::place(std::size_t t, std::size_t length) const {
  if (at_.empty()) return kNowhere;
  const std::size_t positions = at_.front().size();
  const std::size_t from_anchor = options_.from_end ? length - 1 - t : t;
  return from_anchor < positions ? from_anchor : kNowhere;
}

const FrequencyModel::Table& FrequencyModel::table_at(std::size_t t, std::size_t length,
                                                      std::size_t known) const {
  const std::size_t at = place(t, length);
  return at == kNowhere ? pooled_[known] : at_[known][at];
}

void FrequencyModel::count(const SequenceView& sequence) {
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    std::size_t context = 0;
    // A known symbol counts in the context of every length that holds known ones only.
    for (std::size_t k = 0; sequence[t] < symbols_ && k <= std::min(context_, t); ++k) {
      if (k > 0) {
        if (sequence[t - k] >= symbols_) break;
        context += sequence[t - k] * power(symbols_, k - 1);
      }
      const std::size_t entry = context * symbols_ + sequence[t];
      pooled_[k][entry] += 1.0;
      const std::size_t at = place(t, sequence.size());
      if (at != kNowhere) at_[k][at][entry] += 1.0;
    }
  }
}

void FrequencyModel::normalise(Table& table, const Table* shorter) const {
  const double even = 1.0 / static_cast<double>(symbols_);
  const double mass = options_.pseudo_count * static_cast<double>(symbols_);
  for (std::size_t begin = 0; begin < table.size(); begin += symbols_) {
    double total = mass;
    for (std::size_t y = 0; y < symbols_; ++y) total += table[begin + y];
    for (std::size_t y = 0; y < symbols_; ++y) {
      double& entry = table[begin + y];
      // The context without its oldest symbol, which is the leading digit.
      const double before = shorter != nullptr ? (*shorter)[(begin + y) % shorter->size()] : even;
      entry = total > 0.0 ? (entry + mass * before) / total : before;
    }
  }
}

double FrequencyModel::log_likelihood(const SequenceView& sequence) const {
  std::map<std::size_t, double> contexts{{0, 1.0}};  // possible ones and their probabilities
  double out = 0.0;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    const std::size_t known = std::min(t, context_);
    const std::size_t keep = power(symbols_, std::min(t + 1, context_));
    const Table& table = table_at(t, sequence.size(), known);
    const Symbol symbol = sequence[t];
    const SymbolMembers listed = symbol == kMissing ? SymbolMembers() : members(symbols_, symbol);
    const std::span<const Symbol> seen =
        symbol == kMissing ? std::span<const Symbol>(all_) : std::span<const Symbol>(listed);
    std::map<std::size_t, double> next;
    double total = 0.0;
    for (const auto& [context, weight] : contexts) {
      for (const Symbol y : seen) {
        const double p = weight * table[context * symbols_ + y];
        next[(context * symbols_ + y) % keep] += p;
        total += p;
      }
    }
    if (total <= 0.0) return -std::numeric_limits<double>::infinity();
    if (symbol != kMissing) out += std::log(total);
    for (auto& [context, weight] : next) weight /= total;
    contexts = std::move(next);
  }
  return out;
}

}  // namespace hqmm::detail

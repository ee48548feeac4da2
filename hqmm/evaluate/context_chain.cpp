#include "hqmm/evaluate/context_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/interruption.hpp"
#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {
namespace {

template <typename Counts>
double count_in(const Counts& counts, std::uint64_t key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0.0 : static_cast<double>(found->second);
}

/// Known symbols right before position t, at most `most`.
class Run {
 public:
  Run(std::size_t most, std::size_t symbols) : most_(most), symbols_(symbols) {}
  [[nodiscard]] std::size_t length() const { return std::min(length_, most_); }
  void pass(Symbol symbol) { length_ = symbol >= symbols_ ? 0 : length_ + 1; }

 private:
  std::size_t most_, symbols_;
  std::size_t length_ = 0;
};

}  // namespace

ContextChain::ContextChain(const SequenceSet& data, std::size_t order)
    : symbols_(data.alphabet().size()), levels_(order + 1) {
  const double bits = std::log2(static_cast<double>(std::max<std::size_t>(symbols_, 2)));
  if (static_cast<double>(order + 1) * bits > 63.0) {
    throw fail(ErrorCode::kUsage, "a chain of order {} over {} symbols is too large: at most {}",
               order, symbols_, static_cast<std::size_t>(63.0 / bits) - 1);
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SequenceView sequence = data[i];
    Run run(order, symbols_);
    for (std::size_t t = 0; t < sequence.size(); run.pass(sequence[t]), ++t) {
      check_interruption(t);
      if (sequence[t] >= symbols_) continue;
      std::uint64_t context = 0;
      std::uint64_t digit = 1;
      for (std::size_t k = 0; k <= run.length(); ++k) {
        if (k > 0) {
          context += digit * sequence[t - k];
          digit *= symbols_;
        }
        ++levels_[k].contexts[context];
        ++levels_[k].entries[context * symbols_ + sequence[t]];
      }
    }
  }
}

double ContextChain::probability(const SequenceView& sequence, std::size_t t, Symbol symbol,
                                 std::size_t known, double mass) const {
  double p = 1.0 / static_cast<double>(symbols_);
  std::uint64_t context = 0;
  std::uint64_t digit = 1;
  for (std::size_t k = 0; k <= known; ++k) {
    if (k > 0) {
      context += digit * sequence[t - k];
      digit *= symbols_;
    }
    const double total = count_in(levels_[k].contexts, context);
    if (total == 0.0) break;  // nor did any longer context
    p = (count_in(levels_[k].entries, context * symbols_ + symbol) + mass * p) / (total + mass);
  }
  return p;
}

double ContextChain::log_likelihood(const SequenceView& sequence, std::size_t order,
                                    double pseudo_count, std::size_t burn_in) const {
  const double mass = pseudo_count * static_cast<double>(symbols_);
  double out = 0.0;
  Run run(std::min(order, levels_.size() - 1), symbols_);
  for (std::size_t t = 0; t < sequence.size(); run.pass(sequence[t]), ++t) {
    check_interruption(t);
    if (sequence[t] == kMissing || t < burn_in) continue;
    double p = 0.0;
    const Symbol seen = sequence[t];
    for (const Symbol y : members(symbols_, seen))
      p += probability(sequence, t, y, run.length(), mass);
    if (p <= 0.0) return -std::numeric_limits<double>::infinity();
    out += std::log(p);
  }
  return out;
}

std::size_t ContextChain::parameters(std::size_t order) const {
  return levels_.at(order).contexts.size() * (symbols_ - 1);
}

}  // namespace hqmm::detail

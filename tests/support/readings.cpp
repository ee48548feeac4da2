#include "support/readings.hpp"

#include "hqmm/data/symbol_sets.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {

Symbols with_sets(std::size_t length, RandomStream& random, double missing_share) {
  Symbols out = random_symbols(length, 4, random, missing_share);
  for (Symbol& symbol : out)
    if (random.uniform() < 0.4) symbol = static_cast<Symbol>(4 + random.below(10));
  return out;
}

void for_each_reading(const Symbols& symbols, const std::function<void(const Symbols&)>& each) {
  Symbols reading = symbols;
  const std::function<void(std::size_t)> from = [&](std::size_t t) {
    if (t == symbols.size()) return each(reading);
    if (symbols[t] == kMissing) return from(t + 1);
    for (const Symbol y : detail::members(4, symbols[t])) {
      reading[t] = y;
      from(t + 1);
    }
  };
  from(0);
}

SequenceSet dna(const std::vector<Symbols>& sequences) { return {Alphabet::dna(), sequences}; }

}  // namespace hqmm::detail::testing

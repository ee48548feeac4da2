#include "hqmm/model/sample.hpp"

#include <algorithm>

#include "hqmm/core/interruption.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/random.hpp"

namespace hqmm {
using namespace detail;
namespace {

template <typename Filter>
void draw(Filter& filter, RandomStream& random, std::span<Symbol> out) {
  std::vector<double> weights(filter.alphabet_size());
  filter.restart(out.size());
  for (Symbol& symbol : out) {
    check_interruption(static_cast<std::size_t>(&symbol - out.data()));
    filter.next_distribution(weights);
    symbol = static_cast<Symbol>(random.categorical(weights));
    filter.step(symbol);
  }
}

}  // namespace

SequenceSet sample(const AnyModel& model, const SampleOptions& options) {
  SequenceSet set(alphabet_of(model));
  // Waves of a fixed size bound the memory that sequences still in flight need.
  const std::size_t wave = std::clamp<std::size_t>(
      (std::size_t{1} << 24) / std::max<std::size_t>(options.length, 1), 1, 1024);
  for (std::size_t begin = 0; begin < options.count; begin += wave) {
    const std::size_t size = std::min(wave, options.count - begin);
    std::vector<std::vector<Symbol>> drawn(size, std::vector<Symbol>(options.length));
    std::visit(
        [&](const auto& m) {
          parallel_for(size, options.threads, [&](std::size_t i) {
            auto filter = make_filter(m);
            RandomStream random(options.seed, Purpose::kSample, options.first_index + begin + i);
            draw(filter, random, drawn[i]);
          });
        },
        model);
    for (const auto& sequence : drawn) {
      for (const Symbol symbol : sequence) set.push_back(symbol);
      set.end_sequence();
    }
  }
  return set;
}

}  // namespace hqmm

// Uses installed headers and calls into the installed library.
#include <fmt/core.h>

#include <hqmm/hqmm.hpp>

int main() {
  const hqmm::SequenceSet set(hqmm::Alphabet::dna(), {{0, 1, 2, 3}, {3, 2}});
  hqmm::RandomStream random(1, hqmm::Purpose::kSample);
  const double u = random.uniform();
  double sum = 0.0;
  hqmm::parallel_for(1, 2, [&](std::size_t) { sum += u; });
  fmt::print("{} sequences over {}\n", set.size(), set.alphabet().description());
  return set.symbol_count() == 6 && set[1][0] == 3 && sum == u && u >= 0.0 && u < 1.0 ? 0 : 1;
}

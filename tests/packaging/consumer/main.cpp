// Uses installed headers and calls into the installed library.
#include <cstdio>
#include <hqmm/hqmm.hpp>

int main() {
  const hqmm::SequenceSet set(hqmm::Alphabet::dna(), {{0, 1, 2, 3}, {3, 2}});
  const hqmm::SequenceSet drawn = hqmm::sample(hqmm::synthetic_hqmm(), {.count = 2, .length = 5});
  std::printf("%zu sequences over %s, %zu drawn, version %s\n", set.size(),
              set.alphabet().description().c_str(), drawn.size(), hqmm::version().data());
  try {
    static_cast<void>(hqmm::parse<hqmm::Format>("xml"));
  } catch (const hqmm::Error& error) {
    return error.code() == hqmm::ErrorCode::kUsage && set.symbol_count() == 6 && set[1][0] == 3 &&
                   drawn.symbol_count() == 10 && hqmm::version() == HQMM_VERSION
               ? 0
               : 1;
  }
  return 1;
}

#include "hqmm/model/synthetic.hpp"

#include <cmath>

#include "hqmm/model/sample.hpp"

namespace hqmm {
using namespace detail;

Hmm synthetic_hmm() {
  Hmm hmm;
  hmm.alphabet = Alphabet::integers(6);
  hmm.transition.resize(6, 6);
  hmm.transition << 0.80, 0.01, 0.00, 0.10, 0.30, 0.00,  //
      0.02, 0.02, 0.10, 0.15, 0.05, 0.00,                //
      0.08, 0.03, 0.10, 0.40, 0.05, 0.50,                //
      0.05, 0.04, 0.50, 0.35, 0.00, 0.50,                //
      0.03, 0.50, 0.03, 0.00, 0.60, 0.00,                //
      0.02, 0.40, 0.27, 0.00, 0.00, 0.00;
  hmm.emission.resize(6, 6);
  hmm.emission << 0.20, 0.00, 0.05, 0.95, 0.01, 0.05,  //
      0.70, 0.10, 0.05, 0.01, 0.05, 0.05,              //
      0.05, 0.80, 0.10, 0.02, 0.05, 0.04,              //
      0.04, 0.04, 0.02, 0.00, 0.84, 0.11,              //
      0.01, 0.03, 0.70, 0.01, 0.02, 0.20,              //
      0.00, 0.03, 0.08, 0.01, 0.03, 0.55;
  hmm.initial = RealVector::Constant(6, 1.0 / 6.0);
  return hmm;
}

Hqmm synthetic_hqmm() {
  const Complex i(0.0, 1.0);
  const double r = std::sqrt(0.5);
  Eigen::Matrix<Complex, 2, 6> outcomes;  // columns +z −z +x −x +y −y
  outcomes << 1.0, 0.0, r, r, r, r,       //
      0.0, 1.0, r, -r, i * r, -i * r;
  KrausSet set(6, 1, 2);
  for (Index y = 0; y < 6; ++y) {
    set.op(y, 0) = outcomes.col(y) * outcomes.col(y).adjoint() / std::sqrt(3.0);
  }
  return stationary_hqmm(Alphabet::integers(6), std::move(set), maximally_mixed(2));
}

Benchmark generate_benchmark(const AnyModel& source, std::uint64_t seed, int threads) {
  const auto draw = [&](std::size_t first, std::size_t count) {
    SampleOptions options;
    options.count = count;
    options.length = kBenchmarkLength;
    options.seed = seed;
    options.first_index = first;
    options.threads = threads;
    return sample(source, options);
  };
  return {draw(0, 20), draw(20, 10), draw(30, 10)};
}

}  // namespace hqmm

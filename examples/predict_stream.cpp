// Symbols as they come: before each one what the model expects, after it how much of a surprise it
// was.
#include <array>
#include <cmath>
#include <cstdio>
#include <hqmm/hqmm.hpp>

int main() {
  const hqmm::Hqmm model = hqmm::synthetic_hqmm();
  const hqmm::SequenceSet stream = hqmm::sample(model, {.count = 1, .length = 500});

  hqmm::HqmmFilter filter(model);  // keeps a reference to the model
  hqmm::SurpriseWindow window(100);
  std::array<double, 6> expected{};
  for (std::size_t t = 0; t < stream[0].size(); ++t) {
    filter.next_distribution(expected);
    const hqmm::Symbol symbol = stream[0][t];
    const hqmm::StepWeight weight = filter.step(symbol);
    window.add(hqmm::surprise(weight));
    if (t % 100 == 99)
      std::printf("symbol %zu: expected with %.3f; %.3f bits per symbol of late\n", t,
                  expected[symbol], window.mean());
  }
  hqmm::predict_ahead(filter, 3, std::span<double>(expected));
  double sum = 0.0;
  for (const double p : expected) sum += p;
  std::printf("three symbols ahead: %.3f %.3f …, in all %.6f\n", expected[0], expected[1], sum);
  return std::abs(sum - 1.0) < 1e-9 ? 0 : 1;
}

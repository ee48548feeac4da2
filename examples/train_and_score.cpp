// Learns a model of a process whose own model is known, and compares the two on sequences that
// neither training nor the choice of the best epoch has seen.
#include <cstdio>
#include <hqmm/hqmm.hpp>

int main() {
  const hqmm::Hqmm truth = hqmm::synthetic_hqmm();
  const hqmm::Benchmark data = hqmm::generate_benchmark(truth, /*seed=*/1);

  hqmm::TrainOptions options;  // the recipe that did best in our measurements
  options.latent_dim = 2;
  options.kraus_rank = 1;
  options.epochs = 5;
  const hqmm::TrainResult result = hqmm::train(data.train, data.validation, options);

  const hqmm::ScoreOptions scoring{.burn_in = hqmm::kBenchmarkBurnIn};
  const hqmm::Score learned = hqmm::score(result.model, data.test, scoring);
  const hqmm::Score ceiling = hqmm::score(truth, data.test, scoring);
  std::printf("learned %.4f bits per symbol, the process itself %.4f\n", *learned.bits_per_symbol,
              *ceiling.bits_per_symbol);

  hqmm::write_model("learned.h5", {result.model});
  const hqmm::ModelFile file = hqmm::read_model("learned.h5");
  return hqmm::kind_of(file.model) == "hqmm" ? 0 : 1;
}

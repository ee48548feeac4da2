// Sequences from a source of your own, progress while a model is learned, and an end of your
// choice: here after a second, or once five epochs have brought no gain.
#include <chrono>
#include <cstdio>
#include <hqmm/hqmm.hpp>

namespace {

/// Coin tosses whose coin is changed for a biased one after every 1: 0 and 1 as symbols 0 and 1.
hqmm::SequenceSet tosses(std::size_t sequences, std::uint64_t seed) {
  hqmm::SequenceSet out(hqmm::Alphabet::integers(2));
  for (std::size_t i = 0; i < sequences; ++i) {
    bool biased = false;
    for (int t = 0; t < 200; ++t) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      const bool one = (seed >> 33U) % 10 < (biased ? 9U : 5U);
      out.push_back(one ? 1 : 0);
      biased = one;
    }
    out.end_sequence();
  }
  return out;
}

}  // namespace

int main() {
  const hqmm::SequenceSet train = tosses(40, 1), validation = tosses(10, 2);

  hqmm::TrainOptions options;
  options.latent_dim = 2;
  options.patience = 5;
  const auto begin = std::chrono::steady_clock::now();
  hqmm::TrainHooks hooks;
  hooks.on_epoch = [](const hqmm::EpochRecord& epoch) {
    if (epoch.best) std::printf("epoch %zu: %.4f\n", epoch.epoch, epoch.validation.da.value_or(0));
  };
  hooks.stop_requested = [begin] {
    return std::chrono::steady_clock::now() - begin > std::chrono::seconds(1);
  };
  try {
    const hqmm::TrainResult result = hqmm::train(train, validation, options, hooks);
    std::printf("ended after %zu epochs (%s)\n", result.epochs_run,
                std::string(hqmm::name_of(result.status)).c_str());
  } catch (const hqmm::Error& error) {
    std::printf("%s\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}

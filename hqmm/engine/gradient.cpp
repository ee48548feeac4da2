#include "hqmm/engine/gradient.hpp"

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/reference.hpp"

namespace hqmm {

BatchGradient& BatchGradient::operator+=(const BatchGradient& other) {
  scored += other.scored;
  log_likelihood += other.log_likelihood;
  raw_log_likelihood += other.raw_log_likelihood;
  if (sets.empty()) {
    sets = other.sets;
    initial_state = other.initial_state;
    return *this;
  }
  for (std::size_t i = 0; i < other.sets.size(); ++i) sets[i] += other.sets[i];
  if (other.initial_state.size() > 0) initial_state += other.initial_state;
  return *this;
}

BatchGradient gradient(const Hqmm& model, std::span<const SequenceView> batch,
                       const GradientOptions& options, int threads) {
  return parallel_reduce(
      batch.size(), threads, BatchGradient{},
      [&](std::size_t i) {
        try {
          return reference_gradient(model, batch[i], options);
        } catch (const NotFiniteError& error) {
          throw NotFiniteError({i, error.place().position});
        }
      },
      [](BatchGradient a, const BatchGradient& b) {
        a += b;
        return a;
      });
}

}  // namespace hqmm

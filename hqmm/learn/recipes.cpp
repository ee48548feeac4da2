#include "hqmm/learn/recipes.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

/// COSM's published step sizes and decays, tuned per shape on the benchmarks of that alphabet size.
struct Tuned {
  int n, s, w;
  double step_size, step_decay;
};
constexpr Tuned kTuned[] = {
    {2, 4, 1, 0.70, 0.90}, {2, 4, 2, 0.85, 0.92}, {2, 4, 4, 0.80, 0.90}, {2, 4, 6, 0.85, 0.92},
    {4, 4, 1, 0.90, 0.92}, {4, 4, 2, 0.75, 0.90}, {4, 4, 4, 0.90, 0.90}, {4, 4, 6, 0.90, 0.88},
    {6, 4, 1, 0.75, 0.90}, {6, 4, 2, 0.70, 0.88}, {6, 4, 4, 0.70, 0.90}, {6, 4, 6, 0.80, 0.88},
    {8, 4, 1, 0.90, 0.90}, {8, 4, 2, 0.80, 0.90}, {8, 4, 4, 0.80, 0.90}, {8, 4, 6, 0.90, 0.92},
    {2, 6, 1, 0.95, 0.99}, {3, 6, 1, 0.85, 0.92}, {4, 6, 1, 0.75, 0.99}, {4, 6, 2, 0.95, 0.99},
    {4, 6, 3, 0.95, 0.98}, {4, 6, 4, 0.95, 0.98}, {4, 6, 5, 0.95, 0.96}, {4, 6, 6, 0.95, 0.96},
    {5, 6, 1, 0.55, 0.96}, {5, 6, 2, 0.95, 0.98}, {5, 6, 3, 0.95, 0.98}, {5, 6, 4, 0.95, 0.99},
    {5, 6, 5, 0.95, 0.98}, {5, 6, 6, 0.95, 0.99}, {6, 6, 1, 0.75, 0.92}, {6, 6, 2, 0.85, 0.98},
    {6, 6, 3, 0.95, 0.99}, {6, 6, 4, 0.95, 0.98}, {6, 6, 5, 0.95, 0.99}, {6, 6, 6, 0.85, 0.98}};

const Tuned& nearest_tuned(Index n, std::size_t s, Index w) {
  const Tuned* best = &kTuned[0];
  double least = std::numeric_limits<double>::infinity();
  for (const Tuned& tuned : kTuned) {
    const auto off = [](double a, double b) { return std::abs(std::log(a / b)); };
    const double distance = 4.0 * off(tuned.s, static_cast<double>(s)) +
                            2.0 * off(tuned.n, static_cast<double>(n)) +
                            off(tuned.w, static_cast<double>(w));
    if (distance < least) {
      least = distance;
      best = &tuned;
    }
  }
  return *best;
}

/// What the schedule leaves of a step size.
double share_of_step(const TrainOptions& options, std::size_t epoch) {
  const auto k = static_cast<double>(epoch);
  switch (options.schedule) {
    case ScheduleKind::kCosine:
      return 0.5 * (1.0 + std::cos(std::numbers::pi * k / static_cast<double>(options.epochs)));
    case ScheduleKind::kGeometric:
      return std::pow(options.step_decay, k);
    case ScheduleKind::kConstant:
      break;
  }
  return 1.0;
}

}  // namespace

TrainOptions em_start_options(const TrainOptions& options) {
  TrainOptions em = default_options(LearnerKind::kEm);
  em.latent_dim = options.latent_dim;
  em.validation_burn_in = options.validation_burn_in;
  em.seed = options.seed;
  em.threads = options.threads;
  em.time_limit = options.time_limit;
  return em;
}

void apply_paper_preset(TrainOptions& options, std::size_t alphabet_size) {
  if (options.learner == LearnerKind::kEm) {
    options.restarts = 5;
    return;
  }
  options.initial_state = InitialStateKind::kRandom;
  options.chunk_length = 300;
  options.burn_in = 100;
  options.validation_burn_in = 1000;
  options.gradient_through_burn_in = false;
  options.average = 0.0;
  options.momentum = 0.9;
  options.schedule = ScheduleKind::kGeometric;
  if (options.learner == LearnerKind::kGivens) return;
  options.epochs = 60;
  options.batch_size = 1;
  options.step_size = 0.2;  // settles at every shape; the paper's own: apply_published_steps
  options.step_decay = 0.95;
  if (options.learner == LearnerKind::kCosm) {
    options.batch_size = 20;
    apply_published_steps(options, alphabet_size);
  }
}

TrainOptions recipe(LearnerKind learner, std::string_view preset, std::size_t alphabet_size,
                    const std::function<void(TrainOptions&)>& apply_given) {
  TrainOptions options = default_options(learner);
  apply_given(options);
  if (preset == "paper") {
    apply_paper_preset(options, alphabet_size);
  } else if (preset != "default") {
    throw fail(ErrorCode::kUsage, "there is no preset '{}': choose default or paper",
               printable(preset));
  }
  // A mean of infeasible models is projected back before it is scored.
  if (options.retraction == RetractionKind::kLiteral) options.average = 0.0;
  apply_given(options);
  return options;
}

void apply_published_steps(TrainOptions& options, std::size_t alphabet_size) {
  const Tuned& tuned = nearest_tuned(options.latent_dim, alphabet_size, options.kraus_rank);
  options.step_size = tuned.step_size;
  options.step_decay = tuned.step_decay;
}

double step_size_at(const TrainOptions& options, std::size_t epoch) {
  return options.step_size * share_of_step(options, epoch);
}

double emission_step_at(const TrainOptions& options, std::size_t epoch) {
  return options.emission_step * share_of_step(options, epoch);
}

/// Where restarts are halved, later epochs are of fewer of them: each third of three parts, say,
/// takes half the time of the one before.
double share_of_work(const TrainOptions& options, std::size_t epochs) {
  if (options.epochs == 0) return 1.0;
  const double at = static_cast<double>(epochs) / static_cast<double>(options.epochs);
  if (!options.halving || options.restarts < 2) return at;
  const double parts = 1.0 + std::ceil(std::log2(static_cast<double>(options.restarts)));
  const double done = std::floor(at * parts);
  // of parts that weigh 1, 1/2, 1/4, …
  const auto weight_of = [](double count) { return 2.0 - 2.0 * std::exp2(-count); };
  const double within = (at * parts - done) * std::exp2(-done);
  return (weight_of(done) + within) / weight_of(parts);
}

}  // namespace hqmm::detail

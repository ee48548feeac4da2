#include "hqmm/learn/options.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "hqmm/core/error.hpp"
#include "hqmm/engine/quantum/choose.hpp"

namespace hqmm {
namespace {

template <typename Kind, std::size_t N>
using Names = std::array<std::pair<Kind, std::string_view>, N>;

constexpr Names<LearnerKind, 4> kLearners{{{LearnerKind::kNsRis, "ns-ris"},
                                           {LearnerKind::kCosm, "cosm"},
                                           {LearnerKind::kGivens, "givens"},
                                           {LearnerKind::kEm, "em"}}};
constexpr Names<RetractionKind, 2> kRetractions{
    {{RetractionKind::kFeasible, "feasible"}, {RetractionKind::kLiteral, "literal"}}};
constexpr Names<ScheduleKind, 3> kSchedules{{{ScheduleKind::kCosine, "cosine"},
                                             {ScheduleKind::kGeometric, "geometric"},
                                             {ScheduleKind::kConstant, "constant"}}};
constexpr Names<InitialStateKind, 4> kInitialStates{{{InitialStateKind::kUniform, "uniform"},
                                                     {InitialStateKind::kRandom, "random"},
                                                     {InitialStateKind::kLearned, "learned"},
                                                     {InitialStateKind::kPure, "pure"}}};

constexpr Names<EmissionKind, 2> kEmissions{
    {{EmissionKind::kState, "state"}, {EmissionKind::kEdge, "edge"}}};

template <typename Kind, std::size_t N>
std::string_view name_in(const Names<Kind, N>& names, Kind kind) {
  for (const auto& [value, name] : names) {
    if (value == kind) return name;
  }
  return "?";
}

template <typename Kind, std::size_t N>
Kind parse_in(const Names<Kind, N>& names, std::string_view text, const char* what) {
  std::string known;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw fail(ErrorCode::kUsage, "there is no {} '{}': known are {}", what, printable(text), known);
}

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

/// What can be told before there is data: an engine may still refuse that.
void require_engine(const TrainOptions& options) {
  if (options.engine == EngineKind::kAuto) return;
  if (options.learner != LearnerKind::kNsRis && options.learner != LearnerKind::kCosm) {
    throw fail(ErrorCode::kUsage, "--engine is about the gradients of ns-ris and cosm: {} has none",
               name_of(options.learner));
  }
  BatchShape shape{options.latent_dim, options.kraus_rank, 1};
  shape.state_rank = options.initial_state == InitialStateKind::kPure ? 1 : options.latent_dim;
  shape.feasible = options.retraction == RetractionKind::kFeasible;
  static_cast<void>(choose(shape, options.engine));
}

void require(bool good, const char* option, std::string_view expected, double found) {
  if (!good) throw fail(ErrorCode::kUsage, "{}: expected {}, found {}", option, expected, found);
}

}  // namespace

std::string_view name_of(LearnerKind kind) { return name_in(kLearners, kind); }
std::string_view name_of(RetractionKind kind) { return name_in(kRetractions, kind); }
std::string_view name_of(ScheduleKind kind) { return name_in(kSchedules, kind); }
std::string_view name_of(InitialStateKind kind) { return name_in(kInitialStates, kind); }
std::string_view name_of(EmissionKind kind) { return name_in(kEmissions, kind); }
LearnerKind parse_learner(std::string_view text) { return parse_in(kLearners, text, "learner"); }
RetractionKind parse_retraction(std::string_view text) {
  return parse_in(kRetractions, text, "retraction");
}
ScheduleKind parse_schedule(std::string_view text) {
  return parse_in(kSchedules, text, "schedule");
}
InitialStateKind parse_initial_state(std::string_view text) {
  return parse_in(kInitialStates, text, "initial state");
}
EmissionKind parse_emission(std::string_view text) {
  return parse_in(kEmissions, text, "emission");
}

TrainOptions default_options(LearnerKind learner) {
  TrainOptions options;
  options.learner = learner;
  switch (learner) {
    case LearnerKind::kNsRis:
    case LearnerKind::kCosm:
      break;
    case LearnerKind::kGivens:
      options.epochs = 15;
      options.batch_size = 1;
      break;
    case LearnerKind::kEm:
      options.epochs = 600;
      options.restarts = 16;
      options.chunk_length = 0;
      options.burn_in = 0;
      break;
  }
  return options;
}

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
    throw fail(ErrorCode::kUsage, "there is no preset '{}': known are default, paper",
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
  const auto k = static_cast<double>(epoch);
  switch (options.schedule) {
    case ScheduleKind::kCosine:
      return options.step_size * 0.5 *
             (1.0 + std::cos(std::numbers::pi * k / static_cast<double>(options.epochs)));
    case ScheduleKind::kGeometric:
      return options.step_size * std::pow(options.step_decay, k);
    case ScheduleKind::kConstant:
      break;
  }
  return options.step_size;
}

void require_usable(const TrainOptions& options) {
  const auto as_double = [](auto value) { return static_cast<double>(value); };
  require(options.latent_dim >= 1, "--latent-dim", "at least 1", as_double(options.latent_dim));
  require(options.kraus_rank >= 1, "--kraus-rank", "at least 1", as_double(options.kraus_rank));
  require(options.batch_size >= 1, "--batch-size", "at least 1", as_double(options.batch_size));
  require(options.step_size >= 0.0 && std::isfinite(options.step_size), "--step-size",
          "a number ≥ 0", options.step_size);
  require(options.step_decay > 0.0 && options.step_decay <= 1.0, "--step-decay",
          "a number in (0, 1]", options.step_decay);
  require(options.momentum >= 0.0 && options.momentum < 1.0, "--momentum", "a number in [0, 1)",
          options.momentum);
  require(options.average >= 0.0 && options.average < 1.0, "--average", "a number in [0, 1)",
          options.average);
  require(options.ns_steps >= 1 && options.ns_steps <= 100, "--ns-steps", "1 to 100",
          as_double(options.ns_steps));
  constexpr std::size_t kMostEvaluations = 1000000;
  require(options.givens_evaluations >= 1 && options.givens_evaluations <= kMostEvaluations,
          "--givens-evaluations", "1 to 1000000", as_double(options.givens_evaluations));
  require(options.restarts >= 1, "--restarts", "at least 1", as_double(options.restarts));
  require(options.tolerance >= 0.0, "--tolerance", "a number ≥ 0", options.tolerance);
  require(options.time_limit >= 0.0, "--time-limit", "seconds ≥ 0", options.time_limit);
  require(options.warm_noise >= 0.0 && std::isfinite(options.warm_noise), "--warm-noise",
          "a number ≥ 0", options.warm_noise);
  require_engine(options);
  if (options.emission == EmissionKind::kEdge && options.learner != LearnerKind::kEm) {
    throw fail(ErrorCode::kUsage, "--emission is about the HMMs of em: {} learns HQMMs",
               name_of(options.learner));
  }
  if (options.learner == LearnerKind::kGivens &&
      options.initial_state == InitialStateKind::kLearned) {
    throw fail(ErrorCode::kUsage,
               "givens turns the Kraus operators only: use another --initial-state than learned");
  }
  if (options.chunk_length && *options.chunk_length > 0 && options.burn_in &&
      *options.burn_in >= *options.chunk_length) {
    throw fail(ErrorCode::kUsage, "--burn-in {} leaves nothing of chunks of {} symbols",
               *options.burn_in, *options.chunk_length);
  }
}

}  // namespace hqmm

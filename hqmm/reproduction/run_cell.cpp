#include "hqmm/reproduction/run_cell.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/error.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/reproduction/papers_steps.hpp"
#include "hqmm/run/session.hpp"

namespace hqmm::detail::reproduction {
namespace {

SplitAccuracy accuracy(const Score& score) {
  SplitAccuracy out;
  out.da = score.da_mean.value_or(0.0);
  if (score.raw) out.raw_da = score.raw->da_mean;
  return out;
}

void measure_singular_values(const AnyModel& model, SyntheticOutcome& out) {
  const auto* hqmm = std::get_if<Hqmm>(&model);
  if (hqmm == nullptr) return;
  const Stack& gamma = hqmm->sets.front().gamma();
  const Matrix gram = gamma.adjoint() * gamma;
  const RealVector squares = hermitian_eigenvalues(gram);
  out.smallest_singular = std::sqrt(std::max(squares.minCoeff(), 0.0));
  out.largest_singular = std::sqrt(std::max(squares.maxCoeff(), 0.0));
}

/// The seconds of a warm start count.
TrainResult train_cell(const Cell& cell, const SyntheticData& data, double time_limit,
                       const StopRequest& stop, SplitAccuracy& last_validation) {
  const Session session({borrowed(data.train), borrowed(data.validation), {}, {}, {}},
                        cell_options(cell, time_limit, data.train.alphabet().size()));
  SessionRequest request;
  if (traits_of(cell.method).warm_start) request.warm_start.kind = WarmStart::Kind::kEm;
  request.report = Report::kNothing;  // score_model() finds out more
  request.hooks.stop_requested = stop;
  request.hooks.on_epoch = [&](Stage, const EpochRecord& record) {
    last_validation = {record.validation.da.value_or(0.0), record.validation.raw_da};
  };
  SessionResult out = session.run(request);
  out.trained.seconds += out.warm_start_seconds;
  return std::move(out.trained);
}

/// Starts of our recipe at w = 1, where single ones end in poor local optima now and then.
constexpr std::size_t kRankOneStarts = 2;

/// Published for COSM on the synthetic HQMM.
constexpr double kHqmmDecay = 0.98;

/// Batches of a Givens search: it is still gaining after its default of 15.
constexpr std::size_t kGivensBatches = 100;

double polynomial(double x) {
  const double square = x * x;
  return x * (3.4445 + square * (-4.7750 + square * 2.0315));
}

}  // namespace

SyntheticOutcome score_model(const AnyModel& model, const SyntheticData& data) {
  SyntheticOutcome out;
  out.train = accuracy(score(model, data.train, {.burn_in = kBenchmarkBurnIn, .threads = 1}));
  out.validation =
      accuracy(score(model, data.validation, {.burn_in = kBenchmarkBurnIn, .threads = 1}));
  const Score test = score(model, data.test, {.burn_in = kBenchmarkBurnIn, .threads = 1});
  out.test = accuracy(test);
  const std::size_t s = alphabet_of(model).size();
  for (const SequenceLikelihood& one : test.per_sequence) {
    if (const auto da = description_accuracy(one.log_likelihood, one.scored, s))
      out.test_da.push_back(*da);
  }
  out.residual = test.feasibility_residual;
  measure_singular_values(model, out);
  return out;
}

TrainOptions cell_options(const Cell& cell, double time_limit, std::size_t alphabet_size) {
  const MethodTraits& method = traits_of(cell.method);
  TrainOptions options = default_options(method.learner);
  options.latent_dim = cell.latent_dim;
  options.kraus_rank = std::max<Index>(cell.kraus_rank, 1);
  const bool descends =
      method.learner == LearnerKind::kNsRis || method.learner == LearnerKind::kCosm;
  if (method.protocol != Protocol::kOurs) apply_paper_preset(options, alphabet_size);
  if (method.protocol == Protocol::kPaper && descends) {
    apply_papers_steps(options, alphabet_size);
    // That table goes by (n, s, w), and both synthetic sets have a (2, 6, 1).
    if (cell.study == Study::kSyntheticHqmm) options.step_decay = kHqmmDecay;
  }
  if (method.protocol == Protocol::kOurs && descends && options.kraus_rank == 1)
    options.restarts = kRankOneStarts;
  options.retraction = method.retraction;
  options.ns_steps = cell.ns_steps;
  options.validation_burn_in = kBenchmarkBurnIn;
  options.seed = cell.seed;
  options.threads = 1;
  if (method.learner == LearnerKind::kGivens) {
    options.epochs = kGivensBatches;
    options.time_limit = time_limit;
  }
  return options;
}

std::optional<SyntheticOutcome> run_synthetic_cell(const Cell& cell, const SyntheticData& data,
                                                   double time_limit, const StopRequest& stop) {
  SplitAccuracy last_validation;
  const TrainResult result = train_cell(cell, data, time_limit, stop, last_validation);
  if (result.status == TrainStatus::kInterrupted) return {};
  SyntheticOutcome out = score_model(result.model, data);
  out.last_validation = last_validation;
  out.epochs = result.epochs_run;
  out.best_epoch = result.best_epoch;
  out.status = name_of(result.status);
  out.seconds = result.seconds;
  return out;
}

double literal_scale(Index latent_dim, int ns_steps) {
  double x = 1.0 / std::sqrt(static_cast<double>(latent_dim));
  for (int step = 0; step < ns_steps; ++step) x = polynomial(x);
  return x;
}

Range literal_range(int ns_steps, double least_in) {
  constexpr int kPoints = 100000;
  Range out{std::numeric_limits<double>::infinity(), 0.0};
  for (int k = 0; k <= kPoints; ++k) {
    double x = least_in + (1.0 - least_in) * k / kPoints;
    for (int step = 0; step < ns_steps; ++step) x = polynomial(x);
    out.least = std::min(out.least, x);
    out.greatest = std::max(out.greatest, x);
  }
  return out;
}

double raw_gain(double scale, std::size_t alphabet_size) {
  return 2.0 * std::log(scale) / std::log(static_cast<double>(alphabet_size));
}

}  // namespace hqmm::detail::reproduction

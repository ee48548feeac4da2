// A model that says less than the frequencies of symbols has learned nothing of their order: both
// it and a chain without memory are counted in the training data and scored where validation is.
#include "train/doubt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "hqmm/evaluate/chain_baseline.hpp"
#include "hqmm/learn/data_plan.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/learn/trainer.hpp"

namespace hqmm::cli {
namespace {

/// Bits per symbol that are not worth a word: on data without any order a good model loses half a
/// bit or so for every parameter, once, and on few symbols chance does as much.
double margin(std::uint64_t symbols) {
  return std::max(0.005, 1.0 / std::sqrt(static_cast<double>(symbols)));
}

double bits_of_frequencies(const Session& session) {
  ChainOptions how;
  how.orders = {0};
  how.burn_in = session.plan().validation_burn_in;
  how.threads = session.options().threads;
  const PlannedData data = session.planned();
  return chain_baseline(data.train, data.validation, nullptr, how).front().bits;
}

/// The likeliest help first.
std::vector<std::string> what_may_help(const TrainOptions& options, const TrainResult& result) {
  std::vector<std::string> out;
  const bool em = options.learner == LearnerKind::kEm;
  const bool descends =
      options.learner == LearnerKind::kNsRis || options.learner == LearnerKind::kCosm;
  const bool literal =
      options.learner == LearnerKind::kNsRis && options.retraction == RetractionKind::kLiteral;
  if (literal) out.emplace_back("--retraction feasible");
  if (!em && options.kraus_rank == 1) out.emplace_back("-w 2");
  const bool still_rising =
      result.status != TrainStatus::kConverged && result.best_epoch * 10 >= result.epochs_run * 9;
  if (still_rising && result.best_epoch > 0) {
    out.push_back(result.status == TrainStatus::kTimeLimit
                      ? "a longer --time-limit"
                      : fmt::format("more epochs (--epochs {})", 4 * options.epochs));
  } else if (descends) {
    out.push_back(fmt::format("a smaller step (--step-size {:g})", options.step_size / 4.0));
  }
  if (options.latent_dim > 2) out.emplace_back("a smaller -n");
  out.emplace_back("more data");
  return out;
}

}  // namespace

std::string doubt_about(const Session& session, const SessionResult& found) {
  const auto& bits = found.scores.validation.bits_per_symbol;
  const TrainStatus status = found.trained.status;
  if (!bits || status == TrainStatus::kInterrupted || status == TrainStatus::kDiverged) return {};
  const double guessing = std::log2(static_cast<double>(session.data().train->alphabet().size()));
  const double frequencies = bits_of_frequencies(session);
  if (*bits <= std::min(guessing, frequencies) + margin(found.scores.validation.symbols)) return {};
  return fmt::format(
      "the model is worse than {}: {:.4f} bits per symbol on validation data, where guessing takes "
      "{:.4f} and the frequencies {:.4f}; try {}",
      *bits > guessing ? "guessing" : "the frequencies of the symbols alone", *bits, guessing,
      frequencies, fmt::join(what_may_help(session.options(), found.trained), ", "));
}

}  // namespace hqmm::cli

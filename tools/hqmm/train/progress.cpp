#include "train/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "hqmm/learn/trainer.hpp"
#include "hqmm/run/session.hpp"
#include "support/clock.hpp"
#include "support/command.hpp"

namespace hqmm::cli {
namespace {

std::string count(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

Progress::Progress(const CommonOptions& common, const TrainOptions& options)
    : line_(common), options_(options) {}

/// From the epochs so far; a restart still to come is taken to need as many as those before it did.
std::string Progress::time_left(const EpochRecord& record) {
  if (record.restart != restart_) {
    // A run that goes on does not know its earlier restarts.
    epochs_earlier_ =
        restart_ + epoch_ == 0 ? record.restart * options_.epochs : epochs_earlier_ + epoch_;
    restart_ = record.restart;
  }
  epoch_ = record.epoch;
  const auto done = static_cast<double>(epochs_earlier_ + record.epoch);
  if (done == 0.0) return "?";
  const double each = record.restart == 0 ? static_cast<double>(options_.epochs)
                                          : static_cast<double>(epochs_earlier_) /
                                                static_cast<double>(record.restart);
  const double here = std::max(each - static_cast<double>(record.epoch), 0.0);
  const double later = each * static_cast<double>(options_.restarts - record.restart - 1);
  double left = record.seconds / done * (here + later);
  if (options_.time_limit > 0.0) left = std::clamp(options_.time_limit - record.seconds, 0.0, left);
  return duration(left);
}

void Progress::show(const EpochRecord& record) {
  if (!line_.visible()) return;
  if (record.best) best_da_ = record.validation.da;
  const auto figure = [](const std::optional<double>& da) {
    return da ? fmt::format("{:.4f}", *da) : "–";
  };
  const std::string restart =
      options_.restarts > 1 ? fmt::format("restart {}/{} ", record.restart + 1, options_.restarts)
                            : "";
  line_.show(fmt::format("{}epoch {}/{}  validation DA {}  best {}  {} left", restart, record.epoch,
                         options_.epochs, figure(record.validation.da), figure(best_da_),
                         time_left(record)));
}

std::string describe_run(const Session& session) {
  const auto& [train, validation, plan] = session.planned();
  const TrainOptions& options = session.options();
  std::string out(name_of(options.learner));
  if (options.learner == LearnerKind::kNsRis)
    out += fmt::format(" ({})", name_of(options.retraction));
  out += fmt::format(", n = {}", options.latent_dim);
  if (options.learner != LearnerKind::kEm) out += fmt::format(", w = {}", options.kraus_rank);
  out += fmt::format(", s = {}: {}, {} symbols", train.alphabet().size(),
                     count(train.size(), "training sequence"), train.symbol_count());
  if (plan.chunk_length > 0) out += fmt::format(" in chunks of {}", plan.chunk_length);
  if (plan.burn_in > 0) out += fmt::format(" with a burn-in of {}", plan.burn_in);
  out += "; " + count(validation.size(), "validation sequence");
  if (plan.validation_burn_in > 0)
    out += fmt::format(" with a burn-in of {}", plan.validation_burn_in);
  return out;
}

}  // namespace hqmm::cli

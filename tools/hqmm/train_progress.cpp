#include "train_progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace hqmm::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

std::string duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string count(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

void on_interrupt(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Progress::Progress(const CommonOptions& common, const TrainOptions& options)
    : visible_(!common.quiet && ::isatty(STDERR_FILENO) == 1), options_(options) {}

void Progress::show(const EpochRecord& record) {
  if (!visible_) return;
  if (record.best) best_da_ = record.validation.da;
  const auto figure = [](const std::optional<double>& da) {
    return da ? fmt::format("{:.4f}", *da) : "–";
  };
  const auto done = static_cast<double>(record.restart * options_.epochs + record.epoch);
  const auto all = static_cast<double>(options_.restarts * options_.epochs);
  double seconds_left = done > 0 ? record.seconds / done * (all - done) : 0.0;
  if (options_.time_limit > 0.0)
    seconds_left = std::clamp(options_.time_limit - record.seconds, 0.0, seconds_left);
  const std::string left = done > 0 ? duration(seconds_left) : "?";
  const std::string restart =
      options_.restarts > 1 ? fmt::format("restart {}/{} ", record.restart + 1, options_.restarts)
                            : "";
  fmt::print(stderr, "\r\x1b[K{}epoch {}/{}  validation DA {}  best {}  {} left", restart,
             record.epoch, options_.epochs, figure(record.validation.da), figure(best_da_), left);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

void leave_on_interrupts() {
  on_interrupt([](int) { ::_exit(exit_status(ErrorCode::kInterrupted)); });
}

StopRequest catch_interrupts() {
  on_interrupt([](int) { interrupted = 1; });
  return [] { return interrupted != 0; };
}

std::string describe_run(const TrainOptions& options, const SequenceSet& train,
                         const SequenceSet& validation) {
  const DataPlan plan = plan_data(train, validation, options);
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

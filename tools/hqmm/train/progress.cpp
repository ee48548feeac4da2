#include "train/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "hqmm/learn/trainer.hpp"
#include "hqmm/run/session.hpp"
#include "support/clock.hpp"
#include "support/command.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

std::string count(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

Progress::Progress(const CommonOptions& common, const TrainOptions& options)
    : line_(common), options_(options), draws_(locale_is_utf8()) {}

/// From the epochs since this line began: a resumed run had others before.
std::string Progress::time_left(const EpochRecord& record) {
  const double share = share_of_work(options_, record.epoch);
  const double gone = share - first_share_;
  const double seconds = record.seconds - first_seconds_;
  if (!(gone > 0.0) || !(seconds > 0.0)) return "?";
  double left = seconds / gone * std::max(1.0 - share, 0.0);
  if (options_.time_limit > 0.0) left = std::clamp(options_.time_limit - seconds, 0.0, left);
  return duration(left);
}

void Progress::go_on(const Resumption& at) {
  first_share_ = share_of_work(options_, at.epoch);
  first_seconds_ = at.seconds;
  best_da_ = at.best.da;
  show(0, at.epoch, {}, "?");
}

void Progress::show(const EpochRecord& record) {
  if (record.best) best_da_ = record.validation.da;
  // The start is usually far from all that follows.
  if (record.epoch > 0)
    bits_[record.restart].add(-record.validation.log_likelihood /
                              (static_cast<double>(record.validation.symbols) * std::numbers::ln2));
  show(record.restart, record.epoch, record.validation.da, time_left(record));
}

void Progress::show(std::size_t restart, std::size_t epoch, const std::optional<double>& da,
                    const std::string& left) {
  if (!line_.visible()) return;
  const auto figure = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : "–";
  };
  const std::string which =
      options_.restarts > 1 ? fmt::format("restart {}/{} ", restart + 1, options_.restarts) : "";
  std::string text = fmt::format("{}epoch {}/{}  validation DA {}  best {}  {} left", which, epoch,
                                 options_.epochs, figure(da), figure(best_da_), left);
  // Without room for at least a few characters, the curve is left out.
  constexpr std::size_t kFewest = 4;
  const std::size_t room = ProgressLine::columns(), taken = text_width(text) + 2;
  if (draws_ && room >= taken + kFewest)
    if (const std::string drawn = bits_[restart].text(room - taken); !drawn.empty())
      text += "  " + drawn;
  line_.show(std::move(text));
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

// The flags that say how a classifier is learned: those of the options' table, which a grid uses as
// well, and those that say what to choose from.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "classify/classify.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/data/folds.hpp"
#include "hqmm/data/position_plan.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/evaluate/classifier_settings.hpp"
#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/io/position_map_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/learn/class_labels.hpp"
#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/learn/option_table.hpp"
#include "support/clock.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"
#include "support/option_flags.hpp"
#include "support/progress_line.hpp"
#include "support/words.hpp"

namespace hqmm::cli {
namespace {

constexpr const char* kModel = "Models";
constexpr const char* kSelection = "Selection";

bool is_passing(std::string_view id) {
  const auto* row = find_option(classifier_option_table(), id);
  return row != nullptr && row->passing;
}

void open_map(PositionPlan& plan) {
  if (plan.kind == PositionPlan::Kind::kMap) plan.map = read_position_map(plan.file);
}

}  // namespace

void ClassifierFlags::add_to(Command command) {
  for (const auto& row : classifier_option_table())
    if (!row.only_kept) add_flag_of(command, row, given_, default_text(row));
  command
      .add_option(
          "--prior", prior_,
          "Class probabilities before any symbol is seen: uniform, empirical, or EI=0.3,IE=0.3,…")
      .capture_default_str()
      .group(kModel)
      .type_name("P");
  grid_option_ = command
                     .add_option("--grid", grid_,
                                 "Settings to choose from, "
                                 "by cross-validation inside the training rows, e.g. "
                                 "'step-size=0.005,0.01;dropout=0.3,0.5'; 'none' for no choice")
                     .group(kSelection)
                     .type_name("G");
  command
      .add_option("--inner-folds", inner_folds_,
                  "Folds for comparing settings; 1 holds out a fifth once")
      .check(whole_number(1, 1000))
      .capture_default_str()
      .group(kSelection)
      .type_name("N");
  command
      .add_option(
          "--group", group_,
          "Rows that folds keep together: none, identical, or homology:K (K equal positions)")
      .capture_default_str()
      .group(kSelection)
      .type_name("G");
}

void ClassifierFlags::set_prior(ClassifierOptions& options, const SequenceSet& data) const {
  if (prior_ == "uniform" || prior_ == "empirical") {
    options.prior = prior_ == "uniform" ? PriorKind::kUniform : PriorKind::kEmpirical;
    return;
  }
  const std::vector<std::string> names = ordered_classes(data).names;
  options.prior = PriorKind::kGiven;
  options.given_priors.assign(names.size(), 0.0);
  // A class may hold ',' and '=': names are looked for, not cut out.
  std::string_view rest = prior_;
  while (!rest.empty()) {
    std::size_t best = names.size();
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (rest.starts_with(names[c] + "=") &&
          (best == names.size() || names[c].size() > names[best].size()))
        best = c;
    }
    if (best == names.size()) {
      throw fail(
          ErrorCode::kUsage,
          "--prior: expected uniform, empirical or CLASS=P,…, found '{}'; the classes are {}",
          printable(rest),
          class_text(names.front()) + ", " + class_text(names[1]) +
              (names.size() > 2 ? ", …" : ""));
    }
    rest.remove_prefix(names[best].size() + 1);
    double value = 0.0;
    const auto [stop, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    const auto used = static_cast<std::size_t>(stop - rest.data());
    if (failure != std::errc() || !(value > 0.0) || (used < rest.size() && rest[used] != ','))
      throw fail(ErrorCode::kUsage, "--prior: class '{}' needs a positive number",
                 printable(names[best]));
    options.given_priors[best] = value;
    rest.remove_prefix(std::min(used + 1, rest.size()));
  }
  double sum = 0.0;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (options.given_priors[c] == 0.0)
      throw fail(ErrorCode::kUsage, "--prior: none is given for class '{}'", printable(names[c]));
    sum += options.given_priors[c];
  }
  if (std::abs(sum - 1.0) > 1e-6)
    throw fail(ErrorCode::kUsage, "--prior: the probabilities sum to {}, not to 1", sum);
  for (double& prior : options.given_priors) prior /= sum;
}

std::vector<ClassifierSetting> ClassifierFlags::settings_for(const ClassifierOptions& base,
                                                             const SequenceSet& data) const {
  if (grid_given()) return parse_grid(grid_ == "none" ? "" : grid_, base);
  return default_settings(base, data, given_);
}

ClassifierFlags::Plan ClassifierFlags::plan(const SequenceSet& data,
                                            const CommonOptions& common) const {
  Plan out;
  auto [options, why] = recommended_options(data, given_);
  out.why = in_words(why, flag_words);
  set_prior(options, data);
  options.train.seed = common.seed;
  options.train.threads = common.threads;
  out.settings = settings_for(options, data);
  for (ClassifierSetting& setting : out.settings) {
    open_map(setting.options.positions);
    require_usable(setting.options);
    (void)setting.options.positions.sets(data.longest());  // a window beyond the end is said now
  }
  out.selection.grouping = Grouping::parse(group_);
  out.selection.inner_folds = inner_folds_;
  out.selection.seed = common.seed;
  out.selection.threads = common.threads;
  return out;
}

std::size_t ClassifierFlags::memory() const {
  ClassifierOptions options;
  set_options(classifier_option_table(), options, given_);
  return options.train.memory;
}

std::vector<NamedFile> ClassifierFlags::position_maps() const {
  ClassifierOptions base;
  set_options(classifier_option_table(), base, given_);
  std::vector<NamedFile> out{{"--positions", base.positions.file}};
  if (!grid_given() || grid_ == "none") return out;
  for (const ClassifierSetting& setting : parse_grid(grid_, base))
    out.push_back({"--grid", setting.options.positions.file});
  return out;
}

Json ClassifierFlags::to_json() const {
  Json out;
  out["given"] = Json::object();
  for (const auto& [id, value] : given_)
    if (!is_passing(id))
      out["given"][id] = std::visit([](const auto& held) { return Json(held); }, value);
  out["prior"] = prior_;
  out["grid"] = grid_given() ? Json(grid_) : Json(nullptr);
  out["group"] = group_;
  out["inner_folds"] = inner_folds_;
  return out;
}

void ClassifierFlags::from_json(const nlohmann::json& json) {
  std::erase_if(given_, [](const auto& one) { return !is_passing(one.first); });
  for (const auto& [id, value] : json.at("given").items()) {
    const auto* row = find_option(classifier_option_table(), id);
    if (row == nullptr) throw fail(ErrorCode::kBadData, "there is no option '{}'", printable(id));
    given_[id] = parsed(*row, value.is_string() ? value.get<std::string>() : value.dump());
  }
  json.at("prior").get_to(prior_);
  grid_kept_ = !json.at("grid").is_null();
  if (grid_kept_) json.at("grid").get_to(grid_);
  json.at("group").get_to(group_);
  json.at("inner_folds").get_to(inner_folds_);
}

ClassifyProgress::ClassifyProgress(const CommonOptions& common, std::string what)
    : line_(common), what_(std::move(what)), stop_(catch_interrupts()) {}

CrossValidationHooks ClassifyProgress::hooks(double from, double to) {
  CrossValidationHooks out;
  out.stop_requested = stop_;
  out.on_progress = [this, from, to](double share) { show(from + share * (to - from)); };
  return out;
}

void ClassifyProgress::show(double share) {
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
  const std::string left =
      share > 0.0 ? duration(gone.count() * (1.0 - share) / share) + " left" : "";
  line_.show(fmt::format("{}  {:3.0f} %  {}", what_, 100.0 * share, left));
}

}  // namespace hqmm::cli

// hqmm classify cross-validate DATA: how well a classifier would do on sequences it has not seen.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classify/classify.hpp"
#include "classify/report.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/evaluate/baselines.hpp"
#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/evaluate/explain.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/model/classifier.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/ranks.hpp"

namespace hqmm::cli {
namespace {

struct CrossValidateFlags {
  CommonOptions common;
  DataOptions data;
  ClassifierFlags flags;
  LabelledFiles files;
  std::size_t folds = 5;
  std::size_t order = 3;
  bool no_baselines = false;
  bool explain = false;
  std::string report;
  std::string predictions;
  ClassifyRun run;
};

/// What changes nothing of what is learned.
const std::set<std::string> kWithResume = {"--out",         "--json",      "--tsv",     "--quiet",
                                           "--threads",     "--max-ratio", "--explain", "--report",
                                           "--predictions", "--memory"};

Json config_of(const CrossValidateFlags& options) {
  Json out;
  out["data"] = options.files.to_json();
  out["reading"] = options.data.to_json();
  out["flags"] = options.flags.to_json();
  out["seed"] = options.common.seed;
  out["folds"] = options.folds;
  out["order"] = options.order;
  out["baselines"] = !options.no_baselines;
  out["explain"] = options.explain;
  return out;
}

void take_config(const nlohmann::json& config, CrossValidateFlags& options) {
  options.files.from_json(config.at("data"));
  options.data.from_json(config.at("reading"));
  options.flags.from_json(config.at("flags"));
  config.at("seed").get_to(options.common.seed);
  config.at("folds").get_to(options.folds);
  config.at("order").get_to(options.order);
  options.no_baselines = !config.at("baselines").get<bool>();
  options.explain = options.explain || config.at("explain").get<bool>();
}

std::vector<BaselineOptions> baselines(const CrossValidateFlags& options,
                                       const ClassifierOptions& setting) {
  using Kind = BaselineOptions::Kind;
  std::vector<BaselineOptions> out;
  if (options.no_baselines) return out;
  for (const Kind kind : {Kind::kPositionWeights, Kind::kPositionalChain, Kind::kMarkovChain})
    out.push_back({kind, options.order, 1.0, setting.positions.from_end});
  return out;
}

/// Every row by the classifier of its fold, which never saw it.
Explanation explain(const SequenceSet& data, const CrossValidation& found, bool from_end,
                    int threads) {
  Explanation out(found.classes, data.alphabet(), from_end);
  for (std::uint32_t f = 0; f < found.folds.size(); ++f) {
    if (!found.folds[f].classifier) continue;
    std::vector<std::uint32_t> rows, labels;
    for (std::uint32_t i = 0; i < data.size(); ++i) {
      if (found.fold_of[i] != f) continue;
      rows.push_back(i);
      labels.push_back(found.labels[i]);
    }
    const Classifier& classifier = *found.folds[f].classifier;
    const std::size_t most = rows_to_explain(classifier, data.longest()) / found.folds.size() + 1;
    out.add(classifier, data.subset(rows), labels, most, threads);
  }
  return out;
}

std::string predictions_text(const SequenceSet& data, const CrossValidation& found) {
  std::string out = "name\tfold\ttrue class\tclass";
  for (const std::string& name : found.classes) out += "\tP(" + class_text(name) + ")";
  out += "\n";
  for (std::size_t i = 0; i < data.size(); ++i) {
    out += fmt::format("{}\t{}\t{}\t{}",
                       data.named() ? printable(data.name(i), 200) : std::to_string(i),
                       found.fold_of[i], class_text(found.classes[found.labels[i]]),
                       class_text(found.classes[found.posteriors.decision(i)]));
    for (const double log : found.posteriors.row(i)) out += fmt::format("\t{:.9f}", std::exp(log));
    out += "\n";
  }
  return out;
}

/// The errors of the classes, their mean, and that of all rows.
Cells exact_errors(const CrossValidation& found) {
  Cells out{{"class", "rows", "wrong", "error", "standard_error"}};
  const Classification& figures = found.figures;
  const auto add = [&](const std::string& name, std::string rows, std::string wrong,
                       const std::optional<Estimate>& error) {
    out.push_back({name, std::move(rows), std::move(wrong),
                   error ? exact(error->value) : exact(std::nullopt),
                   error ? exact(error->standard_error) : exact(std::nullopt)});
  };
  std::uint64_t rows = 0, wrong = 0;
  for (std::size_t c = 0; c < found.classes.size(); ++c) {
    std::uint64_t here = 0;
    for (const std::uint64_t count : figures.confusion[c]) here += count;
    const std::uint64_t errors = here - figures.confusion[c][c];
    add(found.classes[c], std::to_string(here), std::to_string(errors), figures.class_errors[c]);
    rows += here;
    wrong += errors;
  }
  add("mean of the classes", "NA", "NA", figures.mean_class_error);
  add("all rows", std::to_string(rows), std::to_string(wrong), figures.overall_error);
  return out;
}

void require_own_outputs(const CrossValidateFlags& options) {
  std::vector<NamedFile> inputs = options.flags.position_maps();
  for (const NamedFile& file : options.files.named()) inputs.push_back(file);
  for (const NamedFile& file : files_of_run(options.run.folder())) inputs.push_back(file);
  require_other_files({{"-o", options.common.out},
                       {"--report", options.report},
                       {"--predictions", options.predictions}},
                      inputs);
  for (const std::string& path : {options.common.out, options.report, options.predictions})
    if (!path.empty()) require_writable_place(path);
}

void run_cross_validate(CrossValidateFlags& options) {
  leave_on_interrupts();
  Ranks* const others = ranks();
  options.run.open(kWithResume,
                   [&](const nlohmann::json& config) { take_config(config, options); });
  const Json config = options.run.given() ? config_of(options) : Json();
  require_own_outputs(options);
  const SequenceSet data = options.files.read(options.data, options.flags.memory());
  const ClassifierFlags::Plan plan = options.flags.plan(data, options.common);
  if (!plan.why.empty()) narrate(options.common, plan.why);
  CrossValidationOptions how = plan.selection;
  how.folds = options.folds;
  const ClassifierOptions& first = plan.settings.front().options;
  how.baselines = baselines(options, first);
  if (others != nullptr && !others->leads()) {
    help_cross_validation(*others, data, plan.settings, how.threads);
    return;
  }
  options.run.begin(config, data, options.files, plan.settings, options.common);
  CrossValidation found;
  const auto start = std::chrono::steady_clock::now();
  {
    ClassifyProgress progress(options.common, "cross-validating");
    CrossValidationHooks hooks = options.run.with_cells(progress.hooks());
    hooks.ranks = others;
    found = interruptible(options.run, options.common,
                          [&] { return cross_validate(data, plan.settings, how, hooks); });
  }
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
  leave_on_interrupts();
  warn_if_beyond(options.flags.memory());
  CrossValidationView view{data,
                           plan.settings,
                           how,
                           found,
                           {},
                           std::string(name_of(first.prior)),
                           options.run.seconds(gone.count())};
  if (options.explain || !options.report.empty())
    view.explanation = explain(data, found, first.positions.from_end, options.common.threads);
  if (!options.report.empty())
    write_file(options.report, printable_lines(cross_validation_report(view)));
  if (!options.predictions.empty()) write_file(options.predictions, predictions_text(data, found));
  Output output(readers_of(options.common), options.common.out);
  output.write(options.common.json  ? dump(cross_validation_json(view))
               : options.common.tsv ? tsv(exact_errors(found))
                                    : cross_validation_text(view));
  output.finish();
  for (const FoldOutcome& fold : found.folds) {
    for (const std::uint32_t c : fold.unlearned) {
      warn(
          fmt::format("class {} is in one fold only: "
                      "nothing could be learned of it there, and its rows count as errors",
                      class_text(found.classes[c])));
    }
  }
}

}  // namespace

void add_classify_cross_validate(Command classify) {
  auto options = std::make_shared<CrossValidateFlags>();
  Command command = classify.add_subcommand(
      "cross-validate", "Measure errors on sequences that were not learned from, with baselines");
  options->files.add_to(command);
  options->flags.add_to(command);
  command.add_option("--folds", options->folds, "Parts that are scored in turn")
      .check(whole_number(2, 1000000))
      .capture_default_str()
      .group("Selection")
      .type_name("N");
  command.add_flag("--no-baselines", options->no_baselines, "Leave the comparison out")
      .group("Comparison");
  command.add_option("--order", options->order, "Of the Markov chain to compare with")
      .check(whole_number(0, 16))
      .capture_default_str()
      .group("Comparison")
      .type_name("K");
  command.add_flag("--explain", options->explain, "What each position contributes to the decisions")
      .group("Output");
  command.add_option("--report", options->report, "Write a readable report as well (Markdown)")
      .group("Output")
      .type_name("FILE.md");
  command
      .add_option("--predictions", options->predictions,
                  "Write every row's posteriors as well (TAB separated)")
      .group("Output")
      .type_name("FILE.tsv");
  options->run.add_to(command, "classify cross-validate", "");
  options->data.add_to(command);
  add_common(command, options->common, "Write the result here instead of to stdout");
  add_tsv(command, options->common,
          "The errors of the classes, separated by TABs; --predictions writes those of the rows");
  command.footer(
      R"(Each fold is scored once, by a classifier learned from the other folds. Settings are chosen by folds inside
those. Rows that --group keeps together are never split. Log loss and calibration are for a
population in which the classes are as frequent as --prior says.

With --run every fold, and every setting tried inside one, is kept in DIR/cells when it is done. After an interrupt
or a kill, --resume DIR does the missing ones and ends with the same numbers as an uninterrupted run.

Examples:
  hqmm classify cross-validate splice.data
  hqmm classify cross-validate splice.data --members 5 --group homology:45 --report splice.md
  hqmm classify cross-validate --class EI=ei.fa --class IE=ie.fa --class N=none.fa
  hqmm classify cross-validate families.txt --alphabet protein --grid 'latent-dim=4,8;epochs=20,40')");
  command.callback([options] { run_cross_validate(*options); });
}

}  // namespace hqmm::cli

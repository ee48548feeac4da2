// hqmm classify: one model per class. Here: fit and extract, and what inspect says of a classifier.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "classify/classify.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/evaluate/posteriors_on.hpp"
#include "hqmm/io/classifier_bytes.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/class_labels.hpp"
#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/classifier.hpp"
#include "hqmm/run/provenance.hpp"
#include "hqmm/version.hpp"
#include "support/command.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/rescue.hpp"
#include "support/run_config.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

struct FitOptions {
  CommonOptions common;
  DataOptions data;
  ClassifierFlags flags;
  LabelledFiles files;
  ClassifyRun run;
};

/// Flags that change nothing about a run but where its classifier goes.
const std::set<std::string> kWithFitResume = {"--out",     "--json",      "--quiet",
                                              "--threads", "--max-ratio", "--memory"};

Json fit_config(const FitOptions& options) {
  Json out;
  out["data"] = options.files.to_json();
  out["reading"] = options.data.to_json();
  out["flags"] = options.flags.to_json();
  out["seed"] = options.common.seed;
  return out;
}

void take_fit_config(const nlohmann::json& config, FitOptions& options) {
  options.files.from_json(config.at("data"));
  options.data.from_json(config.at("reading"));
  options.flags.from_json(config.at("flags"));
  config.at("seed").get_to(options.common.seed);
}

/// Where models have other operators than were learned: why. The provenance may be anyone's.
std::string rank_note(const ClassifierFile& file) {
  const auto* hqmm = std::get_if<Hqmm>(&file.classifier.models.front());
  const nlohmann::json made = parse_json_or_discard(file.provenance);
  const auto options = made.find("options");
  if (hqmm == nullptr || !made.is_object() || options == made.end() || !options->is_object())
    return {};
  const auto rank = options->find("kraus_rank");
  const auto smoothing = options->find("smoothing");
  if (rank == options->end() || smoothing == options->end() || !rank->is_number() ||
      !smoothing->is_number() || *rank == hqmm->kraus_rank())
    return {};
  return fmt::format(
      "w = {}: of the {} operators per symbol that were learned, --smoothing {} makes {}, with a "
      "share of those of all symbols; --smoothing 0 leaves w = {}\n",
      hqmm->kraus_rank(), rank->dump(), smoothing->dump(), hqmm->kraus_rank(), rank->dump());
}

Json fit_json(const std::string& path, const ClassifierFile& file, const Classification& figures,
              const std::string& setting) {
  Json out;
  out["model"] = path;
  out["classes"] = file.classifier.classes;
  const AnyModel& any = file.classifier.models.front();
  out["latent_dim"] = std::visit([](const auto& m) { return m.latent_dim(); }, any);
  if (const auto* hqmm = std::get_if<Hqmm>(&any)) out["kraus_rank"] = hqmm->kraus_rank();
  out["priors"] = file.classifier.priors;
  out["setting"] = setting;
  out["training"] = figures_json(file.classifier.classes, figures, "of the classifier");
  double residual = 0.0;
  for (const AnyModel& model : file.classifier.models)
    residual = std::max(residual, feasibility_residual(model));
  out["feasibility_residual"] = residual;
  out["options"] = parse_json(file.provenance).at("options");
  return out;
}

/// The choice among the settings, where there is one.
FoldOutcome select_in(FitOptions& options, const SequenceSet& data,
                      const ClassifierFlags::Plan& plan, ClassifyProgress& progress, double share) {
  if (plan.settings.size() == 1) return {};
  const CrossValidationHooks hooks = options.run.with_cells(progress.hooks(0.0, share));
  FoldOutcome out = interruptible(options.run, options.common, [&] {
    return select_setting(data, plan.settings, plan.selection, hooks);
  });
  progress.clear();
  narrate(options.common, fmt::format("selected {} (of {} settings, inside the data)",
                                      plan.settings[out.setting].text, plan.settings.size()));
  return out;
}

struct Learned {
  ClassifierFile file;
  std::string setting;  // the chosen one
  DeviceKind device = DeviceKind::kCpu;
};

Learned learn(FitOptions& options, const SequenceSet& data, const ClassifierFlags::Plan& plan) {
  ClassifyProgress progress(options.common, "learning");
  const bool choosing = plan.settings.size() > 1;
  const double share =
      choosing ? 1.0 - 1.0 / static_cast<double>(1 + plan.settings.size() * 2) : 0.0;
  const FoldOutcome selected = select_in(options, data, plan, progress, share);
  const ClassifierOptions& chosen = plan.settings[selected.setting].options;
  const auto epochs = static_cast<double>(
      std::max<std::size_t>(1, (chosen.train.epochs + chosen.generative_epochs) * chosen.members));
  const CrossValidationHooks outer = progress.hooks(share, 1.0);
  double epoch = 0.0;
  ClassifierHooks hooks;
  hooks.stop_requested = outer.stop_requested;
  hooks.on_epoch = [&](std::size_t, std::size_t, double) {
    epoch += 1.0;
    outer.on_progress(std::min(1.0, epoch / epochs));
  };
  hooks = options.run.with_members(std::move(hooks));
  ClassifierFile file;
  file.classifier = interruptible(options.run, options.common,
                                  [&] { return fit_classifier(data, chosen, hooks); });
  file.provenance = classifier_provenance(data, plan.settings, selected);
  progress.clear();
  return {std::move(file), plan.settings[selected.setting].text, chosen.train.device};
}

void require_own_fit(const FitOptions& options, const std::string& out) {
  std::vector<NamedFile> inputs = options.flags.position_maps();
  for (const NamedFile& file : options.files.named()) inputs.push_back(file);
  for (const NamedFile& file : files_of_run(options.run.folder())) inputs.push_back(file);
  require_other_files({{"-o", out}}, inputs);
}

void run_fit(FitOptions& options) {
  leave_on_interrupts();
  options.run.open(kWithFitResume,
                   [&](const nlohmann::json& config) { take_fit_config(config, options); });
  if (options.common.out.empty() && !options.run.given()) {
    throw fail(ErrorCode::kUsage, "where should the classifier go? Give -o clf.h5 (or --run DIR)");
  }
  const bool in_run = options.common.out.empty();
  const std::string out = in_run ? options.run.file("classifier.h5") : options.common.out;
  const Json config = options.run.given() ? fit_config(options) : Json();
  require_own_fit(options, out);
  if (!in_run) require_writable_place(out);
  const SequenceSet data = options.files.read(options.data, options.flags.memory());
  const ClassifierFlags::Plan plan = options.flags.plan(data, options.common);
  if (!plan.why.empty()) narrate(options.common, plan.why);
  options.run.begin(config, data, options.files, plan.settings, options.common);
  tell_where_the_result_goes(options.common, "classifier", out, options.run.began_with());
  const Learned learned = learn(options, data, plan);
  const ClassifierFile& file = learned.file;
  warn_if_beyond(options.flags.memory());
  write_or_rescue(
      "classifier", [&] { write_classifier(out, file); },
      [&] { return serialize_classifier(file); });
  const OrderedClasses classes = ordered_classes(data);
  const auto gpu = open_device(learned.device, options.flags.memory());
  const Posteriors posteriors =
      posteriors_on(file.classifier, data, options.common.threads, gpu.get());
  const Classification figures = judge(posteriors, classes.labels, file.classifier.priors);
  Output output(readers_of(options.common));
  if (options.common.json) {
    output.write(dump(fit_json(out, file, figures, learned.setting)));
  } else {
    output.write(
        fmt::format("{}: {} classes; the model of each: {}\n{}On the rows it was learned "
                    "from (too optimistic: see 'hqmm classify cross-validate')\n{}",
                    out, classes.names.size(), describe(file.classifier.models.front()),
                    rank_note(file), errors_text(classes.names, figures)));
  }
  output.finish();
}

struct ExtractOptions {
  CommonOptions common;
  std::string path;
  std::string name;
};

void run_extract(const ExtractOptions& options) {
  if (options.common.out.empty())
    throw fail(ErrorCode::kUsage, "where should the model go? Give -o part.h5");
  require_other_files({{"-o", options.common.out}}, {{"CLASSIFIER", options.path}});
  const ClassifierFile file = read_classifier(options.path);
  const std::vector<std::string>& classes = file.classifier.classes;
  const auto found = std::find(classes.begin(), classes.end(), options.name);
  if (found == classes.end()) {
    std::string known;
    for (const std::string& name : classes) known += (known.empty() ? "" : ", ") + class_text(name);
    throw fail(ErrorCode::kUsage, "there is no class '{}' in {}; it has {}",
               printable(options.name), options.path, known);
  }
  const auto c = static_cast<std::size_t>(found - classes.begin());
  nlohmann::json provenance = {{"command", "classify extract"},
                               {"version", HQMM_VERSION},
                               {"class", options.name},
                               {"prior", file.classifier.priors[c]},
                               {"classifier", parse_json(file.provenance)}};
  write_model(options.common.out, {file.classifier.models[c], json_text(provenance)});
  if (options.common.json) {
    Output output(Readers::kPrograms);
    output.write(dump({{"model", options.common.out},
                       {"class", options.name},
                       {"prior", file.classifier.priors[c]}}));
    output.finish();
  } else {
    narrate(options.common,
            fmt::format("{}: the model of class {}", options.common.out, class_text(options.name)));
  }
}

Cells class_cells(const Classifier& classifier) {
  Cells out{{"class", "prior", "model", "feasibility_residual"}};
  for (std::size_t c = 0; c < classifier.classes.size(); ++c) {
    out.push_back({classifier.classes[c], exact(classifier.priors[c]),
                   describe(classifier.models[c]),
                   exact(feasibility_residual(classifier.models[c]))});
  }
  return out;
}

}  // namespace

void inspect_classifier(const ClassifierFile& file, const std::string& path,
                        const CommonOptions& common) {
  const Classifier& classifier = file.classifier;
  Output output(readers_of(common), common.out);
  if (common.json) {
    Json out;
    out["kind"] = "classifier";
    out["alphabet"] = classifier.alphabet().all_tokens();
    out["classes"] = Json::array();
    for (std::size_t c = 0; c < classifier.classes.size(); ++c) {
      const AnyModel& model = classifier.models[c];
      Json one;
      one["class"] = classifier.classes[c];
      one["prior"] = classifier.priors[c];
      one["kind"] = std::string(kind_of(model));
      one["latent_dim"] = std::visit([](const auto& m) { return m.latent_dim(); }, model);
      if (const auto* hqmm = std::get_if<Hqmm>(&model)) {
        one["field"] = name_of(hqmm->field);
        one["emission"] = name_of(hqmm->emits_on());
        one["kraus_rank"] = hqmm->kraus_rank();
        one["kraus_sets"] = hqmm->sets.size();
        one["stationary"] = hqmm->positions.stationary();
      }
      one["feasibility_residual"] = feasibility_residual(model);
      one["feasible"] = is_feasible(model);
      out["classes"].push_back(std::move(one));
    }
    out["provenance"] = parse_json(file.provenance);
    output.write(dump(out));
    output.finish();
    return;
  }
  if (common.tsv) {
    output.write(tsv(class_cells(classifier)));
    output.finish();
    return;
  }
  output.write(fmt::format("{}: a classifier of {} classes\nalphabet  {}\n", path,
                           classifier.classes.size(), classifier.alphabet().description()));
  Cells rows{{"class", "prior", "model", "residual"}};
  for (std::size_t c = 0; c < classifier.classes.size(); ++c) {
    rows.push_back({class_text(classifier.classes[c]), fmt::format("{:.4f}", classifier.priors[c]),
                    describe(classifier.models[c]),
                    fmt::format("{:.1e}{}", feasibility_residual(classifier.models[c]),
                                is_feasible(classifier.models[c]) ? "" : " INFEASIBLE")});
  }
  output.write(table(rows));
  output.write(rank_note(file));
  output.write(
      fmt::format("One of its models: hqmm classify extract {} --class NAME -o part.h5\n", path));
  output.finish();
}

void add_classify_fit(Command classify) {
  auto options = std::make_shared<FitOptions>();
  Command command = classify.add_subcommand("fit", "Learn a classifier from labelled sequences");
  options->files.add_to(command);
  options->flags.add_to(command);
  options->run.add_to(command, "classify fit",
                      ". Without -o the classifier is written to classifier.h5 there");
  options->data.add_to(command);
  add_common(command, options->common, "Classifier file to write");
  command.footer(
      R"(Without --grid the settings are chosen from a small default grid, by cross-validation inside DATA, as
'hqmm classify cross-validate' does inside its training folds: three windows of positions if all sequences have
the same length, and two shares of --dropout. The defaults above are for classes learned together; stationary models
learned separately (--objective generative) use the defaults of 'hqmm train'.

-w is the number of operators learned. The models written have more operators per symbol: --smoothing keeps every
symbol possible by mixing a share of the operators of all symbols into those of each. So -w 2 and four symbols make
w = 8; there are never more than n². --smoothing 0 leaves the operators as they are.

With --run every setting that is tried, and every member of an ensemble, is kept in DIR/cells when it is done. After
an interrupt or a kill, --resume DIR does the missing ones and ends with the same bytes as an uninterrupted run.

Examples:
  hqmm classify fit splice.data -o splice.h5
  hqmm classify fit --class EI=ei.fa --class IE=ie.fa --class N=none.fa -o splice.h5)");
  command.callback([options] { run_fit(*options); });
}

void add_classify_extract(Command classify) {
  auto options = std::make_shared<ExtractOptions>();
  Command command = classify.add_subcommand("extract", "Write the model of one class to a file");
  command.add_option("CLASSIFIER", options->path, "Classifier file").required().type_name("");
  command.add_option("--class", options->name, "The class").required().type_name("NAME");
  add_common(command, options->common, "Model file to write (.h5, .json, .mat)");
  command.footer(
      R"(The result is an ordinary model: 'hqmm score part.h5 DATA --per-sequence' gives the log-likelihoods from which the
posteriors are computed.

Example: hqmm classify extract splice.h5 --class EI -o ei.h5)");
  command.callback([options] { run_extract(*options); });
}

void add_classify(Command program) {
  Command command =
      program.add_subcommand("classify", "Classify sequences, with one model per class")
          .group("Learn");
  command.require_subcommand();
  add_classify_fit(command);
  add_classify_predict(command);
  add_classify_cross_validate(command);
  add_classify_extract(command);
  command.footer(
      R"(Examples:
  hqmm classify cross-validate splice.data          how well would it do? With baselines and tests
  hqmm classify fit splice.data -o splice.h5        learn one from all of the data
  hqmm classify predict splice.h5 new.fa            a class and its probabilities for every row)");
}

}  // namespace hqmm::cli

// hqmm classify predict CLASSIFIER DATA: a class and posterior probabilities for every row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classify/classify.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/evaluate/explain.hpp"
#include "hqmm/evaluate/posteriors_on.hpp"
#include "hqmm/evaluate/scan.hpp"
#include "hqmm/evaluate/scan_parts.hpp"
#include "hqmm/io/classifier_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/classifier.hpp"
#include "support/command.hpp"
#include "support/device_flag.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {
namespace {

struct ClassifyPredictFlags {
  CommonOptions common;
  DataOptions data;
  std::string classifier;
  Paths paths;
  double threshold = 0.0;
  bool explain = false;
  DeviceFlag device;
};

/// Rows whose class the classifier knows, to judge it by.
struct Known {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> labels;
  std::size_t strange = 0;  // rows of a class it does not know
};

Known known_rows(const SequenceSet& set, const std::vector<std::string>& classes) {
  Known out;
  if (!set.labelled()) return out;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    if (set.label(i) == SequenceSet::kNoLabel) continue;
    const std::string& name = set.classes()[set.label(i)];
    const auto found = std::lower_bound(classes.begin(), classes.end(), name);
    if (found == classes.end() || *found != name) {
      ++out.strange;
      continue;
    }
    out.rows.push_back(i);
    out.labels.push_back(static_cast<std::uint32_t>(found - classes.begin()));
  }
  return out;
}

std::string name_of_row(const SequenceSet& set, std::size_t i) {
  return set.named() ? printable(set.name(i), 200) : std::to_string(i);
}

/// A position-dependent classifier is for sequences as long as those that it was learned from.
void require_lengths(const ClassifyPredictFlags& options, const ClassifierFile& file,
                     const SequenceSet& set) {
  const std::optional<std::size_t> longest = own_length(file.classifier);
  if (!longest) return;
  const nlohmann::json made_by = nlohmann::json::parse(file.provenance, nullptr, false);
  const nlohmann::json::json_pointer place("/data/shortest");
  std::size_t shortest = *longest;
  if (made_by.is_object() && made_by.contains(place) && made_by[place].is_number_unsigned())
    shortest = std::min(shortest, made_by[place].get<std::size_t>());
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::size_t length = set[i].size();
    if (length >= shortest && length <= *longest) continue;
    const Where where{.file = shown(options.paths),
                      .item = fmt::format("record '{}'", name_of_row(set, i))};
    const std::string lengths = shortest == *longest ? std::to_string(*longest)
                                                     : fmt::format("{} to {}", shortest, *longest);
    throw fail(ErrorCode::kBadData, where,
               "{} symbols, but the classifier is made for sequences of {}{}", length, lengths,
               length > *longest ? ": 'hqmm scan' looks at every window of longer ones" : "");
  }
}

Posteriors chosen_rows(const Posteriors& all, const std::vector<std::uint32_t>& rows) {
  Posteriors out(rows.size(), all.classes());
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(all.row(rows[i]).begin(), all.classes(), out.row(i).begin());
  return out;
}

/// The five positions that speak most for the decision, "31:T+3.2 30:G+2.9 …".
std::string reasons(const Classifier& classifier, const SequenceView& row, std::uint32_t decision) {
  const std::size_t classes = classifier.classes.size();
  const std::vector<double> found = contributions(classifier, row);
  std::vector<std::size_t> order(row.size());
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return found[a * classes + decision] > found[b * classes + decision];
  });
  std::string out;
  for (std::size_t k = 0; k < std::min<std::size_t>(5, order.size()); ++k) {
    const std::size_t t = order[k];
    if (row[t] == kMissing) continue;
    out += fmt::format("{}{}:{}{:+.2f}", out.empty() ? "" : " ", t,
                       classifier.alphabet().token(row[t]), found[t * classes + decision]);
  }
  return out;
}

std::string rows_text(const ClassifyPredictFlags& options, const Classifier& classifier,
                      const SequenceSet& set, const Posteriors& posteriors) {
  std::string out = "name\tclass";
  for (const std::string& name : classifier.classes) out += "\tP(" + class_text(name) + ")";
  out += options.explain ? "\tmost for it\n" : "\n";
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::uint32_t decision = posteriors.decision(i);
    const bool sure = posteriors.confidence(i) >= options.threshold;
    out += name_of_row(set, i) + "\t" + (sure ? class_text(classifier.classes[decision]) : "?");
    for (const double log : posteriors.row(i)) out += fmt::format("\t{:.6f}", std::exp(log));
    if (options.explain) out += "\t" + reasons(classifier, set[i], decision);
    out += "\n";
  }
  return out;
}

Cells row_cells(const ClassifyPredictFlags& options, const Classifier& classifier,
                const SequenceSet& set, const Posteriors& posteriors) {
  Cells out{{"name"}};
  if (set.labelled()) out.front().push_back("true_class");
  out.front().push_back("class");
  for (const std::string& name : classifier.classes) out.front().push_back("P(" + name + ")");
  if (options.explain) out.front().push_back("most_for_it");
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::uint32_t decision = posteriors.decision(i);
    std::vector<std::string> row{set.named() ? set.name(i) : std::to_string(i)};
    if (set.labelled()) {
      row.push_back(set.label(i) == SequenceSet::kNoLabel ? "NA" : set.classes()[set.label(i)]);
    }
    const bool sure = posteriors.confidence(i) >= options.threshold;
    row.push_back(sure ? classifier.classes[decision] : "NA");
    for (const double log : posteriors.row(i)) row.push_back(exact(std::exp(log)));
    if (options.explain) row.push_back(reasons(classifier, set[i], decision));
    out.push_back(std::move(row));
  }
  return out;
}

Json rows_json(const ClassifyPredictFlags& options, const Classifier& classifier,
               const SequenceSet& set, const Posteriors& posteriors) {
  Json out = Json::array();
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::uint32_t decision = posteriors.decision(i);
    Json row;
    row["index"] = i;
    if (set.named()) row["name"] = set.name(i);
    if (set.labelled() && set.label(i) != SequenceSet::kNoLabel)
      row["true_class"] = set.classes()[set.label(i)];
    row["class"] = posteriors.confidence(i) >= options.threshold
                       ? Json(classifier.classes[decision])
                       : Json(nullptr);
    row["posteriors"] = Json::object();
    for (std::size_t c = 0; c < classifier.classes.size(); ++c)
      row["posteriors"][classifier.classes[c]] = std::exp(posteriors.row(i)[c]);
    if (options.explain) {
      const std::vector<double> found = contributions(classifier, set[i]);
      Json parts = Json::array();
      for (std::size_t t = 0; t < set[i].size(); ++t)
        parts.push_back(found[t * classifier.classes.size() + decision]);
      row["contributions"] = std::move(parts);
    }
    out.push_back(std::move(row));
  }
  return out;
}

/// Behind the rows, as comments: a table of the rows stays a table.
std::string commented(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "# " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string abstention_text(const Abstention& found) {
  return fmt::format("answered {} of the rows at a posterior of {} or more; error of those {}\n",
                     percent(found.answered), found.threshold,
                     found.error ? fmt::format("{:.4f}", *found.error) : "–");
}

void run_classify_predict(const ClassifyPredictFlags& options) {
  require_one_stdin({{options.classifier}, options.paths});
  std::vector<NamedFile> inputs{{"CLASSIFIER", options.classifier}};
  add_named(inputs, "DATA", options.paths);
  require_other_files({{"-o", options.common.out}}, inputs);
  require_device(options.device.kind());
  const ClassifierFile file = read_classifier(options.classifier);
  const Classifier& classifier = file.classifier;
  for (const AnyModel& model : classifier.models) warn_if_infeasible(model, options.classifier);
  const SequenceSet set =
      read_sequences(options.paths, options.data.resolve(&classifier.alphabet()));
  require_lengths(options, file, set);
  const auto gpu = open_device(options.device.kind());
  const Posteriors posteriors = posteriors_on(classifier, set, options.common.threads, gpu.get());
  const Known known = known_rows(set, classifier.classes);
  if (known.strange > 0) {
    warn(
        fmt::format("{} of {} rows are of a class that the classifier does not know: "
                    "they are not in the errors",
                    known.strange, set.size()));
  }
  const bool judged = !known.rows.empty();
  const Posteriors of_known = chosen_rows(posteriors, known.rows);
  Classification figures;
  if (judged) figures = judge(of_known, known.labels, classifier.priors);
  Output output(Readers::kPrograms, options.common.out);
  if (options.common.json) {
    Json out;
    out["classes"] = classifier.classes;
    out["rows"] = rows_json(options, classifier, set, posteriors);
    if (judged) {
      out["errors"] = figures_json(classifier.classes, figures, "of the classifier");
      out["errors"]["abstention"] =
          abstention_json(abstain(of_known, known.labels, options.threshold));
    }
    output.write(dump(out));
  } else if (options.common.tsv) {
    output.write(tsv(row_cells(options, classifier, set, posteriors)));
  } else {
    output.write(rows_text(options, classifier, set, posteriors));
    if (judged) {
      output.write(commented(errors_text(classifier.classes, figures)));
      if (options.threshold > 0.0)
        output.write(
            commented(abstention_text(abstain(of_known, known.labels, options.threshold))));
    }
  }
  output.finish();
}

}  // namespace

void add_classify_predict(Command classify) {
  auto options = std::make_shared<ClassifyPredictFlags>();
  Command command = classify.add_subcommand("predict",
                                            "Print the class and posterior probabilities of every "
                                            "sequence");
  command.add_option("CLASSIFIER", options->classifier, "Classifier file").required().type_name("");
  command
      .add_option("DATA", options->paths,
                  "Sequences, labelled or not, one or more files; '-' for stdin")
      .required()
      .type_name("");
  command
      .add_option("--threshold", options->threshold,
                  "Lowest posterior of an answer; below it the class is '?'")
      .check(number_between(0.0, 1.0))
      .capture_default_str()
      .group("Deciding")
      .type_name("P");
  command
      .add_flag("--explain", options->explain,
                "Show the positions that support the decision most (all positions with --json)")
      .group("Deciding");
  options->device.add_to(command, "Deciding");
  options->data.add_to(command);
  add_common(command, options->common, "Write the result here instead of to stdout");
  add_tsv(
      command, options->common,
      "The rows alone, with the true class where it is known and every digit; NA for no answer");
  command.footer(
      R"(One line per sequence, separated by TABs: name (or number), class, posterior of every class. If the
sequences are labelled, the errors follow in lines that begin with '#'.
A contribution is the change in the log-odds of the class due to the symbol at a position, in nats.

Example: hqmm classify predict splice.h5 new.fa --threshold 0.95)");
  command.callback([options] { run_classify_predict(*options); });
}

}  // namespace hqmm::cli

// hqmm score MODEL DATA: what a model's likelihood of a data set is.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "commands/background.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/score/score_json.hpp"
#include "hqmm/score/score_on.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/device_flag.hpp"
#include "support/memory.hpp"
#include "support/memory_flag.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/ranks.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

struct ScoreFlags {
  CommonOptions common;
  DataOptions data;
  std::string model;
  Paths sequences;
  std::size_t burn_in = 0;
  bool per_sequence = false;
  DeviceFlag device;
  MemoryFlag memory;
  std::string background;  // a model file, uniform, frequencies, or nothing
};

/// What is shown of single sequences.
struct Rows {
  const SequenceSet& set;
  const Score& score;
  std::vector<double> background;  // log-likelihoods; none without --background

  [[nodiscard]] std::optional<double> log_odds(std::size_t i) const {
    const double ours = score.per_sequence[i].log_likelihood;
    // −∞ − −∞ is not a number: neither explains the sequence.
    return background.empty() ? std::nullopt : std::optional(ours - background[i]);
  }
};

/// Of files read together some may have classes and others not.
bool has_class(const SequenceSet& set, std::size_t i) {
  return set.labelled() && set.label(i) != SequenceSet::kNoLabel;
}

Json sequence_json(const Rows& rows, std::size_t i) {
  const SequenceSet& set = rows.set;
  const SequenceLikelihood& one = rows.score.per_sequence[i];
  const std::size_t s = set.alphabet().size();
  Json out;
  out["index"] = i;
  if (set.named()) out["name"] = set.name(i);
  if (has_class(set, i)) out["class"] = set.classes()[set.label(i)];
  out["symbols"] = one.scored;
  out["log_likelihood"] = number(one.log_likelihood);
  out["da"] = number(description_accuracy(one.log_likelihood, one.scored, s));
  if (one.impossible_at) out["impossible_at"] = *one.impossible_at;
  if (const auto log_odds = rows.log_odds(i)) out["log_odds"] = number(*log_odds);
  if (rows.score.raw) out["raw"] = {{"log_likelihood", number(one.raw_log_likelihood)}};
  return out;
}

Json per_sequence_json(const Rows& rows) {
  Json list = Json::array();
  for (std::size_t i = 0; i < rows.set.size(); ++i) list.push_back(sequence_json(rows, i));
  return list;
}

Cells per_sequence_cells(const Rows& rows) {
  const SequenceSet& set = rows.set;
  Cells out{{"name", "length", "scored", "log_likelihood", "bits", "bits_per_symbol", "da"}};
  if (set.labelled()) out.front().push_back("class");
  if (!rows.background.empty()) out.front().push_back("log_odds");
  for (std::size_t i = 0; i < set.size(); ++i) {
    const SequenceLikelihood& one = rows.score.per_sequence[i];
    const double bits = -one.log_likelihood / std::numbers::ln2;
    const auto per_symbol =
        one.scored > 0 ? std::optional(bits / static_cast<double>(one.scored)) : std::nullopt;
    out.push_back(
        {set.named() ? set.name(i) : std::to_string(i), std::to_string(set[i].size()),
         std::to_string(one.scored), exact(one.log_likelihood), exact(bits), exact(per_symbol),
         exact(description_accuracy(one.log_likelihood, one.scored, set.alphabet().size()))});
    if (set.labelled())
      out.back().push_back(has_class(set, i) ? set.classes()[set.label(i)] : "NA");
    if (!rows.background.empty()) out.back().push_back(exact(rows.log_odds(i)));
  }
  return out;
}

std::string figure(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "–";
}

/// A name must not begin a line that looks like ours.
std::string in_a_line(const std::string& name) { return printable(name, name.size()); }

std::string score_text(const ScoreFlags& options, const AnyModel& model, const Score& score) {
  std::string out;
  const auto row = [&out](const char* name, const std::string& value) {
    out += fmt::format("{:<22}{}\n", name, value);
  };
  row("model", fmt::format("{} ({})", options.model, describe(model)));
  row("sequences",
      std::to_string(score.sequences) +
          (score.skipped ? fmt::format("  ({} more without a scored symbol)", score.skipped) : ""));
  row("symbols scored", std::to_string(score.symbols));
  row("log-likelihood", fmt::format("{:.6f} nats", score.log_likelihood));
  row("description accuracy",
      figure(score.da_mean, 6) + (score.da_std ? fmt::format(" ± {:.6f}", *score.da_std) : "") +
          "  (mean ± s.d. over sequences; 1 perfect, 0 as good as guessing)");
  row("bits per symbol", figure(score.bits_per_symbol, 6));
  row("perplexity", figure(score.perplexity, 6));
  row("feasibility residual", fmt::format("{:.3g}", score.feasibility_residual));
  if (score.raw) {
    row("raw, not normalised", fmt::format("log-likelihood {:.6f}, description accuracy {}, bits "
                                           "per symbol {} – not of a probability",
                                           score.raw->log_likelihood, figure(score.raw->da_mean, 6),
                                           figure(score.raw->bits_per_symbol, 6)));
  }
  return out;
}

std::string per_sequence_text(const Rows& rows) {
  const SequenceSet& set = rows.set;
  const bool odds = !rows.background.empty();
  std::string out =
      fmt::format("{:>8}  {:>10}  {:>16}  {:>10}{}{}{}\n", "sequence", "symbols", "log-likelihood",
                  "da", odds ? fmt::format("  {:>14}", "log-odds") : "",
                  set.labelled() ? "  class" : "", set.named() ? "  name" : "");
  for (std::size_t i = 0; i < set.size(); ++i) {
    const SequenceLikelihood& one = rows.score.per_sequence[i];
    const auto da = description_accuracy(one.log_likelihood, one.scored, set.alphabet().size());
    out += fmt::format(
        "{:>8}  {:>10}  {:>16.6f}  {:>10}{}{}{}\n", i, one.scored, one.log_likelihood,
        figure(da, 6), odds ? fmt::format("  {:>14.6f}", *rows.log_odds(i)) : "",
        set.labelled() ? "  " + (has_class(set, i) ? in_a_line(set.classes()[set.label(i)]) : "–")
                       : "",
        set.named() ? "  " + in_a_line(set.name(i)) : "");
  }
  return out;
}

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Json background_json(const ScoreFlags& options, const Rows& rows) {
  const double theirs = total(rows.background);
  return {{"model", options.background},
          {"log_likelihood", number(theirs)},
          {"log_odds", number(rows.score.log_likelihood - theirs)}};
}

std::string background_text(const ScoreFlags& options, const Rows& rows) {
  const double theirs = total(rows.background);
  return fmt::format("{:<22}log-likelihood {:.6f} nats ({})\n{:<22}{:.6f} nats\n", "background",
                     theirs, options.background, "log-odds", rows.score.log_likelihood - theirs);
}

void run_score(const ScoreFlags& options) {
  Ranks* const others = ranks();
  if (others != nullptr && options.device.kind() != DeviceKind::kCpu)
    throw fail(ErrorCode::kUsage, "{} is for one process: several share the work on their CPUs",
               option("device", "cuda"));
  require_one_stdin({{options.model}, options.sequences});
  std::vector<NamedFile> inputs{{"MODEL", options.model}, {"--background", options.background}};
  add_named(inputs, "DATA", options.sequences);
  require_other_files({{"-o", options.common.out}}, inputs);
  require_device(options.device.kind());
  const ModelFile file = read_model(options.model);
  const Alphabet& alphabet = alphabet_of(file.model);
  ReadOptions read = options.data.resolve(&alphabet);
  read.memory = options.memory.bytes();
  const SequenceSet set = read_sequences(options.sequences, read);
  require_within(read.memory);
  if (others != nullptr && !others->leads()) {
    const ScoringRanks names;
    others->help({{names.task, likelihood_task(set, others->share(), options.common.threads)}});
    return;
  }
  const bool wants_rows = options.per_sequence || options.common.tsv || !options.background.empty();
  const auto gpu = open_device(options.device.kind(), options.memory.bytes());
  const Score result = score_on(
      file.model, set,
      {.burn_in = options.burn_in, .threads = options.common.threads, .per_sequence = wants_rows},
      gpu.get(), {others});
  warn_if_infeasible(file.model, options.model);
  warn_if_beyond(options.memory.bytes());
  if (result.sequences == 0) {
    throw fail(ErrorCode::kBadData, {shown(options.sequences), {}, {}, {}, {}},
               "no symbol is left to score: "
               "every sequence is missing or not longer than the burn-in of {}",
               options.burn_in);
  }
  if (result.first_impossible) {
    warn(fmt::format(
        "{} of {} sequences hold a symbol the model gives probability 0 (first: sequence {}, "
        "position {}): their log-likelihood is −∞",
        result.impossible, result.sequences, result.first_impossible->sequence,
        result.first_impossible->position));
  }
  Rows rows{set, result, {}};
  if (!options.background.empty()) {
    rows.background = background_log_likelihoods(options.background, set, options.burn_in,
                                                 options.common.threads);
  }
  Output output(readers_of(options.common), options.common.out);
  if (options.common.json) {
    Json json = score_json(result);
    if (!rows.background.empty()) json["background"] = background_json(options, rows);
    if (options.per_sequence) json["per_sequence"] = per_sequence_json(rows);
    output.write(dump(json));
  } else if (options.common.tsv) {
    output.write(tsv(per_sequence_cells(rows)));
  } else {
    output.write(score_text(options, file.model, result));
    if (!rows.background.empty()) output.write(background_text(options, rows));
    if (options.per_sequence) output.write("\n" + per_sequence_text(rows));
  }
  output.finish();
}

}  // namespace

void add_score(Command program) {
  auto options = std::make_shared<ScoreFlags>();
  Command command = program
                        .add_subcommand("score",
                                        "Compute the log-likelihood of data under a "
                                        "model")
                        .group("Use a model");
  command.add_option("MODEL", options->model, "Model file (.h5, .json, .mat)")
      .required()
      .type_name("");
  command.add_option("DATA", options->sequences, "Sequences, one or more files; '-' for stdin")
      .required()
      .type_name("");
  command
      .add_option("--burn-in", options->burn_in,
                  "Symbols at the start of each sequence that move the state but are not scored")
      .check(whole_number())
      .capture_default_str()
      .group("Scoring")
      .type_name("N");
  command
      .add_flag("--per-sequence", options->per_sequence,
                "One line (or JSON entry) per sequence as well")
      .group("Scoring");
  command
      .add_option(
          "--background", options->background,
          "Log-odds against this model file, 'uniform', or the 'frequencies' of DATA's symbols")
      .group("Scoring")
      .type_name("MODEL|uniform|frequencies");
  options->device.add_to(command, "Scoring");
  options->memory.add_to(command, "Scoring");
  options->data.add_to(command);
  add_common(command, options->common, "Write the result here instead of to stdout");
  add_tsv(command, options->common, "The scores of every sequence, separated by TABs");
  command.footer(
      R"(Description accuracy (DA) of a sequence is x = 1 + ℓ/(len·ln s) if that is above 0, and tanh(x/8) otherwise:
1 is perfect, 0 is as good as guessing uniformly; it is never below -1.
All figures are for the normalised model. If the model is not trace preserving, the un-normalised figures are
shown as well, marked raw. Log-likelihoods and log-odds are in nats. In a TSV `bits` are those of the whole sequence,
and NA stands for a figure that does not exist.

Examples:
  hqmm score data/true_model.h5 data/test.txt --burn-in 1000
  hqmm score gene.h5 a.fa b.fa --tsv --background frequencies)");
  command.callback([options] { run_score(*options); });
}

}  // namespace hqmm::cli

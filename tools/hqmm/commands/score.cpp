// hqmm score MODEL DATA: what a model's likelihood of a data set is.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "hqmm/core/error.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/score/score.hpp"
#include "hqmm/score/score_json.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {
namespace {

struct ScoreFlags {
  CommonOptions common;
  DataOptions data;
  std::string model;
  Paths sequences;
  std::size_t burn_in = 0;
  bool per_sequence = false;
};

/// Of files read together some may have classes and others not.
bool has_class(const SequenceSet& set, std::size_t i) {
  return set.labelled() && set.label(i) != SequenceSet::kNoLabel;
}

Json sequence_json(const SequenceSet& set, const Score& score, std::size_t i, bool infeasible) {
  const SequenceLikelihood& one = score.per_sequence[i];
  const std::size_t s = set.alphabet().size();
  Json out;
  out["index"] = i;
  if (set.named()) out["name"] = set.name(i);
  if (has_class(set, i)) out["class"] = set.classes()[set.label(i)];
  out["symbols"] = one.scored;
  out["log_likelihood"] = number(one.log_likelihood);
  out["da"] = number(description_accuracy(one.log_likelihood, one.scored, s));
  if (one.impossible_at) out["impossible_at"] = *one.impossible_at;
  if (infeasible) out["raw"] = {{"log_likelihood", number(one.raw_log_likelihood)}};
  return out;
}

Json per_sequence_json(const SequenceSet& set, const Score& score) {
  Json list = Json::array();
  for (std::size_t i = 0; i < set.size(); ++i) {
    list.push_back(sequence_json(set, score, i, score.raw.has_value()));
  }
  return list;
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

std::string per_sequence_text(const SequenceSet& set, const Score& score) {
  std::string out =
      fmt::format("{:>8}  {:>10}  {:>16}  {:>10}{}{}\n", "sequence", "symbols", "log-likelihood",
                  "da", set.labelled() ? "  class" : "", set.named() ? "  name" : "");
  for (std::size_t i = 0; i < set.size(); ++i) {
    const SequenceLikelihood& one = score.per_sequence[i];
    const auto da = description_accuracy(one.log_likelihood, one.scored, set.alphabet().size());
    out += fmt::format(
        "{:>8}  {:>10}  {:>16.6f}  {:>10}{}{}\n", i, one.scored, one.log_likelihood, figure(da, 6),
        set.labelled() ? "  " + (has_class(set, i) ? in_a_line(set.classes()[set.label(i)]) : "–")
                       : "",
        set.named() ? "  " + in_a_line(set.name(i)) : "");
  }
  return out;
}

void run_score(const ScoreFlags& options) {
  require_one_stdin({{options.model}, options.sequences});
  std::vector<NamedFile> inputs{{"MODEL", options.model}};
  add_named(inputs, "DATA", options.sequences);
  require_other_files({{"-o", options.common.out}}, inputs);
  const ModelFile file = read_model(options.model);
  const Alphabet& alphabet = alphabet_of(file.model);
  SequenceSet set = read_sequences(options.sequences, options.data.resolve(&alphabet));
  const Score result = score(file.model, set, options.burn_in, options.common.threads,
                             options.per_sequence ? Detail::kSequences : Detail::kSums);
  warn_if_infeasible(file.model, options.model);
  if (result.sequences == 0) {
    throw fail(ErrorCode::kBadData, {shown(options.sequences), {}, {}, {}, {}},
               "no symbol is left to score: every sequence is missing or not longer than the "
               "burn-in of {}",
               options.burn_in);
  }
  if (result.first_impossible) {
    warn(fmt::format(
        "{} of {} sequences hold a symbol the model gives probability 0 (first: sequence {}, "
        "position {}): their log-likelihood is −∞",
        result.impossible, result.sequences, result.first_impossible->sequence,
        result.first_impossible->position));
  }
  Output output(readers_of(options.common), options.common.out);
  if (options.common.json) {
    Json json = score_json(result);
    if (options.per_sequence) json["per_sequence"] = per_sequence_json(set, result);
    output.write(dump(json));
  } else {
    output.write(score_text(options, file.model, result));
    if (options.per_sequence) output.write("\n" + per_sequence_text(set, result));
  }
  output.finish();
}

}  // namespace

void add_score(Command program) {
  auto options = std::make_shared<ScoreFlags>();
  Command command =
      program.add_subcommand("score", "Log-likelihood of data under a model").group("Use a model");
  command.add_option("MODEL", options->model, "Model file (.h5, .json, .mat)")
      .required()
      .type_name("");
  command.add_option("DATA", options->sequences, "Sequences, one or more files; '-' for stdin")
      .required()
      .type_name("");
  command
      .add_option("--burn-in", options->burn_in,
                  "Symbols at the start of each sequence that move the state and are not scored")
      .check(whole_number())
      .capture_default_str()
      .group("Scoring")
      .type_name("N");
  command
      .add_flag("--per-sequence", options->per_sequence,
                "One line (or JSON entry) per sequence as well")
      .group("Scoring");
  options->data.add_to(command);
  add_common(command, options->common, "Write the result here instead of to stdout");
  command.footer(
      R"(Description accuracy (DA) of a sequence is x = 1 + ℓ/(len·ln s) where that is above 0, and tanh(x/8) below:
1 perfect, 0 as good as guessing uniformly, never under -1.
Every figure is of a normalised model. For one that is not trace preserving the un-normalised figures are
shown beside, marked raw.

Example: hqmm score data/true_model.h5 data/test.txt --burn-in 1000)");
  command.callback([options] { run_score(*options); });
}

}  // namespace hqmm::cli

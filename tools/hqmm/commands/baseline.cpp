// hqmm baseline TRAIN DATA: smoothed Markov chains, what likelihoods are compared with first.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/evaluate/chain_baseline.hpp"
#include "hqmm/io/sequences.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

struct BaselineFlags {
  CommonOptions common;
  DataOptions data;
  std::string train;
  Paths sequences;
  Paths validation;
  std::vector<std::size_t> orders{0, 1, 2, 3, 4, 5, 6, 7};
  double pseudo_count = 1.0;
  std::size_t burn_in = 0;
  bool per_sequence = false;
};

Cells chain_cells(const std::vector<ChainScore>& rows) {
  Cells out{{"order", "pseudo_count", "parameters", "bits_per_symbol"}};
  for (const ChainScore& row : rows) {
    out.push_back({std::to_string(row.order), exact(row.pseudo_count),
                   std::to_string(row.parameters), exact(row.bits)});
  }
  return out;
}

void run_baseline(const BaselineFlags& options) {
  require_one_stdin({{options.train}, options.sequences, options.validation});
  std::vector<NamedFile> inputs{{"TRAIN", options.train}};
  add_named(inputs, "DATA", options.sequences);
  add_named(inputs, "--validation", options.validation);
  require_other_files({{"-o", options.common.out}}, inputs);
  ReadOptions read = options.data.resolve();
  const SequenceSet train = read_sequences(options.train, read);
  read.alphabet = train.alphabet();
  const SequenceSet data = read_sequences(options.sequences, read);
  std::optional<SequenceSet> validation;
  if (!options.validation.empty()) validation = read_sequences(options.validation, read);
  const ChainOptions chains{options.orders, options.pseudo_count, options.burn_in,
                            options.common.threads};
  const std::vector<ChainScore> rows =
      chain_baseline(train, data, validation ? &*validation : nullptr, chains);
  Output output(readers_of(options.common), options.common.out);
  if (options.common.json) {
    output.write(dump(chains_json(rows, options.burn_in, options.per_sequence)));
  } else if (options.common.tsv) {
    output.write(tsv(chain_cells(rows)));
  } else {
    output.write(fmt::format("{:>5} {:>12} {:>12} {:>12}\n", "order", "pseudo count", "parameters",
                             "bits/symbol"));
    for (const ChainScore& row : rows) {
      output.write(fmt::format("{:>5} {:>12.5g} {:>12} {:>12.5f}\n", row.order, row.pseudo_count,
                               row.parameters, row.bits));
    }
  }
  output.finish();
}

}  // namespace

void add_baseline(Command program) {
  auto options = std::make_shared<BaselineFlags>();
  Command command =
      program.add_subcommand("baseline", "Score Markov chains, to compare models with them")
          .group("Use a model");
  command.add_option("TRAIN", options->train, "Sequences to count in").required().type_name("");
  command.add_option("DATA", options->sequences, "Sequences to score, one or more files")
      .required()
      .type_name("");
  command.add_option("--order", options->orders, "Symbols of context")
      .check(whole_number(0, 30))
      .delimiter(',')
      .one_word()
      .capture_default_str()
      .group("Chains")
      .type_name("K,…");
  command
      .add_option("--validation", options->validation,
                  "Sequences for choosing the pseudo count of every order; repeat it for more "
                  "files")
      .one_word()
      .group("Chains")
      .type_name("PATH");
  command
      .add_option("--pseudo-count", options->pseudo_count,
                  "Weight per symbol of the shorter context that a context is smoothed towards")
      .check(number_between(0.0, 1e6))
      .capture_default_str()
      .group("Chains")
      .type_name("X");
  command
      .add_option("--burn-in", options->burn_in,
                  "Symbols at the start of each sequence that serve as context and are not scored")
      .check(whole_number())
      .capture_default_str()
      .group("Chains")
      .type_name("N");
  command.add_flag("--per-sequence", options->per_sequence, "With --json: every sequence as well")
      .group("Chains");
  options->data.add_to(command);
  add_common(command, options->common, "Write the result here instead of to stdout");
  add_tsv(command, options->common, "The table, separated by TABs");
  command.footer(
      R"(A chain of order k predicts a symbol from the k symbols before it, smoothed towards the chain of order k − 1.
Parameters are counted for the contexts that occur in TRAIN. A missing symbol ends the context.

Examples:
  hqmm baseline train.txt test.txt --order 0,1,2,3
  hqmm baseline train.txt test.txt --validation validation.txt   # the smoothing chosen by validation)");
  command.callback([options] { run_baseline(*options); });
}

}  // namespace hqmm::cli

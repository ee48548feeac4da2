// hqmm baseline TRAIN DATA: smoothed Markov chains, what likelihoods are compared with first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hqmm/core/parallel.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/evaluate/context_chain.hpp"
#include "hqmm/io/json_number.hpp"
#include "hqmm/io/sequences.hpp"
#include "support/command.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {
namespace {

struct BaselineFlags {
  CommonOptions common;
  DataOptions data;
  std::string train;
  std::string sequences;
  std::string validation;
  std::vector<std::size_t> orders{0, 1, 2, 3, 4, 5, 6, 7};
  double pseudo_count = 1.0;
  std::size_t burn_in = 0;
  bool per_sequence = false;
};

struct ChainRow {
  std::size_t order = 0;
  double pseudo_count = 0.0;
  std::size_t parameters = 0;
  std::vector<double> log_likelihoods;  // by sequence
  std::vector<std::size_t> scored;
  double bits = 0.0;  // per symbol
};

ChainRow measure(const BaselineFlags& options, const ContextChain& chain, const SequenceSet& data,
                 std::size_t order, double pseudo_count) {
  ChainRow out;
  out.order = order;
  out.pseudo_count = pseudo_count;
  out.parameters = chain.parameters(order);
  out.log_likelihoods.resize(data.size());
  parallel_for(data.size(), options.common.threads, [&](std::size_t i) {
    out.log_likelihoods[i] = chain.log_likelihood(data[i], order, pseudo_count, options.burn_in);
  });
  double sum = 0.0;
  std::size_t symbols = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::size_t scored = 0;
    for (std::size_t t = options.burn_in; t < data[i].size(); ++t)
      if (data[i][t] != kMissing) ++scored;
    out.scored.push_back(scored);
    symbols += scored;
    sum += out.log_likelihoods[i];
  }
  out.bits = -sum / (std::numbers::ln2 * static_cast<double>(symbols));
  return out;
}

/// By validation among powers of two, or as given.
double choose_pseudo_count(const BaselineFlags& options, const ContextChain& chain,
                           const std::optional<SequenceSet>& validation, std::size_t order) {
  if (!validation) return options.pseudo_count;
  constexpr int kSmallest = -10, kLargest = 10;
  double best = options.pseudo_count;
  double fewest = std::numeric_limits<double>::infinity();
  for (int exponent = kSmallest; exponent <= kLargest; ++exponent) {
    const double candidate = std::ldexp(1.0, exponent);
    const double bits = measure(options, chain, *validation, order, candidate).bits;
    if (bits < fewest) {
      fewest = bits;
      best = candidate;
    }
  }
  return best;
}

Json chains_json(const BaselineFlags& options, const std::vector<ChainRow>& rows) {
  Json out;
  out["burn_in"] = options.burn_in;
  out["chains"] = Json::array();
  for (const ChainRow& row : rows) {
    Json one;
    one["order"] = row.order;
    one["pseudo_count"] = row.pseudo_count;
    one["parameters"] = row.parameters;
    one["bits_per_symbol"] = number(row.bits);
    for (std::size_t i = 0; options.per_sequence && i < row.scored.size(); ++i) {
      one["per_sequence"].push_back(
          {{"symbols", row.scored[i]}, {"log_likelihood", number(row.log_likelihoods[i])}});
    }
    out["chains"].push_back(std::move(one));
  }
  return out;
}

void run_baseline(const BaselineFlags& options) {
  require_other_files({{"-o", options.common.out}}, {{"TRAIN", options.train},
                                                     {"DATA", options.sequences},
                                                     {"--validation", options.validation}});
  ReadOptions read = options.data.resolve();
  const SequenceSet train = read_sequences(options.train, read);
  read.alphabet = train.alphabet();
  const SequenceSet data = read_sequences(options.sequences, read);
  std::optional<SequenceSet> validation;
  if (!options.validation.empty()) validation = read_sequences(options.validation, read);
  const ContextChain chain(train, *std::max_element(options.orders.begin(), options.orders.end()));
  std::vector<ChainRow> rows;
  for (const std::size_t order : options.orders) {
    const double pseudo_count = choose_pseudo_count(options, chain, validation, order);
    rows.push_back(measure(options, chain, data, order, pseudo_count));
  }
  Output output(readers_of(options.common), options.common.out);
  if (options.common.json) {
    output.write(dump(chains_json(options, rows)));
  } else {
    output.write(fmt::format("{:>5} {:>12} {:>12} {:>12}\n", "order", "pseudo count", "parameters",
                             "bits/symbol"));
    for (const ChainRow& row : rows) {
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
      program.add_subcommand("baseline", "Bits per symbol of Markov chains, to compare models with")
          .group("Use a model");
  command.add_option("TRAIN", options->train, "Sequences to count in").required().type_name("");
  command.add_option("DATA", options->sequences, "Sequences to score").required().type_name("");
  command.add_option("--order", options->orders, "Symbols of context")
      .check(whole_number(0, 30))
      .delimiter(',')
      .one_word()
      .capture_default_str()
      .group("Chains")
      .type_name("K,…");
  command
      .add_option("--validation", options->validation,
                  "Sequences to choose the pseudo count of every order by")
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
                  "Symbols at the start of each sequence that are context and not scored")
      .check(whole_number())
      .capture_default_str()
      .group("Chains")
      .type_name("N");
  command.add_flag("--per-sequence", options->per_sequence, "With --json: every sequence as well")
      .group("Chains");
  options->data.add_to(command);
  add_common(command, options->common, "Write the result here instead of to stdout");
  command.footer(
      R"(Chains of order k predict a symbol from the k before it, smoothed towards those of order k − 1. Parameters are
those of the contexts that occurred in TRAIN. A missing symbol ends the context.

Examples:
  hqmm baseline train.txt test.txt --order 0,1,2,3
  hqmm baseline train.txt test.txt --validation validation.txt   # the smoothing chosen by validation)");
  command.callback([options] { run_baseline(*options); });
}

}  // namespace hqmm::cli

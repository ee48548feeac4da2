// hqmm baseline TRAIN DATA: smoothed Markov chains, what likelihoods are compared with first.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "command.hpp"
#include "hqmm/evaluate/context_chain.hpp"

namespace hqmm::cli {
namespace {

struct Options {
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

struct Row {
  std::size_t order = 0;
  double pseudo_count = 0.0;
  std::size_t parameters = 0;
  std::vector<double> log_likelihoods;  // by sequence
  std::vector<std::size_t> scored;
  double bits = 0.0;  // per symbol
};

Row measure(const Options& options, const ContextChain& chain, const SequenceSet& data,
            std::size_t order, double pseudo_count) {
  Row out;
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
double choose_pseudo_count(const Options& options, const ContextChain& chain,
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

Json to_json(const Options& options, const std::vector<Row>& rows) {
  Json out;
  out["burn_in"] = options.burn_in;
  out["chains"] = Json::array();
  for (const Row& row : rows) {
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

void run(const Options& options) {
  ReadOptions read = options.data.resolve();
  const SequenceSet train = read_sequences(options.train, read);
  read.alphabet = train.alphabet();
  const SequenceSet data = read_sequences(options.sequences, read);
  std::optional<SequenceSet> validation;
  if (!options.validation.empty()) validation = read_sequences(options.validation, read);
  const ContextChain chain(train, *std::max_element(options.orders.begin(), options.orders.end()));
  std::vector<Row> rows;
  for (const std::size_t order : options.orders) {
    const double pseudo_count = choose_pseudo_count(options, chain, validation, order);
    rows.push_back(measure(options, chain, data, order, pseudo_count));
  }
  Output output(options.common.out);
  if (options.common.json) {
    output.write(dump(to_json(options, rows)));
  } else {
    output.write(fmt::format("{:>5} {:>12} {:>12} {:>12}\n", "order", "pseudo count", "parameters",
                             "bits/symbol"));
    for (const Row& row : rows) {
      output.write(fmt::format("{:>5} {:>12.5g} {:>12} {:>12.5f}\n", row.order, row.pseudo_count,
                               row.parameters, row.bits));
    }
  }
  output.finish();
}

}  // namespace

void add_baseline(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("baseline", "Bits per symbol of Markov chains, to compare models with")
          ->group("Use a model");
  command->add_option("TRAIN", options->train, "Sequences to count in")->required()->type_name("");
  command->add_option("DATA", options->sequences, "Sequences to score")->required()->type_name("");
  command->add_option("--order", options->orders, "Symbols of context")
      ->check(whole_number(0, 30))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->group("Chains")
      ->type_name("K,…");
  command
      ->add_option("--validation", options->validation,
                   "Sequences to choose the pseudo count of every order by")
      ->group("Chains")
      ->type_name("PATH");
  command
      ->add_option("--pseudo-count", options->pseudo_count,
                   "Weight per symbol of the shorter context that a context is smoothed towards")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str()
      ->group("Chains")
      ->type_name("X");
  command
      ->add_option("--burn-in", options->burn_in,
                   "Symbols at the start of each sequence that are context and not scored")
      ->check(whole_number())
      ->capture_default_str()
      ->group("Chains")
      ->type_name("N");
  command->add_flag("--per-sequence", options->per_sequence, "With --json: every sequence as well")
      ->group("Chains");
  options->data.add_to(*command);
  add_common(*command, options->common, "Write the result here instead of to stdout");
  command->footer(
      R"(Chains of order k predict a symbol from the k before it, smoothed towards those of order k − 1. Parameters are
those of the contexts that occurred in TRAIN. A missing symbol ends the context.

Examples:
  hqmm baseline train.txt test.txt --order 0,1,2,3
  hqmm baseline train.txt test.txt --validation validation.txt   # the smoothing chosen by validation)");
  command->callback([options] { run(*options); });
}

}  // namespace hqmm::cli

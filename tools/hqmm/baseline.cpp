// hqmm baseline TRAIN DATA: smoothed Markov chains, what likelihoods are compared with first.
#include <numbers>

#include "command.hpp"

namespace hqmm::cli {
namespace {

struct Options {
  CommonOptions common;
  DataOptions data;
  std::string train;
  std::string sequences;
  std::vector<std::size_t> orders{0, 1, 2, 3, 4, 5, 6, 7};
  double pseudo_count = 1.0;
  std::size_t burn_in = 0;
  bool per_sequence = false;
};

struct Row {
  std::size_t order = 0;
  std::size_t parameters = 0;
  std::vector<double> log_likelihoods;  // by sequence
  std::vector<std::size_t> scored;
  double bits = 0.0;  // per symbol
};

Row measure(const Options& options, const SequenceSet& train, const SequenceSet& data,
            std::size_t order) {
  BaselineOptions chain;
  chain.kind = BaselineOptions::Kind::kMarkovChain;
  chain.order = order;
  chain.pseudo_count = options.pseudo_count;
  std::vector<std::uint32_t> rows(train.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
  const FrequencyModel model(train, rows, chain);
  if (model.order() < order) {
    throw fail(ErrorCode::kUsage, "a chain of order {} over {} symbols is too large: at most {}",
               order, train.alphabet().size(), model.order());
  }
  Row out;
  out.order = order;
  out.parameters = train.alphabet().size() - 1;
  for (std::size_t k = 0; k < order; ++k) out.parameters *= train.alphabet().size();
  out.log_likelihoods.resize(data.size());
  parallel_for(data.size(), options.common.threads, [&](std::size_t i) {
    out.log_likelihoods[i] = model.log_likelihood(data[i], options.burn_in);
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

Json to_json(const Options& options, const std::vector<Row>& rows) {
  Json out;
  out["pseudo_count"] = options.pseudo_count;
  out["burn_in"] = options.burn_in;
  out["chains"] = Json::array();
  for (const Row& row : rows) {
    Json one;
    one["order"] = row.order;
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
  std::vector<Row> rows;
  for (const std::size_t order : options.orders)
    rows.push_back(measure(options, train, data, order));
  Output output(options.common.out);
  if (options.common.json) {
    output.write(dump(to_json(options, rows)));
  } else {
    output.write(fmt::format("{:>5} {:>12} {:>12}\n", "order", "parameters", "bits/symbol"));
    for (const Row& row : rows)
      output.write(fmt::format("{:>5} {:>12} {:>12.5f}\n", row.order, row.parameters, row.bits));
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
  command->footer("Example: hqmm baseline train.txt test.txt --order 0,1,2,3");
  command->callback([options] { run(*options); });
}

}  // namespace hqmm::cli

// hqmm predict MODEL [DATA]: the next symbol's distribution after every prefix, as a stream.
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/io/text.hpp"
#include "hqmm/model/any_model.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"
#include "support/text_table.hpp"

namespace hqmm::cli {
namespace {

struct PredictFlags {
  CommonOptions common;
  DataOptions data;
  std::string model;
  Paths sequences{"-"};
  std::size_t steps = 1;
};

/// Writes one line, or one element of a JSON array, per symbol.
template <typename Filter>
class Predictor {
 public:
  Predictor(Filter filter, const PredictFlags& options, const Alphabet& alphabet)
      : filter_(std::move(filter)),
        options_(options),
        output_(Readers::kPrograms, options.common.out),
        distribution_(alphabet.size()) {
    if (options_.common.json) {
      require_utf8(alphabet.all_tokens(), "leave --json out");
      output_.write(fmt::format("{{\"alphabet\": {}, \"steps\": {}, \"predictions\": [",
                                dump_line(alphabet.all_tokens()), options_.steps));
    }
    if (options_.common.tsv) {
      tokens_ = alphabet.all_tokens();
      std::vector<std::string> head{"name", "position", "symbol"};
      for (const std::string& token : tokens_) head.push_back("P(" + token + ")");
      output_.write(tsv_row(head));
    }
  }

  /// A sequence begins; without a name it goes by its number.
  void begin(std::size_t length, const std::string& name = {}) {
    filter_.restart(length);
    sequence_ = name.empty() ? std::to_string(begun_) : name;
    ++begun_;
    position_ = 0;
  }

  void take(Symbol symbol) {
    if (filter_.step(symbol).raw <= 0.0 && !warned_) {
      warned_ = true;
      warn(fmt::format("symbol {} has probability 0 under the model; it is taken as missing",
                       count_));
    }
    predict_ahead(filter_, options_.steps, distribution_);
    line_.clear();
    if (options_.common.tsv) return take_row(symbol);
    const bool json = options_.common.json;
    if (json) line_ += count_ == 0 ? "\n[" : ",\n[";
    for (std::size_t y = 0; y < distribution_.size(); ++y) {
      if (y > 0) line_ += json ? ", " : " ";
      fmt::format_to(std::back_inserter(line_), "{}", distribution_[y]);
    }
    line_ += json ? "]" : "\n";
    output_.write(line_);
    ++count_;
  }

  void flush() { output_.flush(); }

  void finish() {
    if (options_.common.json) output_.write("\n]}\n");
    output_.finish();
  }

 private:
  void take_row(Symbol symbol) {
    std::vector<std::string> row{sequence_, std::to_string(position_++),
                                 symbol == kMissing ? "NA" : tokens_[symbol]};
    for (const double p : distribution_) row.push_back(exact(p));
    output_.write(tsv_row(row));
    ++count_;
  }

  Filter filter_;
  const PredictFlags& options_;
  Output output_;
  std::vector<double> distribution_;
  std::string line_;
  std::uint64_t count_ = 0;
  std::vector<std::string> tokens_;
  std::string sequence_;
  std::uint64_t begun_ = 0, position_ = 0;  // sequences, and symbols of this one
  bool warned_ = false;
};

/// Text from stdin, answered symbol by symbol as it arrives.
template <typename Filter>
void follow(Predictor<Filter>& predictor, const ReadOptions& read) {
  ByteSource source("-", read.max_ratio);
  TextDecoder decoder("-", read.alphabet, read.ambiguous);
  std::vector<char> buffer(64 * 1024);
  const auto on_symbol = [&](Symbol symbol) { predictor.take(symbol); };
  const auto on_end = [&] { predictor.begin(kUnknownLength); };
  predictor.begin(kUnknownLength);
  try {
    while (const std::size_t size = source.read(buffer)) {
      decoder.feed(std::string_view(buffer.data(), size), on_symbol, on_end);
      predictor.flush();
    }
    decoder.finish(on_symbol, on_end);
  } catch (const Error&) {
    predictor.flush();  // what came before the bad symbol stands
    throw;
  }
}

void run_predict(const PredictFlags& options) {
  require_one_stdin({{options.model}, options.sequences});
  std::vector<NamedFile> inputs{{"MODEL", options.model}};
  add_named(inputs, "DATA", options.sequences);
  require_other_files({{"-o", options.common.out}}, inputs);
  const ModelFile file = read_model(options.model);
  const Alphabet& alphabet = alphabet_of(file.model);
  const ReadOptions read = options.data.resolve(&alphabet);
  warn_if_infeasible(file.model, options.model);
  const bool stream = options.sequences == Paths{"-"} &&
                      (!options.data.format_given() || read.format == Format::kText);
  std::visit(
      [&](const auto& model) {
        Predictor predictor(make_filter(model), options, alphabet);
        if (stream) {
          follow(predictor, read);
        } else {
          const SequenceSet set = read_sequences(options.sequences, read);
          for (std::size_t i = 0; i < set.size(); ++i) {
            predictor.begin(set[i].size(), set.named() ? set.name(i) : std::string());
            for (std::size_t t = 0; t < set[i].size(); ++t) predictor.take(set[i][t]);
          }
        }
        predictor.finish();
      },
      file.model);
}

}  // namespace

void add_predict(Command program) {
  auto options = std::make_shared<PredictFlags>();
  Command command =
      program.add_subcommand("predict", "Distribution of the next symbol after every prefix")
          .group("Use a model");
  command.add_option("MODEL", options->model, "Model file").required().type_name("");
  command
      .add_option("DATA", options->sequences,
                  "Sequences, one or more files; '-' (the default) follows stdin live")
      .type_name("");
  command.add_option("--steps", options->steps, "Predict the symbol this many steps ahead")
      .check(whole_number(1, 1000000))
      .capture_default_str()
      .group("Prediction")
      .type_name("K");
  options->data.add_to(command);
  add_common(command, options->common, "Write the result here instead of to stdout");
  add_tsv(command, options->common,
          "TABs between, with a head, and the sequence, position and symbol of every line");
  command.footer(
      R"(One output line per input symbol, in the order of the alphabet, written as soon as the symbol is complete
(the blank or newline after it has arrived). A newline ends a sequence and starts the model afresh. stdin is
read as text unless --format says otherwise.

Example: printf '0 2 2 ' | hqmm predict model.h5)");
  command.callback([options] { run_predict(*options); });
}

}  // namespace hqmm::cli

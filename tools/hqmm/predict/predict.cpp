// hqmm predict MODEL [DATA]: symbol by symbol what comes next, or how surprising what came was, as
// a stream.
#include "predict/predict.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/byte_source.hpp"
#include "hqmm/io/detect.hpp"
#include "hqmm/io/input.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/read_input.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "predict/live.hpp"
#include "predict/predictor.hpp"
#include "support/command.hpp"
#include "support/model_text.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {
namespace {

template <typename Filter>
void predict_live(Predictor<Filter>& predictor, const PredictFlags& options,
                  const ReadOptions& read) {
  const std::string& path = options.sequences.front();
  LiveInput input(path);
  TextStream stream(predictor, options, read, path);
  std::vector<char> buffer(64 * 1024);
  while (const std::size_t size = input.read(buffer)) {
    if (input.began_again()) {
      narrate(options.common, fmt::format("{} is read from its start again", path));
      stream.start_over();
    }
    stream.feed({buffer.data(), size});
  }
  if (!input.stopped()) {
    stream.finish();
    return;
  }
  predictor.end();
  predictor.report().finish();
  throw fail(ErrorCode::kInterrupted, "interrupted after {} symbols", predictor.report().symbols());
}

template <typename Filter>
void predict_stdin(Predictor<Filter>& predictor, const PredictFlags& options,
                   const ReadOptions& read) {
  ByteSource source("-", read.max_ratio);
  TextStream stream(predictor, options, read, "-");
  std::vector<char> buffer(64 * 1024);
  while (const std::size_t size = source.read(buffer)) stream.feed({buffer.data(), size});
  stream.finish();
}

template <typename Filter>
void predict_set(Predictor<Filter>& predictor, const SequenceSet& set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    predictor.begin(set[i].size(), set.named() ? set.name(i) : "");
    for (std::size_t t = 0; t < set[i].size(); ++t) predictor.take(set[i][t]);
    predictor.end();
  }
}

/// Text is streamed: what is asked of it here, a set of sequences does not keep.
template <typename Filter>
void predict_file(Predictor<Filter>& predictor, const PredictFlags& options,
                  const ReadOptions& read, const std::string& path) {
  Input input(path, read.max_ratio);
  const Format format = read.format == Format::kAuto ? detect_format(input, read) : read.format;
  if (format == Format::kText) {
    TextStream stream(predictor, options, read, path);
    for (auto block = input.next_block(); !block.empty(); block = input.next_block())
      stream.feed(block);
    stream.finish();
    return;
  }
  if (options.join_lines)
    throw fail(ErrorCode::kUsage, Where{.file = path}, "--join-lines is for text, but this is {}",
               name_of(format));
  predict_set(predictor, read_input(input, read));
}

template <typename Filter>
void predict_files(Predictor<Filter>& predictor, const PredictFlags& options,
                   const ReadOptions& read) {
  if (!options.of_surprise() && !options.join_lines) {
    predict_set(predictor, read_sequences(options.sequences, read));
    return;
  }
  for (const std::string& path : options.sequences) predict_file(predictor, options, read, path);
}

void require_flags_that_fit(const PredictFlags& options, bool text) {
  if (options.of_surprise() && options.steps != 1)
    throw fail(ErrorCode::kUsage,
               "--steps looks ahead, --alarm and --window look back: they cannot be combined");
  if (options.common.tsv && options.of_surprise())
    throw fail(ErrorCode::kUsage, "--tsv cannot be combined with --alarm or --window");
  if (!options.follow) return;
  if (!text) throw fail(ErrorCode::kUsage, "--follow reads text only: leave out --format");
  if (options.sequences.size() != 1)
    throw fail(ErrorCode::kUsage, "--follow takes one file, not {}", options.sequences.size());
  if (!options.common.out.empty())
    throw fail(ErrorCode::kUsage,
               "-o writes its file at the end, "
               "which --follow never reaches: redirect stdout instead");
}

void run_predict(const PredictFlags& options) {
  require_one_stdin({{options.model}, options.sequences});
  std::vector<NamedFile> inputs{{"MODEL", options.model}};
  add_named(inputs, "DATA", options.sequences);
  require_other_files({{"-o", options.common.out}}, inputs);
  const ModelFile file = read_model(options.model);
  const Alphabet& alphabet = alphabet_of(file.model);
  const ReadOptions read = options.data.resolve(&alphabet);
  const bool text = !options.data.format_given() || read.format == Format::kText;
  require_flags_that_fit(options, text);
  warn_if_infeasible(file.model, options.model);
  std::visit(
      [&](const auto& model) {
        Predictor predictor(make_filter(model), options, alphabet);
        if (options.follow) {
          predict_live(predictor, options, read);
        } else if (options.sequences == Paths{"-"} && text) {
          predict_stdin(predictor, options, read);
        } else {
          predict_files(predictor, options, read);
        }
        predictor.report().finish();
      },
      file.model);
}

void add_surprise_flags(Command command, PredictFlags& options) {
  command
      .add_option("--window", options.window,
                  "Write the mean surprise of the last N symbols in bits (-log2 of their "
                  "probabilities) instead of what comes next; 'nan' until there are N (20 for "
                  "--alarm)")
      .check(whole_number(1, 1000000))
      .group("Surprise")
      .type_name("N");
  command
      .add_option("--alarm", options.alarm,
                  "Write only alarms: where the mean surprise exceeds this many bits")
      .check(positive_number())
      .group("Surprise")
      .type_name("BITS");
}

}  // namespace

void add_predict(Command program) {
  auto options = std::make_shared<PredictFlags>();
  Command command =
      program
          .add_subcommand("predict",
                          "Predict the next symbol after every prefix, or measure its "
                          "surprise")
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
  add_surprise_flags(command, *options);
  options->data.add_to(command);
  command
      .add_flag("--follow", options->follow,
                "At the end of DATA wait for more, until Ctrl-C (as tail -F does)")
      .group("Reading data");
  command
      .add_flag("--join-lines", options->join_lines,
                "Text: a newline separates symbols instead of ending the sequence, as in a log "
                "with an event on each line")
      .group("Reading data");
  add_common(command, options->common, "Write the result here instead of to stdout");
  add_tsv(command, options->common,
          "A table with TABs and a header line, "
          "with the sequence, position and symbol of every line");
  command.footer(
      R"(There is one output line per input symbol, with the probabilities in the order of the alphabet. It is written as soon
as the blank or newline after the symbol has arrived. A newline ends a sequence and resets the model. stdin is
read as text unless --format says otherwise. If sequences have names (FASTA), a line '# NAME' precedes each.

With --alarm BITS there is a line when the mean surprise rises above the threshold and one when it has fallen below
again, with fields separated by tabs:
  alarm  SEQUENCE  POSITION  mean bits   the symbol there
  over   SEQUENCE  POSITION  worst mean  the symbol there
SEQUENCE is a name or a number; numbers and positions count from 0. Windows do not reach across sequences; a sequence
shorter than the window is judged by its overall mean. In text a symbol that the model does not know is not an error:
it is infinitely surprising. 'hqmm score' on ordinary data says what to expect; docs/online.md shows how to choose BITS.

Examples:
  printf '0 2 2 ' | hqmm predict model.h5
  hqmm predict model.h5 events.log --follow --join-lines --alarm 3)");
  command.callback([options] { run_predict(*options); });
}

}  // namespace hqmm::cli

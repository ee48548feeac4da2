// hqmm sample MODEL: sequences drawn from a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "hqmm/core/types.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/sample.hpp"
#include "support/command.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"

namespace hqmm::cli {
namespace {

struct SampleFlags {
  CommonOptions common;
  std::string model;
  std::size_t count = 10;
  std::size_t length = 300;
};

void run_sample(const SampleFlags& options) {
  const ModelFile file = read_model(options.model);
  warn_if_infeasible(file.model, options.model);
  const Alphabet& alphabet = alphabet_of(file.model);
  Output output(options.common.out);
  SampleOptions batch;
  batch.length = options.length;
  batch.seed = options.common.seed;
  batch.threads = options.common.threads;
  if (options.common.json) {
    require_utf8(alphabet.all_tokens(), "leave --json out");
    output.write(fmt::format("{{\"alphabet\": {}, \"seed\": {}, \"sequences\": [",
                             Json(alphabet.all_tokens()).dump(), options.common.seed));
  }
  // A few million symbols at a time: memory does not grow with the count.
  const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{1} << 22) / options.length);
  for (std::size_t done = 0; done < options.count; done += batch.count) {
    batch.first_index = done;
    batch.count = std::min(at_once, options.count - done);
    const SequenceSet set = sample(file.model, batch);
    if (!options.common.json) {
      output.write(to_text(set));
      continue;
    }
    for (std::size_t i = 0; i < set.size(); ++i) {
      Json tokens = Json::array();
      for (const Symbol symbol : set[i].to_vector()) tokens.push_back(alphabet.token(symbol));
      output.write((done + i == 0 ? "\n" : ",\n") + tokens.dump());
    }
  }
  if (options.common.json) output.write("\n]}\n");
  output.finish();
}

}  // namespace

void add_sample(Command program) {
  auto options = std::make_shared<SampleFlags>();
  Command command =
      program.add_subcommand("sample", "Draw sequences from a model").group("Use a model");
  command.add_option("MODEL", options->model, "Model file").required().type_name("");
  command.add_option("--count", options->count, "Number of sequences")
      .check(whole_number(1))
      .capture_default_str()
      .group("Sampling")
      .type_name("N");
  command.add_option("--length", options->length, "Symbols in each")
      .check(whole_number(1))
      .capture_default_str()
      .group("Sampling")
      .type_name("N");
  add_common(command, options->common, "Write the sequences here instead of to stdout");
  command.footer("Example: hqmm sample model.h5 --count 3 --length 50 --seed 7");
  command.callback([options] { run_sample(*options); });
}

}  // namespace hqmm::cli

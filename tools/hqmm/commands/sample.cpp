// hqmm sample MODEL: sequences drawn from a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/sample.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {
namespace {

struct SampleFlags {
  CommonOptions common;
  std::string model;
  std::size_t count = 10;
  std::size_t length = 300;
  std::string format;  // empty: by the ending of -o
};

bool wants_fasta(const SampleFlags& options) {
  const bool fasta =
      options.format.empty() ? is_fasta_path(options.common.out) : options.format == "fasta";
  if (fasta && options.common.json)
    throw fail(ErrorCode::kUsage, "--json and FASTA: give one of them");
  return fasta;
}

void run_sample(const SampleFlags& options) {
  require_other_files({{"-o", options.common.out}}, {{"MODEL", options.model}});
  const ModelFile file = read_model(options.model);
  warn_if_infeasible(file.model, options.model);
  const Alphabet& alphabet = alphabet_of(file.model);
  const bool fasta = wants_fasta(options);
  if (fasta)
    (void)to_fasta(SequenceSet(alphabet));  // says what it cannot hold before the file is begun
  Output output(Readers::kPrograms, options.common.out);
  SampleOptions batch;
  batch.length = options.length;
  batch.seed = options.common.seed;
  batch.threads = options.common.threads;
  if (options.common.json) {
    require_utf8(alphabet.all_tokens(), "leave --json out");
    output.write(fmt::format("{{\"alphabet\": {}, \"seed\": {}, \"sequences\": [",
                             dump_line(alphabet.all_tokens()), options.common.seed));
  }
  // A few million symbols at a time: memory does not grow with the count.
  const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{1} << 22) / options.length);
  for (std::size_t done = 0; done < options.count; done += batch.count) {
    batch.first_index = done;
    batch.count = std::min(at_once, options.count - done);
    const SequenceSet set = sample(file.model, batch);
    if (!options.common.json) {
      output.write(fasta ? to_fasta(set, done + 1) : to_text(set));
      continue;
    }
    for (std::size_t i = 0; i < set.size(); ++i) {
      Json tokens = Json::array();
      for (const Symbol symbol : set[i].to_vector()) tokens.push_back(alphabet.token(symbol));
      output.write((done + i == 0 ? "\n" : ",\n") + dump_line(tokens));
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
  command
      .add_option("--format", options->format,
                  "text or fasta; by default from the ending of -o: .fa, .fasta, .fna and .faa "
                  "are FASTA")
      .check(one_of({"text", "fasta"}))
      .group("Output")
      .type_name("text|fasta");
  add_common(command, options->common, "Write the sequences here instead of to stdout");
  command.footer(R"(Examples:
  hqmm sample model.h5 --count 3 --length 50 --seed 7
  hqmm sample dna.h5 --count 100 -o made.fa)");
  command.callback([options] { run_sample(*options); });
}

}  // namespace hqmm::cli

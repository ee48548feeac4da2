// hqmm convert IN OUT: between file formats, from HMM to HQMM, from structured to plain models.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/model_convert.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/model/any_model.hpp"
#include "support/command.hpp"
#include "support/data_files.hpp"
#include "support/model_text.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {
namespace {

struct ConvertFlags {
  CommonOptions common;
  DataOptions data;
  std::string in;
  std::string out;
  std::string embed;
  std::string emission = "edge";
  std::string field = "complex";
  bool expand = false;
};

void convert_sequences(const ConvertFlags& options) {
  const SequenceSet set = read_sequences(options.in, options.data.resolve());
  write_file(options.out, is_fasta_path(options.out) ? to_fasta(set) : to_text(set));
  narrate(options.common,
          fmt::format("{} sequences, {} symbols ({}) → {}", set.size(), set.symbol_count(),
                      set.alphabet().description(), options.out));
}

void embed(const ConvertFlags& options, ModelFile& file) {
  const Field field = options.field == "real" ? Field::kReal : Field::kComplex;
  try {
    embed_file(file, {options.embed == "cyclic", parse<EmissionKind>(options.emission), field});
  } catch (const Error& error) {
    throw error.at(Where{.file = options.in});
  }
}

void require_model_flags_unused(const ConvertFlags& options) {
  if (!options.embed.empty())
    throw fail(ErrorCode::kUsage, "--embed makes a model: name OUT .h5, .json or .mat");
  if (options.expand)
    throw fail(ErrorCode::kUsage, "--expand makes a model: name OUT .h5, .json or .mat");
}

void run_convert(const ConvertFlags& options) {
  const auto ends = [&](std::string_view suffix) { return options.out.ends_with(suffix); };
  require_other_files({{"OUT", options.out}}, {{"IN", options.in}});
  if (options.embed.empty() && (options.emission != "edge" || options.field != "complex"))
    throw fail(ErrorCode::kUsage, "--emission and --field say how to --embed an HMM");
  if (ends(".txt") || ends(".tsv") || is_fasta_path(options.out)) {
    require_model_flags_unused(options);
    convert_sequences(options);
    return;
  }
  if (!ends(".h5") && !ends(".hdf5") && !ends(".json") && !ends(".mat")) {
    throw fail(ErrorCode::kUsage,
               "'{}' does not say what to write: end OUT in .h5, "
               ".json or .mat for a model, .txt or .fa for sequences",
               options.out);
  }
  ModelFile file = read_model(options.in);
  if (!options.embed.empty()) embed(options, file);
  if (options.expand) expand_file(file);
  warn_if_infeasible(file.model, options.in);
  write_model(options.out, file);
  narrate(options.common, fmt::format("{} → {}", describe(file.model), options.out));
}

}  // namespace

void add_convert(Command program) {
  auto options = std::make_shared<ConvertFlags>();
  Command command = program
                        .add_subcommand("convert",
                                        "Convert between HDF5, JSON and MATLAB, or from HMM to "
                                        "HQMM")
                        .group("Files");
  command.add_option("IN", options->in, "Model or sequence file").required().type_name("");
  command
      .add_option("OUT", options->out,
                  "Ends in .h5, .json or .mat (model), or .txt or .fa (sequences)")
      .required()
      .type_name("");
  command
      .add_option(
          "--embed", options->embed,
          "Turn an HMM into an HQMM with exactly the same probabilities: rank-one operators, or "
          "cyclic "
          "ones (full rank, a better start for training)")
      .check(one_of({"rank-one", "cyclic"}))
      .group("Structure")
      .type_name("rank-one|cyclic");
  command
      .add_option("--emission", options->emission,
                  "Where the embedding emits: on edges, or on states as the HMM does")
      .check(one_of({"edge", "state"}))
      .group("Structure")
      .type_name("edge|state");
  command.add_option("--field", options->field, "Numbers of the embedding")
      .check(one_of({"complex", "real"}))
      .group("Structure")
      .type_name("complex|real");
  command
      .add_flag("--expand", options->expand,
                "Write a real HQMM, or one that emits on its states, as plain complex Kraus "
                "operators, which every version of hqmm reads")
      .group("Structure");
  options->data.add_to(command);
  command.add_flag("--quiet", options->common.quiet, "No narration on stderr").group("Output");
  command.footer(R"(Examples:
  hqmm convert model.h5 model.json
  hqmm convert hmm.h5 hqmm.h5 --embed rank-one
  hqmm convert structured.h5 plain.h5 --expand
  hqmm convert data.mat train.txt --variable data.trn_data
  hqmm convert splice.data splice.fa)");
  command.callback([options] { run_convert(*options); });
}

}  // namespace hqmm::cli

// hqmm convert IN OUT: between file formats, and from HMM to HQMM.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "hqmm/core/error.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/embedding.hpp"
#include "support/command.hpp"
#include "support/model_text.hpp"

namespace hqmm::cli {
namespace {

struct ConvertFlags {
  CommonOptions common;
  DataOptions data;
  std::string in;
  std::string out;
  std::string embed;
};

void convert_sequences(const ConvertFlags& options) {
  const SequenceSet set = read_sequences(options.in, options.data.resolve());
  write_file(options.out, to_text(set));
  narrate(options.common,
          fmt::format("{} sequences, {} symbols ({}) → {}", set.size(), set.symbol_count(),
                      set.alphabet().description(), options.out));
}

Hqmm embedded(const ConvertFlags& options, const AnyModel& model) {
  const auto embed = [&](const auto& hmm) {
    return options.embed == "cyclic" ? embed_cyclic(hmm) : embed_rank_one(hmm);
  };
  if (const auto* hmm = std::get_if<Hmm>(&model)) return embed(*hmm);
  if (const auto* hmm = std::get_if<EdgeHmm>(&model)) return embed(*hmm);
  throw fail(ErrorCode::kUsage, "--embed takes an HMM; {} is an HQMM already", options.in);
}

void run_convert(const ConvertFlags& options) {
  const auto ends = [&](std::string_view suffix) { return options.out.ends_with(suffix); };
  if (ends(".txt") || ends(".tsv")) {
    if (!options.embed.empty())
      throw fail(ErrorCode::kUsage, "--embed makes a model: name OUT .h5, .json or .mat");
    convert_sequences(options);
    return;
  }
  if (!ends(".h5") && !ends(".hdf5") && !ends(".json") && !ends(".mat")) {
    throw fail(ErrorCode::kUsage,
               "'{}' does not say what to write: end OUT in .h5, .json or .mat for a model, .txt "
               "for sequences",
               options.out);
  }
  ModelFile file = read_model(options.in);
  if (!options.embed.empty()) {
    file.model = embedded(options, file.model);
    auto provenance = parse_json(file.provenance);
    if (!provenance.is_object()) provenance = nlohmann::json::object();
    provenance["embedded_from_hmm"] = options.embed;
    file.provenance = json_text(provenance);
  }
  warn_if_infeasible(file.model, options.in);
  write_model(options.out, file);
  narrate(options.common, fmt::format("{} → {}", describe(file.model), options.out));
}

}  // namespace

void add_convert(Command program) {
  auto options = std::make_shared<ConvertFlags>();
  Command command =
      program.add_subcommand("convert", "Between HDF5, JSON and MATLAB; from HMM to HQMM")
          .group("Files");
  command.add_option("IN", options->in, "Model or sequence file").required().type_name("");
  command.add_option("OUT", options->out, "Ends in .h5, .json or .mat (model) or .txt (sequences)")
      .required()
      .type_name("");
  command
      .add_option(
          "--embed", options->embed,
          "Turn an HMM into the HQMM with exactly its probabilities: rank-one operators, or cyclic "
          "ones (full rank, a better start for training)")
      .check(one_of({"rank-one", "cyclic"}))
      .group("Embedding")
      .type_name("rank-one|cyclic");
  options->data.add_to(command);
  command.add_flag("--quiet", options->common.quiet, "No narration on stderr").group("Output");
  command.footer(R"(Examples:
  hqmm convert model.h5 model.json
  hqmm convert hmm.h5 hqmm.h5 --embed rank-one
  hqmm convert data.mat train.txt --variable data.trn_data)");
  command.callback([options] { run_convert(*options); });
}

}  // namespace hqmm::cli

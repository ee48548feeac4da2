// hqmm generate: the paper's two benchmark data sets, with the models that make them.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "hqmm/core/error.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/command.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"

namespace hqmm::cli {
namespace {

struct GenerateFlags {
  CommonOptions common;
  std::string which;
};

void run_generate(const GenerateFlags& options) {
  const AnyModel source =
      options.which == "synthetic-hmm" ? AnyModel(synthetic_hmm()) : AnyModel(synthetic_hqmm());
  const std::filesystem::path folder = options.common.out;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw fail(ErrorCode::kCannotWrite, {folder.string(), {}, {}, {}, {}},
               "the folder cannot be made: {}", failure.message());
  }
  const Benchmark benchmark =
      generate_benchmark(source, options.common.seed, options.common.threads);
  const nlohmann::json provenance = {{"command", "generate " + options.which},
                                     {"seed", options.common.seed},
                                     {"version", HQMM_VERSION}};
  const ModelFile truth{source, json_text(provenance)};
  Json report;
  report["benchmark"] = options.which;
  report["seed"] = options.common.seed;
  const auto put = [&](const char* name, const SequenceSet& set) {
    const std::string path = (folder / (std::string(name) + ".txt")).string();
    write_file(path, to_text(set));
    report[name] = {{"path", path}, {"sequences", set.size()}, {"symbols", set.symbol_count()}};
  };
  put("train", benchmark.train);
  put("validation", benchmark.validation);
  put("test", benchmark.test);
  for (const char* name : {"true_model.h5", "true_model.json"})
    write_model((folder / name).string(), truth);
  report["true_model"] = (folder / "true_model.h5").string();

  if (options.common.json) {
    Output output(Readers::kPrograms);
    output.write(dump(report));
    output.finish();
  }
  narrate(
      options.common,
      fmt::format(
          "{}: train.txt (20 × 3000), validation.txt and test.txt (10 × 3000 each), true_model.h5 "
          "and .json ({}) → {}",
          options.which, describe(source), folder.string()));
}

}  // namespace

void add_generate(Command program) {
  auto options = std::make_shared<GenerateFlags>();
  Command command =
      program.add_subcommand("generate", "The paper's synthetic benchmarks and their true models")
          .group("Data");
  command
      .add_option("BENCHMARK", options->which,
                  "synthetic-hmm (6 states, 6 symbols) or synthetic-hqmm (n = 2)")
      .required()
      .check(one_of({"synthetic-hmm", "synthetic-hqmm"}))
      .type_name("");
  add_common(command, options->common, "Folder to write to; made when missing");
  command.option("--out").required();
  command.footer("Example: hqmm generate synthetic-hmm -o data/hmm --seed 1");
  command.callback([options] { run_generate(*options); });
}

}  // namespace hqmm::cli

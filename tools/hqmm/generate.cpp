// hqmm generate: the paper's two benchmark data sets, with the models that make them.
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "command.hpp"

namespace hqmm::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string which;
};

void run(const Options& options) {
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
  const ModelFile truth{source,
                        {{"command", "generate " + options.which},
                         {"seed", options.common.seed},
                         {"version", HQMM_VERSION}}};
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
    Output output;
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

void add_generate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("generate", "The paper's synthetic benchmarks and their true models")
          ->group("Data");
  command
      ->add_option("BENCHMARK", options->which,
                   "synthetic-hmm (6 states, 6 symbols) or synthetic-hqmm (n = 2)")
      ->required()
      ->check(one_of({"synthetic-hmm", "synthetic-hqmm"}))
      ->type_name("");
  add_common(*command, options->common, "Folder to write to; made when missing");
  command->get_option("--out")->required();
  command->footer("Example: hqmm generate synthetic-hmm -o data/hmm --seed 1");
  command->callback([options] { run(*options); });
}

}  // namespace hqmm::cli

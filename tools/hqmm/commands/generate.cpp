// hqmm generate: data of processes with a known truth, the paper's two among them, with the models
// that make them.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/json_text.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/channel.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/model/zoo.hpp"
#include "hqmm/version.hpp"
#include "support/command.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"

namespace hqmm::cli {
namespace {

struct GenerateFlags {
  CommonOptions common;
  std::string which;
};

struct KnownEntropy {
  double bits = 0.0;
  std::optional<double> standard_error;  // of an estimate
};

KnownEntropy entropy_of(const Process& process, const AnyModel& model,
                        const GenerateFlags& options) {
  if (const auto exact = process.exact_entropy()) return {*exact, {}};
  const EntropyOptions how{0, options.common.seed, options.common.threads};
  const EntropyRate found = std::visit([&](const auto& m) { return entropy_rate(m, how); }, model);
  return {found.nats / std::numbers::ln2, found.standard_error / std::numbers::ln2};
}

Json entropy_json(const KnownEntropy& entropy) {
  Json out{{"bits", entropy.bits}, {"exact", !entropy.standard_error.has_value()}};
  if (entropy.standard_error) out["standard_error_bits"] = *entropy.standard_error;
  return out;
}

std::string entropy_text(const KnownEntropy& entropy) {
  if (!entropy.standard_error) return fmt::format("{:.6f} bits per symbol, exactly", entropy.bits);
  return fmt::format("{:.5f} ± {:.5f} bits per symbol, estimated", entropy.bits,
                     *entropy.standard_error);
}

void run_generate(const GenerateFlags& options) {
  const Process* process = find_process(options.which);
  if (process == nullptr)  // the parser knows the names
    throw fail(ErrorCode::kInternal, "there is no process {}", options.which);
  const AnyModel source = process->model();
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
  const KnownEntropy entropy = entropy_of(*process, source, options);
  report["entropy_rate"] = entropy_json(entropy);

  if (options.common.json) {
    Output output(Readers::kPrograms);
    output.write(dump(report));
    output.finish();
  }
  narrate(options.common,
          fmt::format("{}: train.txt (20 × 3000), validation.txt and test.txt (10 × 3000 each), "
                      "true_model.h5 and .json ({}) → {}",
                      options.which, describe(source), folder.string()));
  narrate(options.common, "entropy rate " + entropy_text(entropy));
}

std::vector<std::string> names_of_processes() {
  std::vector<std::string> out;
  for (const Process& process : processes()) out.emplace_back(process.name);
  return out;
}

std::string table_of_processes() {
  std::string out = "Processes:\n";
  for (const Process& process : processes())
    out += fmt::format("  {:<20}{}\n", process.name, process.summary);
  return out;
}

}  // namespace

void add_generate(Command program) {
  auto options = std::make_shared<GenerateFlags>();
  Command command = program
                        .add_subcommand("generate",
                                        "Generate sequences of known processes, with their true "
                                        "models")
                        .group("Data");
  command.add_option("PROCESS", options->which, "One of the processes below")
      .required()
      .check(one_of(names_of_processes()))
      .type_name("");
  add_common(command, options->common, "Folder to write to; created if it does not exist");
  command.option("--out").required();
  command.footer(table_of_processes() +
                 R"(
Each writes train.txt, validation.txt, test.txt and its exact model, and prints its entropy rate: the fewest bits per
symbol that any model can reach. docs/zoo.md describes the processes.
Examples:
  hqmm generate synthetic-hmm -o data/hmm --seed 1
  hqmm generate golden-mean -o data/golden)");
  command.callback([options] { run_generate(*options); });
}

}  // namespace hqmm::cli
